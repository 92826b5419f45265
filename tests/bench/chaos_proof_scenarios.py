"""The jobs of the chaos whose edits are texts that the comparison takes for the same: Spark proves them or
refutes them, and commands and drivers are killed between the proof, the record and the start.
"""

from collections.abc import Callable
from typing import Final

from tests.bench.chaos_plan import Blow, Cards, Command, Strike
from tests.bench.chaos_scenarios import (
    APPLY,
    COMPARED,
    EVERY_ROW,
    SELECT,
    SINK,
    Change,
    Edits,
    Scenario,
    closed_windows,
    declared_files,
    declared_job,
    declared_output,
    declared_plain_table,
    declared_windows,
    named_points,
    one_target,
)

_PROVING: Final = ("analysis.held", "analysis.done", *APPLY)
_STARTING: Final = (*_PROVING, "start.before", "start.after")
PROOF_CARDS: Final = Cards(
    blows=(
        Blow(strike=Strike.JVM, amid=Command.APPLY),
        Blow(strike=Strike.DRIVER, amid=Command.APPLY),
        None,
        Blow(strike=Strike.END),
        Blow(strike=Strike.DRIVER),
        None,
    ),
    first=0,
    edits=True,
    applies=(2, 3),
    apart=4,
    by_hand=0.1,
    maintenance=(None,),
)
"""Mostly kills of commands."""


def _reworded(edits: Edits) -> str:
    """Each edit is another text of the same plan; nothing restarts."""
    sql = f"{SELECT} AS e{edits[Change.TEXT]}"
    job = declared_job("reworded", "reworded", {"rows": sql}, [declared_output("reworded")])
    return "\n".join([declared_plain_table("reworded"), declared_files("reworded"), job])


def _reworded_state(edits: Edits) -> str:
    """Edits as those of ``_reworded``, over state."""
    return declared_windows("reworded_state", f"FROM events AS e{edits[Change.TEXT]}")


def _restarted_state(edits: Edits) -> str:
    """Another text of the same plan, and a trigger for which the job starts on its state."""
    times = edits[Change.TEXT]
    return declared_windows("restarted_state", f"FROM events AS e{times}", trigger=f"{1000 - times % 2}ms")


def _turned(edits: Edits) -> str:
    """Every other edit turns the operands of a condition, which is refuted; the ones between change it."""
    times = edits[Change.REFUTED]
    parts = [f"id >= {-(times // 2)}", "n IS NOT NULL"]
    sql = f"{SELECT} WHERE {' AND '.join(reversed(parts) if times % 2 else parts)}"
    job = declared_job("turned", "turned", {"rows": sql}, [declared_output("turned")])
    return "\n".join([declared_plain_table("turned"), declared_files("turned"), job])


def _scenario(
    declared: Callable[[Edits], str], change: str, apply_points: tuple[str, ...], *, state: bool = False
) -> Scenario:
    """It is called as the function that declares it. ``state``: it sums over windows, else it copies rows."""
    name = declared.__name__.removeprefix("_")
    sums = one_target(name, closed_windows, ("since", "city", "events", "total"))
    return Scenario(
        name=name,
        declared=declared,
        targets=sums if state else one_target(name, EVERY_ROW, COMPARED),
        points=named_points(SINK, name),
        change=change,
        apply_points=apply_points,
    )


PROOF_SCENARIOS: Final = (
    _scenario(_reworded, Change.TEXT, _PROVING),
    _scenario(_reworded_state, Change.TEXT, _PROVING, state=True),
    _scenario(_restarted_state, Change.TEXT, _STARTING, state=True),
    _scenario(_turned, Change.REFUTED, _STARTING),
)
