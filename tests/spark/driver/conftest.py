"""The fixtures that the tests of the driver share: a namespace of their own, and runs that fail at a
point.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel import kill_points
from flareiac_spark_runtime.driver.spark_session import new_session
from tests.facts.lake import Home


@pytest.fixture
def surroundings(application: Any, home: Home, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The arguments of a ``Workshop``: a session of the module's application, the catalog with a new
    namespace, and a folder. Queries that run afterwards are stopped.
    """
    catalog = home.catalog()
    namespace = tmp_path.name.lower()
    catalog.create_namespace(namespace)
    try:
        yield {
            "spark": new_session(application),
            "catalog": catalog,
            "namespace": namespace,
            "folder": tmp_path,
        }
    finally:
        for query in application.streams.active:
            with suppress(Exception):
                query.stop()
        catalog.close()


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Has the next run fail at a point, at its n-th time."""

    def at(point: str, times: int) -> None:
        monkeypatch.setattr(kill_points, "_FAIL", frozenset({(point, times)}))
        kill_points._reached.clear()

    return at
