"""A project on each kind of catalog for every test that asks for one, and the servers behind them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.catalog_kinds import KINDS, KindLake, Servers, kind_lake


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    made = Servers(tmp_path_factory.mktemp("servers"))
    yield made
    made.close()


@pytest.fixture(
    params=[pytest.param(kind, marks=[pytest.mark.jvm] if kind == "rest" else []) for kind in KINDS]
)
def lake(request: pytest.FixtureRequest, tmp_path: Path, servers: Servers) -> Iterator[KindLake]:
    with kind_lake(request.param, tmp_path, servers, request) as made:
        yield made
