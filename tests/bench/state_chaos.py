"""Seeded runs of competing commands that are killed, on each remote state backend."""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.bench.figure import Figure, remark
from tests.state.chaos import Outcome, runs
from tests.state.remote_places import postgresql_place, postgresql_server, s3_place, s3_server

_REPORTED_EVERY = 20
"""Runs."""


def state_chaos(directory: Path, count: int, seed: int) -> Iterator[Figure]:
    """So many runs per backend, from a seed on."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    remark(f"seeds {seed} to {seed + count - 1}")
    seeds = range(seed, seed + count)
    (directory / "s3").mkdir()
    with s3_server() as endpoint:
        yield from _figures("s3", runs([s3_place(endpoint) for _ in seeds], seeds, directory / "s3"))
    (directory / "postgresql").mkdir()
    with postgresql_server(directory / "server") as server:
        places = [postgresql_place(server) for _ in seeds]
        yield from _figures("postgresql", runs(places, seeds, directory / "postgresql"))


def _figures(backend: str, all_: Iterable[Outcome]) -> Iterator[Figure]:
    outcomes: list[Outcome] = []
    for outcome in all_:
        outcomes.append(outcome)
        if outcome.problem or outcome.unanswered:
            remark(f"{backend}, seed {outcome.seed}: {outcome.problem or outcome.unanswered}")
        if not len(outcomes) % _REPORTED_EVERY:
            bad = sum(bool(outcome.problem) for outcome in outcomes)
            remark(f"{backend}: {len(outcomes)} runs, {bad} of them wrong")
    wrong = [outcome for outcome in outcomes if outcome.problem]
    yield Figure(
        name=f"runs on {backend} that lost or doubled a record, or did not heal",
        value=len(wrong),
        unit="runs",
        bar=0,
        detail={
            "runs": len(outcomes),
            "of them without an answer of the server": sum(bool(outcome.unanswered) for outcome in outcomes),
            "killed": sum(outcome.killed for outcome in outcomes),
            "acknowledged": sum(outcome.acknowledged for outcome in outcomes),
        },
    )
