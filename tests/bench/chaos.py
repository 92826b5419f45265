"""``python -m tests.bench chaos [--kills 200] [--seed S]``: whatever is killed, and wherever, every row is
there once in the end.

Command lines, drivers, JVMs and single attempts of jobs are killed at named points, by the decisions of a
seed, while files land and jobs are changed. After each the next apply must converge, and all tables must
equal a computation in plain Python over the files.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.chaos_plan import Chaos
from tests.bench.chaos_run import Course
from tests.bench.chaos_scenarios import SCENARIOS, Scenario
from tests.bench.figure import Figure, remark


def chaos(
    directory: Path, kills: int, seed: int, *, scenarios: Sequence[Scenario] = SCENARIOS, mild: bool = False
) -> Iterator[Figure]:
    """Figures of each scenario: rows that differ. ``mild`` kills no driver. Raises ``RuntimeError`` if
    anything is not right.
    """
    remark(f"chaos with seed {seed}: the same again with --seed {seed}")
    course = Course(directory, Chaos(seed, scenarios, mild=mild), seed, scenarios)
    try:
        course.run(kills)
    finally:
        _tell(course)
    for name, tally in course.ledger.tallies.items():
        detail = {
            "kills": tally.kills.total(),
            "points": len(tally.kills),
            "expected": tally.expected,
            "found": tally.found,
        }
        yield Figure(
            name=f"chaos, {name}: rows that differ",
            value=tally.differing,
            unit="rows",
            bar=0.0,
            detail=detail,
        )
    differing = sum(tally.differing for tally in course.ledger.tallies.values())
    sums = {
        **course.ledger.detail(),
        "files": len(course.landing.files),
        "rows landed": course.landing.rows,
        "seed": seed,
    }
    yield Figure(name="chaos, all: rows that differ", value=differing, unit="rows", bar=0.0, detail=sums)
    if course.wrong:
        raise RuntimeError(
            f"seed {seed}: {len(course.wrong)} things were not right:\n" + "\n".join(course.wrong)
        )


def _tell(course: Course) -> None:
    """What took place, also when it did not come to its end."""
    sys.stdout.writelines(f"{line}\n" for line in course.ledger.lines())
    sys.stdout.write(json.dumps(course.ledger.detail()) + "\n")
    sys.stdout.flush()
