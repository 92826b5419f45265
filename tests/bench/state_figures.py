"""Figures of the local state store."""

import time
from collections.abc import Iterator
from pathlib import Path

from flareiac_state import local_backend
from tests.bench.figure import Figure


def journal(directory: Path, blocks: int) -> Iterator[Figure]:
    """What one durable journal record costs, early and late in a long journal."""
    store = local_backend().open({}, root=str(directory), workspace="bench", environment={})
    lease = store.lock("bench", timeout=0, on_wait=lambda _holder: None)
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        for _record in range(blocks):
            store.append_journal([b"x" * 1000], lease)
        seconds.append(time.perf_counter() - started)
    lease.release()
    early, late = (1000 * value / blocks for value in seconds)
    yield Figure(name="journal record", value=early, unit="ms", bar=5.0)
    yield Figure(
        name=f"journal record after {blocks} others, by the first ones",
        value=late / early,
        unit="times",
        bar=1.5,
    )
