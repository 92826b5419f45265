"""The figures of a standalone cluster, as the web page of its master has them."""

import json

import pytest

from flareiac_spark_runtime.driver.executor_shortage import Figures, OtherApplication, Worker
from flareiac_spark_runtime.driver.master_answer import figures
from tests.support.strange_server import Strange, strange_server

PAGE = {
    "url": "spark://m:7077",
    "workers": [{"id": "w-1", "state": "ALIVE", "cores": 4, "coresfree": 1, "memoryfree": 512}],
    "activeapps": [
        {"id": "app-1", "name": "ours", "cores": 1, "user": "x"},
        {"id": "app-2", "name": "theirs", "cores": 2, "user": "y"},
    ],
}


def asked(server: Strange) -> Figures | None:
    return figures("127.0.0.1", int(server.uri.rpartition(":")[2]), "app-1")


def test_the_page_of_a_master_is_read_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with strange_server(lambda _: (200, json.dumps(PAGE).encode())) as server:
        assert asked(server) == Figures(
            workers=(Worker(state="ALIVE", cores_free=1, memory_free=512),),
            others=(OtherApplication(name="theirs", cores=2),),
            granted=1,
        )
        assert [request.path for request in server.asked] == ["/json/"]


@pytest.mark.parametrize("answer", [(200, b"<html>"), (200, b'{"workers": 1}'), (503, b""), (302, b"/login")])
def test_a_page_that_is_none_leaves_the_figures_open(answer: tuple[int, bytes]) -> None:
    with strange_server(lambda _: answer) as server:
        assert asked(server) is None
    assert figures("127.0.0.1", 1, "app-1") is None
