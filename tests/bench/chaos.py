"""``python -m tests.bench chaos [--suite kafka] [--kills 200] [--seed S]``: whatever is killed, and wherever,
every row is there once in the end.

Command lines, drivers, JVMs and single attempts of jobs are killed at named points, by the decisions of a
seed, while files land and jobs are changed. After each the next apply must converge, and all tables must
equal a computation in plain Python over the files.

With ``--suite kafka`` jobs read topics in which a producer goes on writing, and the broker is killed as well:
alone, with the driver, and amid changes of jobs and topics. ``--kills`` counts deaths of drivers and brokers.
Tables must equal a computation over what the topics hold; a topic that a job writes has each record at least
once, and none that is in no table.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.bench.chaos_kafka_scenarios import KAFKA_SCENARIOS
from tests.bench.chaos_lake import Lake
from tests.bench.chaos_plan import KAFKA_CARDS, Cards, Chaos
from tests.bench.chaos_rows import Landing
from tests.bench.chaos_run import Course
from tests.bench.chaos_scenarios import SCENARIOS, Scenario
from tests.bench.chaos_topics import Topics
from tests.bench.figure import Figure, remark


def chaos(
    directory: Path, kills: int, seed: int, *, scenarios: Sequence[Scenario] = SCENARIOS, mild: bool = False
) -> Iterator[Figure]:
    """Figures of each scenario: rows that differ. ``mild`` kills no driver. Raises ``RuntimeError`` if
    anything is not right.
    """
    remark(f"chaos with seed {seed}: the same again with --seed {seed}")
    lake = Lake(directory)
    yield from _figures(
        Course(lake, Chaos(seed, scenarios, mild=mild), scenarios, Landing(directory, seed)), kills, seed
    )


def kafka_chaos(
    directory: Path,
    kills: int,
    seed: int,
    *,
    scenarios: Sequence[Scenario] = KAFKA_SCENARIOS,
    cards: Cards = KAFKA_CARDS,
) -> Iterator[Figure]:
    """As ``chaos``, of jobs that read and write topics."""
    remark(f"chaos of topics with seed {seed}: the same again with --suite kafka --seed {seed}")
    lake, topics = Lake(directory), Topics(directory, seed, scenarios)
    yield from _figures(
        Course(lake, Chaos(seed, scenarios, cards=cards), scenarios, topics, topics), kills, seed
    )


def _figures(course: Course, kills: int, seed: int) -> Iterator[Figure]:
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
    sums = {**course.ledger.detail(), **course.feed.figures, "seed": seed}
    yield Figure(name="chaos, all: rows that differ", value=differing, unit="rows", bar=0.0, detail=sums)
    if course.wrong:
        raise RuntimeError(
            f"seed {seed}: {len(course.wrong)} things were not right:\n" + "\n".join(course.wrong)
        )


def _tell(course: Course) -> None:
    """What took place, also when it did not come to its end."""
    sys.stdout.writelines(f"{line}\n" for line in course.ledger.lines())
    sys.stdout.write(json.dumps({**course.ledger.detail(), **course.feed.figures}) + "\n")
    sys.stdout.flush()
