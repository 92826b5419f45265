"""A few seeded runs with kills and competing commands; ``python -m tests.bench state-chaos`` has 200 of each
backend.
"""

from pathlib import Path

from tests.state.chaos import runs
from tests.state.remote_places import postgresql_place, postgresql_server, s3_place, s3_server

SEEDS = range(1, 25)
FEWER = range(101, 113)
"""On S3 a run costs some hundred requests."""


def test_runs_on_s3(tmp_path: Path) -> None:
    with s3_server() as endpoint:
        outcomes = list(runs([s3_place(endpoint) for _ in FEWER], FEWER, tmp_path))
    assert [outcome for outcome in outcomes if outcome.problem or outcome.unanswered] == []
    assert sum(outcome.killed for outcome in outcomes) > 0
    assert sum(outcome.acknowledged for outcome in outcomes) > 0


def test_runs_on_postgresql(tmp_path: Path) -> None:
    with postgresql_server(tmp_path / "server") as server:
        outcomes = list(runs([postgresql_place(server) for _ in SEEDS], SEEDS, tmp_path))
    assert [outcome for outcome in outcomes if outcome.problem or outcome.unanswered] == []
    assert sum(outcome.killed for outcome in outcomes) > 0
    assert sum(outcome.acknowledged for outcome in outcomes) > 0
