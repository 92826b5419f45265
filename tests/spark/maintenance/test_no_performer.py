"""Work that is not carried out: no installed package can, or another state has taken the table over."""

import logging
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.table_tasks import Performed, Work
from flareiac_spark.engine.application import Applications
from flareiac_spark.maintenance import perform
from flareiac_spark.maintenance.errors import not_done
from flareiac_spark_runtime.control import Maintain
from flareiac_spark_runtime.driver.maintenance import TableLocks, maintain
from flareiac_spark_runtime.driver.refusal import Refusal

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


@pytest.mark.parametrize(
    ("manager", "lineage", "is_done"),
    [("other", "own", False), ("own", "own", True), (None, "own", True), ("other", "", True)],
)
def test_a_table_that_another_state_took_over_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, manager: str | None, lineage: str, is_done: bool
) -> None:
    done: list[Any] = []

    def perform_task(table: Any, _task: object) -> Performed:
        done.append(table)
        return Performed(result={}, found=False)

    performer = SimpleNamespace(task_of=lambda work: work, perform=perform_task, commits=True)
    properties = {} if manager is None else {"flareiac.managed-by": manager}
    loaded = SimpleNamespace(properties=lambda: properties)
    monkeypatch.setattr("flareiac_spark_runtime.driver.maintenance._performer", lambda _work: performer)
    monkeypatch.setattr("flareiac_spark_runtime.driver.tables.load", lambda *_names: loaded)
    asked = Maintain(key="k1", identifier=("c", "n", "t"), uuid="u", task=WORK, lineage=lineage)
    arguments = (lambda: None, asked, TableLocks(), lambda _seconds: None, logging.getLogger("tests"))
    if is_done:
        maintain(*arguments)
    else:
        with pytest.raises(Refusal, match="The state other has taken over the table") as refused:
            maintain(*arguments)
        assert refused.value.error_class == "TABLE_TAKEN_OVER"
    assert len(done) == int(is_done)


@pytest.mark.parametrize(
    ("why", "code"),
    [
        ("IllegalArgumentException: Cannot use options [max-sise], they are not supported", "FIK116"),
        ("IllegalArgumentException: Cannot sort an unsorted table", "FIK116"),
        ("IllegalArgumentException: 'min-input-files' is set to 0 but must be > 0", "FIK116"),
        ("IllegalArgumentException: Invalid UUID string: a", "FIK122"),
        ("IllegalArgumentException: Wrong class, java.lang.String, for object: java.util.UUID", "FIK122"),
    ],
)
def test_only_an_argument_that_names_a_setting_is_blamed_on_the_settings(
    request_: PerformRequest, why: str, code: str
) -> None:
    assert not_done(request_, why).code == code
