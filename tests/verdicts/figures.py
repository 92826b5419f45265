"""The bench ``verdicts``: makes pairs, has Spark judge them, and counts where the product says something else."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tests.bench.figure import Better, Figure, remark
from tests.verdicts.generate import pairs
from tests.verdicts.judge import judged
from tests.verdicts.pair import Judged, Judgement, Stop, written
from tests.verdicts.product import Verdict, verdict
from tests.verdicts.spark import application
from tests.verdicts.stop import Stopped

_ENOUGH = 0.05
"""The share of equal pairs that may be called something else than "none"."""


def verdicts(directory: Path, count: int, seed: int, failing: Path | None) -> Iterator[Figure]:
    """``failing``: a file that takes the pairs on which product and Spark disagree, as lines of JSON. Raises ``RuntimeError`` if any is
    dangerous."""
    with application(directory) as root:
        found = list(judged(root, islice(pairs(seed), count), directory))
        remark(f"{len(found)} of {count} pairs are queries to Spark; those with state run across a stop")
        said = {item.pair.id: verdict(item) for item in found}
        open_ones = [item for item in found if item.operators and said[item.pair.id] in (Verdict.NONE, Verdict.RESTART)]
        tried = {item.pair.id: item for item in Stopped(root, directory).tried(open_ones)}
    found = [tried.get(item.pair.id, item) for item in found]
    wrong = [item for item in found if disagrees(item, said[item.pair.id])]
    if failing is not None:
        failing.write_text(written(wrong), encoding="utf-8")
    yield from figures(found, said, seed)
    dangerous = [
        item for item in wrong if item.judgement is not Judgement.SAME or item.stop in (Stop.STATE_MIXED, Stop.TABLE_MIXED, Stop.REFUSED)
    ]
    if dangerous:
        raise RuntimeError(
            f"{len(dangerous)} pairs mean something else than the product says: {', '.join(item.pair.id for item in dangerous[:20])}"
        )


def figures(found: list[Judged], said: dict[str, Verdict], seed: int) -> Iterator[Figure]:
    """What was counted."""
    kinds = Counter(item.judgement for item in found)
    yield Figure(name="verdicts, pairs judged", value=len(found), unit="pairs", detail={"seed": seed})
    for kind in Judgement:
        yield Figure(name=f"verdicts, {kind}", value=kinds[kind], unit="pairs")
    same = sum(is_false_same(item, said[item.pair.id]) for item in found)
    yield Figure(name="verdicts, false same", value=same, unit="pairs", bar=0)
    restarts = sum(is_false_restart(item, said[item.pair.id]) for item in found)
    tried = sum(item.stop is not Stop.UNTRIED for item in found)
    yield Figure(name="verdicts, false restart over state", value=restarts, unit="pairs", bar=0, detail={"run across a stop": tried})
    blocked = sum(item.judgement is Judgement.SAME and said[item.pair.id] is not Verdict.NONE for item in found)
    share = blocked / max(1, kinds[Judgement.SAME])
    yield Figure(name="verdicts, over-blocked share", value=share, unit="of equal pairs", bar=_ENOUGH, better=Better.LOWER)


def is_false_same(item: Judged, said: Verdict) -> bool:
    """ "None" where Spark tells the two apart."""
    mixed = item.stop not in (Stop.UNTRIED, Stop.SAME)
    return said is Verdict.NONE and (item.judgement is Judgement.DIFFERENT or mixed)


def is_false_restart(item: Judged, said: Verdict) -> bool:
    """A restart without a word where the state, or the table, holds two meanings afterwards."""
    return said is Verdict.RESTART and item.stop not in (Stop.UNTRIED, Stop.SAME)


def disagrees(item: Judged, said: Verdict) -> bool:
    """Whether product and Spark say different things, in either direction."""
    over = item.judgement is Judgement.SAME and said is not Verdict.NONE
    return over or is_false_same(item, said) or is_false_restart(item, said)
