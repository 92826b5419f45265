"""The bench ``verdicts``: makes pairs, has Spark judge them, and counts where the product says something
else.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.bench.figure import Better, Figure, remark
from tests.verdicts.generate import pairs
from tests.verdicts.judge import judged
from tests.verdicts.pair import Judged, Judgement, Stop, keep, written
from tests.verdicts.product import Verdict, in_words, verdict
from tests.verdicts.queries import FAMILIES
from tests.verdicts.spark import application
from tests.verdicts.stop import Stopped

_ENOUGH = 0.05
"""The share of equal pairs that may be called something else than "none"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order of a run. ``families``: those of the queries, all where none is named. ``failing``: a file
    that takes the pairs on which product and Spark disagree. ``kept``: a folder that takes every pair, in a
    file for each family. ``minutes`` and ``stops``: the time after which no more pairs are made, and the
    number of pairs over a stop after which the others run without one, where the bench looks at it.
    """

    pairs: int
    seed: int
    families: Collection[str] = ()
    failing: Path | None = None
    kept: Path | None = None
    minutes: float = 600
    stops: int = 1_000_000


def verdicts(directory: Path, order: Order) -> Iterator[Figure]:
    """Raises ``RuntimeError`` where a family is unknown, and if any verdict is dangerous."""
    if unknown := sorted(set(order.families) - set(FAMILIES)):
        raise RuntimeError(f"there is no family {', '.join(unknown)}; there are: {', '.join(FAMILIES)}")
    with application(directory) as root:
        made = list(judged(root, islice(pairs(order.seed, 0, order.families), order.pairs), directory))
        remark(
            f"{len(made)} of {order.pairs} pairs are queries to Spark; {sum(map(holds_state, made))} with "
            "state run across a stop"
        )
        tried = {
            item.pair.id: item
            for item in Stopped(root, directory).tried(item for item in made if holds_state(item))
        }
    found = [tried.get(item.pair.id, item) for item in made]
    said = {item.pair.id: verdict(item) for item in found}
    wrong = [item for item in found if disagrees(item, said[item.pair.id])]
    for item in wrong:
        remark(
            f"{item.pair.id}, {item.pair.edit}: Spark says {item.judgement} {item.stop}, the product "
            f"{said[item.pair.id]}: {in_words(item)}"
        )
    _written(order, found, wrong)
    yield from figures(found, said, order.seed)
    dangerous = [item.pair.id for item in wrong if is_dangerous(item, said[item.pair.id])]
    if dangerous:
        raise RuntimeError(
            f"{len(dangerous)} pairs mean something else than the product says: {', '.join(dangerous[:20])}"
        )


def _written(order: Order, found: Sequence[Judged], wrong: Sequence[Judged]) -> None:
    if order.failing is not None:
        order.failing.write_text(written(wrong), encoding="utf-8")
    if order.kept is not None:
        new = keep(order.kept, found)
        remark(f"{new} pairs are new in {order.kept}")
    else:
        remark(
            "no pair is kept; --keep FOLDER adds them to the judged pairs of a folder, as to "
            "tests/spark/change/judged"
        )


def figures(found: Sequence[Judged], said: Mapping[str, Verdict], seed: int) -> Iterator[Figure]:
    """The figures that were counted."""
    kinds = Counter(item.judgement for item in found)
    yield Figure(name="verdicts, pairs judged", value=len(found), unit="pairs", detail={"seed": seed})
    for kind in Judgement:
        each = Counter(said[item.pair.id].value for item in found if item.judgement is kind)
        yield Figure(
            name=f"verdicts, {kind}", value=kinds[kind], unit="pairs", detail={"product": dict(each)}
        )
    same = sum(is_false_same(item, said[item.pair.id]) for item in found)
    yield Figure(name="verdicts, false same", value=same, unit="pairs", bar=0)
    stops = Counter(item.stop.value for item in found if item.stop is not Stop.UNTRIED)
    with_rows = sum(item.rows > 0 for item in found if item.stop is not Stop.UNTRIED)
    across = {"outcome": dict(stops), "second batch writes rows": with_rows}
    yield Figure(name="verdicts, run across a stop", value=stops.total(), unit="pairs", detail=across)
    restarts = sum(is_false_restart(item, said[item.pair.id]) for item in found)
    yield Figure(name="verdicts, false restart over state", value=restarts, unit="pairs", bar=0)
    yield _equal(found, said)


def _equal(found: Sequence[Judged], said: Mapping[str, Verdict]) -> Figure:
    """Equal pairs that are not called the same, by what was done to them."""
    edits = Counter(item.pair.edit for item in found if item.judgement is Judgement.SAME)
    none = Counter(
        item.pair.edit
        for item in found
        if item.judgement is Judgement.SAME and said[item.pair.id] is Verdict.NONE
    )
    by_edit = {edit: f"{none[edit]} of {count} none" for edit, count in sorted(edits.items())}
    share = 1 - none.total() / max(1, edits.total())
    return Figure(
        name="verdicts, over-blocked share",
        value=share,
        unit="of equal pairs",
        bar=_ENOUGH,
        better=Better.LOWER,
        detail={"edits": by_edit},
    )


def holds_state(item: Judged) -> bool:
    return bool(item.operators) and item.pair.output != "batch"


def is_false_same(item: Judged, said: Verdict) -> bool:
    """ "None" where Spark tells the two apart."""
    mixed = item.stop not in (Stop.UNTRIED, Stop.SAME)
    return said is Verdict.NONE and (item.judgement is Judgement.DIFFERENT or mixed)


def is_false_restart(item: Judged, said: Verdict) -> bool:
    """A silent restart where the state, or the table, holds two meanings afterwards."""
    return said is Verdict.RESTART and item.stop not in (Stop.UNTRIED, Stop.SAME)


def is_dangerous(item: Judged, said: Verdict) -> bool:
    """Returns True if the product says less than Spark."""
    return is_false_same(item, said) or is_false_restart(item, said)


def disagrees(item: Judged, said: Verdict) -> bool:
    """Returns True if product and Spark say different things, in either direction."""
    over = item.judgement is Judgement.SAME and said is not Verdict.NONE
    return over or is_dangerous(item, said)
