"""The number of inputs of a million that end in a bug: none. Each entrance gets its share of them."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figure import Figure
from tests.mutations.entrances.all import ENTRANCES
from tests.mutations.entrances.entrance import Entrance
from tests.mutations.entrances.run import Fall, Passed, throw

_MILLION = 1_000_000


def entrances(directory: Path, count: int, seed: int, only: str = "") -> Iterator[Figure]:
    """One figure for each entrance; ``count`` is the number of all inputs together. Inputs that did not end
    well go to standard error, and to a file of the directory.
    """
    with (directory / "falls.txt").open("a", encoding="utf-8") as kept:
        for name, entrance in ENTRANCES.items():
            if only and name not in only.split(","):
                continue
            inputs = max(1, round(entrance.share * count / _MILLION))
            started, falls, slowest = time.monotonic(), 0, 0.0
            for item in throw(entrance, range(inputs), seed):
                match item:
                    case Fall():
                        falls += 1
                        said = f"{name} {seed}/{item.number} {item.place}\n{item.what}\n{item.trace}\n"
                        sys.stderr.write(said)
                        kept.write(said)
                        kept.flush()
                    case Passed():
                        slowest = max(slowest, item.slowest)
            seconds = time.monotonic() - started
            yield _figure(
                entrance,
                falls,
                {"inputs": inputs, "seed": seed, "seconds": round(seconds, 1), "slowest": round(slowest, 2)},
            )


def _figure(entrance: Entrance, falls: int, detail: dict[str, object]) -> Figure:
    return Figure(name=f"bugs at entrances: {entrance.name}", value=falls, unit="bugs", bar=0, detail=detail)
