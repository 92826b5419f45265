"""Spark's own Ivy against a Maven repository on this machine's loopback."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.fetch_client import NotFetched
from flareiac_spark.runtime.ivy import fetch_with_ivy
from flareiac_spark.runtime.java import require_java

pytestmark = pytest.mark.jvm
_JAR = Coordinate("org.example", "thing_2.13", "1.0-rc1")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "org" / "example" / "thing_2.13" / "1.0-rc1"
    folder.mkdir(parents=True)
    jar = folder / "thing_2.13-1.0-rc1.jar"
    jar.write_bytes(b"jar" * 1000)
    jar.with_name(jar.name + ".sha1").write_text(
        hashlib.sha1(jar.read_bytes(), usedforsecurity=False).hexdigest()
    )
    return folder


@pytest.fixture
def environment(tmp_path: Path, repository: Path) -> Iterator[dict[str, str]]:
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path / "served"))
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_address[1]}"
            yield {
                "DEFAULT_ARTIFACT_REPOSITORY": address,
                "SPARK_SUBMIT_OPTS": f"-Duser.home={tmp_path}/home",
            }
        finally:
            server.shutdown()
            thread.join()


def _fetch(coordinate: Coordinate, into: Path, environment: dict[str, str]) -> NotFetched | None:
    into.mkdir()
    return fetch_with_ivy([coordinate], into, require_java(), environment)


def test_fetches_from_the_mirror_that_spark_was_told(tmp_path: Path, environment: dict[str, str]) -> None:
    assert _fetch(_JAR, tmp_path / "into", environment) is None
    assert (tmp_path / "into" / "org.example" / "thing_2.13-1.0-rc1.jar").read_bytes() == b"jar" * 1000


def test_says_what_was_not_found(tmp_path: Path, environment: dict[str, str]) -> None:
    answer = _fetch(Coordinate("org.example", "absent", "1"), tmp_path / "into", environment)
    assert answer is not None
    server = environment["DEFAULT_ARTIFACT_REPOSITORY"].removeprefix("http://")
    assert answer.why == f"No repository ({server}) has org.example:absent:1, or it refuses access."


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:9", "The repository at 127.0.0.1:9 cannot be reached (Connection refused)."),
        ("nowhere", "The address of a repository is not a URL."),
        ("http://user:hidden@127.0.0.1:9", "The repository at 127.0.0.1:9 cannot be reached"),
    ],
)
def test_says_why_a_repository_does_not_answer(
    tmp_path: Path, environment: dict[str, str], address: str, why: str
) -> None:
    answer = _fetch(_JAR, tmp_path / "into", environment | {"DEFAULT_ARTIFACT_REPOSITORY": address})
    assert answer is not None
    assert answer.why.startswith(why)
    assert "hidden" not in answer.why + answer.advice


def test_a_file_whose_checksum_is_wrong_is_not_taken(
    tmp_path: Path, repository: Path, environment: dict[str, str]
) -> None:
    (repository / "thing_2.13-1.0-rc1.jar.sha1").write_text("0" * 40)
    answer = _fetch(_JAR, tmp_path / "into", environment)
    assert answer is not None
    assert answer.why == "The sha1 of a jar is not the one that the repository names for it."
