"""Operations in progress, as they are drawn."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from flareiac.model.plan import Operation, Verb
from flareiac.render.progress import ProgressView, Running


def drawn(view: ProgressView, *, width: int = 80, height: int = 24) -> list[str]:
    stream = io.StringIO()
    Console(
        file=stream, width=width, height=height, color_system=None, force_terminal=True, legacy_windows=False
    ).print(view)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def running(name: str, since: float, step: str = "", *, task: str = "") -> Running:
    verb = Verb.MAINTAIN if task else Verb.UPDATE
    operation = Operation(id=f"update:{name}", address=name, verb=verb, task=task)
    return Running(operation=operation, since=since, step=step)


def view(*items: Running, ended: int = 3, total: int = 9, now: float = 100.0) -> ProgressView:
    return ProgressView(running=items, ended=ended, total=total, since=0.0, now=now)


def test_the_longest_in_progress_comes_first_with_its_step() -> None:
    lines = drawn(view(running("table.b", 98.0), running("job.a", 25.0, "starting the query")))
    assert [line[2:] for line in lines[:-1]] == [
        "job.a: Modifying   1m15s starting the query",
        "table.b: Modifying    2s",
    ]
    assert lines[-1] == "3 of 9 changes done, 2 in progress, 1m40s"


def test_maintenance_names_its_kind() -> None:
    assert (
        "table.a (compaction): Maintaining 1s" in drawn(view(running("table.a", 99.0, task="compaction")))[0]
    )


@pytest.mark.parametrize("width", [20, 40, 60])
def test_no_line_is_longer_than_the_terminal_is_wide(width: int) -> None:
    lines = drawn(
        view(running("job.with_a_long_name", 1.0, "waiting for the first batch of the query " * 3)),
        width=width,
    )
    assert len(lines) == 2
    assert max(map(len, lines)) <= width


def test_what_does_not_fit_is_counted() -> None:
    lines = drawn(view(*(running(f"table.t{number}", float(number)) for number in range(30))), height=10)
    assert len(lines) == 8
    assert "table.t0: Modifying" in lines[0]
    assert lines[-1] == "3 of 9 changes done, 30 in progress (23 of them not shown), 1m40s"


def test_a_step_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in "".join(drawn(view(running("job.a", 1.0, "\x1b[2Jgone"))))


def test_what_holds_up_the_first_operation_is_named() -> None:
    waiting = view(ended=0, total=3, now=12.0)
    assert drawn(replace(waiting, note="Starting Spark..."))[-1] == "0 of 3 changes done, starting Spark, 12s"
