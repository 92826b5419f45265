"""The number of damaged files that end in a bug: none. Each kind of file is damaged ``count`` times; a file
that shows a bug is kept.
"""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path

from tests.bench.figure import Figure
from tests.mutations.attack import Range, Score, attack, keep
from tests.mutations.kinds import KINDS


def mutations(directory: Path, count: int, seed: int, only: str = "") -> Iterator[Figure]:
    """One figure for each kind, then a table of all; what went wrong goes to standard error, and its files to
    the directory.
    """
    ground = Range.made(directory)
    scores: dict[str, Score] = {}
    for name in KINDS:
        if only and name not in only.split(","):
            continue
        score = scores[name] = Score()
        started = time.monotonic()
        for item in attack(ground, name, count, seed):
            score.add(item)
            if item.wrong:
                place = keep(ground, item, seed, directory)
                sys.stderr.write(
                    f"{', '.join(item.wrong)}: flareiac {' '.join(item.command)} "
                    f"({place})\n{item.told[-1500:]}\n"
                )
        score.seconds = time.monotonic() - started
        detail = {
            "files": score.files,
            "seed": seed,
            "seconds": round(score.seconds, 1),
            "endings": dict(sorted(score.endings.items())),
            "codes": dict(sorted(score.codes.items())),
            "damages": dict(sorted(score.damages.items())),
        }
        yield Figure(
            name=f"bugs in damaged files: {name}", value=score.found, unit="bugs", bar=0, detail=detail
        )
    sys.stderr.write(_table(scores, seed))


def _table(scores: Mapping[str, Score], seed: int) -> str:
    """By kind of file: how many, how long each took, with which exit codes, how many diagnostics were seen,
    what was found.
    """
    codes = sorted({code for score in scores.values() for code in score.endings})
    heads = (
        "damaged file",
        "files",
        "ms each",
        "slowest s",
        *(f"exit {code}" for code in codes),
        "diagnostics",
        "findings",
    )
    rows = [_row(name, score, codes) for name, score in scores.items()]
    lines = [heads, *rows, _row("all", reduce(Score.with_those_of, scores.values(), Score()), codes)]
    width = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    text = (f"{line[0]:<{width[0]}}  " + "  ".join(map(str.rjust, line[1:], width[1:])) for line in lines)
    return f"\nseed {seed}\n" + "\n".join(text) + "\n"


def _row(name: str, score: Score, codes: Sequence[int]) -> tuple[str, ...]:
    each = 1000 * score.seconds / max(1, score.files)
    counts = (score.endings[code] for code in codes)
    return (
        name,
        str(score.files),
        f"{each:.1f}",
        f"{score.slowest:.1f}",
        *map(str, counts),
        str(len(score.codes)),
        str(score.found),
    )
