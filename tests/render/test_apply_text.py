"""The text that a person reads while an apply runs, and when it has ended."""

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.elapsed import elapsed_text
from flareiac.model.desired import OutputValue
from flareiac.model.events import Completed, Event, Failed, Note, Progressed, Skipped, Started
from flareiac.model.plan import Operation, Verb
from flareiac.render.apply_text import EndedOperations, apply_summary, cancelled_text, event_line, stale_text
from flareiac.sdk.changes import Action, Effect, Step
from tests.render.plans import plan, resource


def operation(verb: Verb, address: str = "job.a") -> Operation:
    return Operation(id=f"{verb.value}:{address}", address=address, verb=verb)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Started(operation=operation(Verb.CREATE)), "job.a: Creating..."),
        (Started(operation=operation(Verb.UPDATE)), "job.a: Modifying..."),
        (Started(operation=operation(Verb.DELETE)), "job.a: Destroying..."),
        (Started(operation=operation(Verb.QUIESCE)), "job.a: Stopping..."),
        (Started(operation=operation(Verb.RECORD)), None),
        (
            Progressed(operation=operation(Verb.CREATE), message="waiting for the first batch", elapsed=10.7),
            "job.a: Still creating... [10s elapsed] waiting for the first batch",
        ),
        (
            Progressed(operation=operation(Verb.QUIESCE), message="", elapsed=65),
            "job.a: Still stopping... [1m05s elapsed]",
        ),
        (Completed(operation=operation(Verb.CREATE), elapsed=2.9), "job.a: Creation complete after 2s"),
        (
            Completed(operation=operation(Verb.UPDATE), elapsed=2.9, messages=("run 1f2e",)),
            "job.a: Modifications complete after 2s\n  run 1f2e",
        ),
        (
            Completed(operation=operation(Verb.DELETE), elapsed=0, resumed=True),
            "job.a: Destruction was completed by the interrupted apply",
        ),
        (Completed(operation=operation(Verb.RECORD), elapsed=0), None),
        (
            Failed(
                operation=operation(Verb.CREATE), elapsed=3, diagnostics=(error(Code("TOY001", "No room")),)
            ),
            "job.a: Creation errored after 3s: No room",
        ),
        (
            Skipped(operation=operation(Verb.CREATE), reason="table.b did not succeed"),
            "job.a: Skipped (create): table.b did not succeed",
        ),
        (Note(message="Settled 1 operation"), "Settled 1 operation"),
    ],
)
def test_each_event_has_its_line(event: Event, line: str | None) -> None:
    assert event_line(event, colour=False) == line


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.9, "0s"), (59.9, "59s"), (60, "1m00s"), (3599, "59m59s"), (3660, "1h01m")]
)
def test_elapsed_time_reads_as_a_clock(seconds: float, text: str) -> None:
    assert elapsed_text(seconds) == text


def test_a_complete_apply_counts_resources_and_shows_outputs() -> None:
    restart = (Step(text="restart", effect=Effect.RESTART),)
    made = plan(
        resource("table.a", Action.CREATE, planned={}),
        resource("job.b", Action.UPDATE, steps=restart),
        resource("job.c", Action.REPLACE),
        resource("job.d", Action.RECORD),
    )
    done = {item.id for item in made.operations}
    outputs = {"where": OutputValue(value="here"), "secret": OutputValue(value=None, sensitive=True)}
    assert apply_summary(made, EndedOperations(done=done), outputs=outputs) == (
        "\nApply complete! Resources: 2 added, 1 changed, 1 destroyed. Restarted: 1.\n"
        '\nOutputs:\n\nsecret = (sensitive value)\nwhere = "here"\n'
    )


def test_an_incomplete_apply_counts_operations() -> None:
    made = plan(resource("table.a", Action.CREATE, planned={}), resource("job.b", Action.CREATE, planned={}))
    text = apply_summary(made, EndedOperations(done={"create:table.a"}, failed={"create:job.b"}))
    assert text.startswith("\nApply incomplete: 1 done, 1 failed, 0 skipped.")


def test_what_was_cancelled_is_not_counted_as_failed() -> None:
    made = plan(resource("table.a", Action.CREATE, planned={}), resource("job.b", Action.CREATE, planned={}))
    text = apply_summary(made, EndedOperations(done={"create:table.a"}, unconfirmed={"create:job.b"}))
    assert text.startswith("\nApply incomplete: 1 done, 0 failed, 1 cancelled, not confirmed, 0 skipped.")


def test_destroy_has_its_own_word() -> None:
    made = plan(resource("table.a", Action.FORGET), destroy=True)
    line = "\nDestroy complete! Resources: 0 added, 0 changed, 0 destroyed. Forgotten: 1.\n"
    assert apply_summary(made, EndedOperations(done={"forget:table.a"})) == line


def test_a_stale_plan_names_what_moved() -> None:
    text = stale_text([("table.a", "schema id", "3", "4")])
    assert text.startswith("Error: The plan is stale")
    assert "  table.a: schema id\n    when planned: 3\n    now:          4\n" in text


def test_what_a_cancel_left_unconfirmed_is_one_line() -> None:
    started, stopped = Code("TOY001", "The start is not confirmed"), Code("TOY002", "The job did not stop")

    def asked(name: str, code: Code = started) -> Diagnostic:
        return error(code, address=name, cancelled=True)

    left = "flareiac plan shows what is left."
    assert cancelled_text([error(started, address="job.a")]) == ""
    assert cancelled_text([asked("job.a")]) == f"Cancelled. The start is not confirmed: job.a. {left}"
    assert cancelled_text([asked('job.a["eu"]'), asked("job.b"), asked("job.c", stopped)]) == (
        f'Cancelled. The start is not confirmed: job.a["eu"], job.b. The job did not stop: job.c. {left}'
    )
