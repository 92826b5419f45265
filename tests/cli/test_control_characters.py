"""Nothing that a project, a state or a foreign system names can steer the terminal."""

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.cli.terminal import Terminal
from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import error
from flareiac.model.desired import OutputValue
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport
from flareiac.model.events import Note
from flareiac.model.plan import OutputChange
from flareiac.render.apply_text import event_line, stale_text
from flareiac.render.control_characters import visible
from flareiac.render.diagnostics import text as diagnostics_text
from flareiac.render.drift import drift_text
from flareiac.render.output_text import outputs_text
from flareiac.render.plan_text import plan_text
from flareiac.render.style import Style, Tone
from flareiac.sdk.changes import Action, Effect, Step
from flareiac.sdk.results import Trace, Writer
from tests.render.plans import plan, resource

HOSTILE = "a\x1b[31mb\x07\x9b2J\rc\x00\u202e"
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
OWN = re.compile(r"\x1b\[(0|1|2|31|32|33|1;31)m")


def everything(*, colour: bool) -> list[str]:
    value = OutputValue(value={HOSTILE: [HOSTILE]})
    step = Step(text=HOSTILE, effect=Effect.STARTS, why=HOSTILE)
    made = plan(
        resource("table.x", Action.CREATE, planned={"name": HOSTILE, HOSTILE: 1}, steps=(step,)),
        resource(
            "table.y", Action.UPDATE, planned={"name": HOSTILE}, recorded={"name": "n"}, drift=(HOSTILE,)
        ),
        outputs={
            HOSTILE: OutputChange(before=None, after=value),
            "gone": OutputChange(before=value, after=None),
        },
    )
    drifted = DriftReport(
        findings=(
            DriftFinding(
                address=HOSTILE,
                kind=DriftClass.CHANGED,
                text=HOSTILE,
                path=(HOSTILE,),
                old=HOSTILE,
                live=HOSTILE,
                fingerprint="f",
                trace=Trace(by=Writer(program=HOSTILE, version=HOSTILE, user=HOSTILE, application=HOSTILE)),
            ),
        ),
        addresses=("a.b",),
    )
    return [
        plan_text(made, colour=colour, width=100),
        plan_text(made, colour=colour, width=100, detail="full", show_steps=True),
        drift_text(drifted, colour=colour),
        outputs_text({HOSTILE: value}),
        stale_text([(HOSTILE, HOSTILE, HOSTILE, HOSTILE)]),
        event_line(Note(message=HOSTILE), colour) or "",
        diagnostics_text([error(Code("X", HOSTILE), HOSTILE, address=HOSTILE)], {}, width=100, colour=colour),
    ]


def test_no_renderer_lets_a_name_steer() -> None:
    for text in everything(colour=False):
        assert STEERING.findall(text) == [], text


def test_with_colour_only_our_own_escapes_are_left() -> None:
    for text in everything(colour=True):
        assert STEERING.findall(OWN.sub("", text)) == [], text


@given(st.text(alphabet="a\x1b[3;1mJK\x9b\r\x00\n\t\x7f\u202e"))
def test_the_gate_lets_through_no_more_than_colours(text: str) -> None:
    assert STEERING.findall(OWN.sub("", visible(text))) == []


def test_the_gate_leaves_colours_and_lines() -> None:
    painted = Style(colour=True).paint("x\ny\tz", Tone.BLOCKED)
    assert visible(painted) == painted


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_whatever_is_said_passes_the_gate(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, name, stream)
    terminal = Terminal()
    (terminal.out if name == "stdout" else terminal.say)(f"Left out: {HOSTILE}")
    # A file and a pipe get no colours, so that a colour in a name is somebody else's
    assert STEERING.findall(stream.getvalue()) == []


def test_json_holds_no_control_character(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    Terminal().out_json({"name": f"{HOSTILE}\x7f"})
    assert STEERING.findall(stream.getvalue()) == []


def test_no_colour_on_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Terminal().colour(stream_is_terminal=True)
    monkeypatch.setenv("TERM", "dumb")
    assert not Terminal().colour(stream_is_terminal=True)
