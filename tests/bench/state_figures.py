"""Figures of the local state store."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from flareiac.applying.journal_writer import JournalWriter
from flareiac_state import local_backend
from tests.bench.figure import Figure

_AT_ONCE: Final = 10


def journal(directory: Path, blocks: int) -> Iterator[Figure]:
    """The cost of one durable journal record, early and late in a long journal."""
    store = local_backend().open({}, root=str(directory), workspace="bench", environment={})
    lease = store.lock("bench", timeout=0, on_wait=lambda _holder: None)
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        for _record in range(blocks):
            store.append_journal([b"x" * 1000], lease)
        seconds.append(time.perf_counter() - started)
    writer = JournalWriter(store, lease, written=2 * blocks)
    started = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(writer.append, [b"x" * 1000] * blocks))
    together = 1000 * (time.perf_counter() - started) / blocks
    lease.release()
    early, late = (1000 * value / blocks for value in seconds)
    yield Figure(name="journal record", value=early, unit="ms", bar=5.0)
    yield Figure(
        name=f"journal record after {blocks} others, by the first ones",
        value=late / early,
        unit="times",
        bar=1.5,
    )
    yield Figure(
        name=f"journal record of {_AT_ONCE} operations side by side, by that of one",
        value=together / early,
        unit="times",
        bar=0.9,
    )
