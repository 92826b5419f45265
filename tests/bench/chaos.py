"""``python -m tests.bench chaos [--suite kafka|cluster|proofs] [--kills 200] [--seed S]``: whatever is
killed, and wherever, every row is there once in the end.

Command lines, drivers, JVMs and single attempts of jobs are killed at named points, by the decisions of a
seed, while files land and jobs are changed. After each the next apply must converge, and all tables must
equal a computation in plain Python over the files.

With ``--suite kafka`` jobs read topics in which a producer goes on writing, and the broker is killed as well:
alone, with the driver, and amid changes of jobs and topics. ``--kills`` counts deaths of drivers and brokers.
Tables must equal a computation over what the topics hold; a topic that a job writes has each record at least
once, and none that is in no table.

With ``--suite cluster`` jobs run on a standalone cluster whose master and workers are killed as well, and
come back. Never are there two applications at once.

With ``--suite proofs`` the edits are texts that the comparison takes for the same, and most kills are of
commands: between what Spark proves or refutes, its record, and the start.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.chaos_cluster import Machines
from tests.bench.chaos_kafka_scenarios import KAFKA_SCENARIOS
from tests.bench.chaos_lake import Lake
from tests.bench.chaos_plan import CLUSTER_CARDS, KAFKA_CARDS, Cards, Chaos
from tests.bench.chaos_proof_scenarios import PROOF_CARDS, PROOF_SCENARIOS
from tests.bench.chaos_rows import Landing
from tests.bench.chaos_run import Course
from tests.bench.chaos_scenarios import SCENARIOS, Scenario
from tests.bench.chaos_topics import Topics
from tests.bench.figure import Figure, remark

_ON_CLUSTER: Final = ("plain", "windows", "merge", "pair", "changed")
CLUSTER_SCENARIOS: Final = tuple(item for item in SCENARIOS if item.name in _ON_CLUSTER)
"""One of each way in which a job commits; a cluster of two cores does not run more at a time."""


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


def proof_chaos(directory: Path, kills: int, seed: int) -> Iterator[Figure]:
    """The figures of ``chaos``, of changes that Spark proves or refutes."""
    remark(f"chaos of proofs with seed {seed}: the same again with --suite proofs --seed {seed}")
    chances = Chaos(seed, PROOF_SCENARIOS, cards=PROOF_CARDS)
    course = Course(Lake(directory), chances, PROOF_SCENARIOS, Landing(directory, seed))
    yield from _figures(course, kills, seed)


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


def cluster_chaos(
    directory: Path,
    kills: int,
    seed: int,
    *,
    scenarios: Sequence[Scenario] = CLUSTER_SCENARIOS,
    cards: Cards = CLUSTER_CARDS,
) -> Iterator[Figure]:
    """As ``chaos``, of jobs on a cluster."""
    remark(f"chaos of a cluster with seed {seed}: the same again with --suite cluster --seed {seed}")
    lake, chances = Lake(directory), Chaos(seed, scenarios, cards=cards)
    feed, machines = Landing(directory, seed), Machines(directory)
    yield from _figures(Course(lake, chances, scenarios, feed, machines=machines), kills, seed)


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
    if course.machines is not None:
        sums["applications"] = len(course.machines.seen)
        sums["two at once"] = len(course.machines.doubled)
    yield Figure(name="chaos, all: rows that differ", value=differing, unit="rows", bar=0.0, detail=sums)
    if course.wrong:
        raise RuntimeError(
            f"seed {seed}: {len(course.wrong)} things were not right:\n" + "\n".join(course.wrong)
        )


def _tell(course: Course) -> None:
    """Prints the course of the chaos, also when it did not come to its end."""
    sys.stdout.writelines(f"{line}\n" for line in course.ledger.lines())
    sys.stdout.write(json.dumps({**course.ledger.detail(), **course.feed.figures}) + "\n")
    sys.stdout.flush()
