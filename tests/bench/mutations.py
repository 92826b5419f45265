"""How many damaged files end in a bug: none. Each kind of file is damaged ``count`` times; a failure names what repeats it."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figure import Figure
from tests.mutations.kinds import KINDS, attack, prepare


def mutations(directory: Path, count: int, seed: int, only: str = "") -> Iterator[Figure]:
    """One figure for each kind; what went wrong goes to standard error."""
    root = directory / "project"
    root.mkdir()
    prepare(root)
    for name in KINDS:
        if only and name not in only.split(","):
            continue
        started, wrong = time.monotonic(), 0
        for found in attack(root, name, count, seed):
            wrong += 1
            (directory / f"{name}-{found.number}").write_bytes(found.content)
            sys.stderr.write(f"{name} {found.number} (seed {seed}): flareiac {' '.join(found.command)}\n{found.told[-1500:]}\n")
        seconds = time.monotonic() - started
        detail = {"files": count, "seed": seed, "seconds": seconds}
        yield Figure(name=f"bugs in damaged files: {name}", value=wrong, unit="bugs", bar=0, detail=detail)
