"""Work that no installed package carries out: the command does not ask, and an application refuses."""

import logging
import threading
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.table_tasks import Work
from flareiac_spark.control import Maintain
from flareiac_spark.driver.maintenance import TableLocks, maintain
from flareiac_spark.driver.refusal import Refusal
from flareiac_spark.engine.application import Applications
from flareiac_spark.maintenance import perform
from flareiac_spark.maintenance.errors import not_done

WORK = Work(data={"coats": 2, "kind": "polish_files"})


@pytest.fixture
def request_() -> PerformRequest:
    return PerformRequest(
        key="k1",
        subject=Resolved(address="table.t", type="table", attributes={}),
        performer=Resolved(address="engine.local", type="engine", attributes={}),
        work=WORK,
        references={},
        cancel=threading.Event(),
        progress=lambda _text: None,
    )


def test_the_command_asks_no_application(request_: PerformRequest, tmp_path: Path) -> None:
    with pytest.raises(Failure) as failed:
        perform(request_, Applications(Project(root=tmp_path, lineage="l")))
    (diagnostic,) = failed.value.diagnostics
    assert diagnostic.code == "FIK193"
    assert '"polish_files"' in diagnostic.detail
    assert "Install the package" in diagnostic.detail
    assert list(tmp_path.iterdir()) == []


def test_an_application_without_it_refuses_before_it_opens_a_session(request_: PerformRequest) -> None:
    asked = Maintain(key="k1", identifier=("c", "n", "t"), uuid="u", task=WORK)
    with pytest.raises(Refusal, match="polish_files") as failed:
        maintain(
            lambda: pytest.fail("a session was opened"),
            asked,
            TableLocks(),
            lambda _seconds: None,
            logging.getLogger("tests"),
        )
    diagnostic = not_done(request_, f"{failed.value.error_class}: {failed.value}")
    assert diagnostic.code == "FIK193"
    assert "Install the package" in diagnostic.detail
