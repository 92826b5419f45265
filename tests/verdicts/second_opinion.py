"""The bench ``verdicts-by-rows``: pairs judged by rows and never by plans, against what the product says once
Spark's plans are known to it.

Pairs are taken in portions, each through all judges, so that a run that is cut short has figures of everything.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from flareiac_spark_runtime.control import Proof
from flareiac_spark_runtime.driver.spark_session import new_session
from tests.bench.figure import Better, Figure, remark
from tests.verdicts.figures import Order
from tests.verdicts.forms import form_pairs
from tests.verdicts.generate import pairs
from tests.verdicts.judge import is_drawn
from tests.verdicts.pair import Judged, Judgement, Pair, Stop, keep, written
from tests.verdicts.product import Verdict, back, in_words, is_one_text, verdict
from tests.verdicts.proof import Remembering, inputs_named, proofs
from tests.verdicts.rows import RowsJudge, judged_by_rows
from tests.verdicts.spark import application
from tests.verdicts.stop import Stopped

_PORTION: Final = 120
_OF_FORMS: Final = 0.6
"""The share of pairs that are made of forms; the others are random trees."""
_BLOCKED_TRIED: Final = 0.1
_STATELESS_TRIED: Final = 0.3
"""Shares of pairs that run over a stop though they are blocked, or keep no state. What goes on over state
always does, and so does every pair on which rows and plans disagree.
"""
_RIGHT: Final = 0.95
_OVER_BLOCKED: Final = 0.02
_SAME: Final = "same"
_RESTART: Final = "restart"
_BLOCKED: Final = "blocked"
_CLASSES: Final = {
    Verdict.NONE: _SAME,
    Verdict.RESTART: _RESTART,
    Verdict.WARNED: _RESTART,
    Verdict.BLOCKED: _BLOCKED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A pair as rows judge it, with what Spark's plans prove, and what the product says before it asks for
    them, with them, and of the way back (None: not asked).
    """

    item: Judged
    proof: Proof
    alone: Verdict
    said: Verdict
    returned: Verdict | None = None

    @property
    def stateful(self) -> bool:
        return bool(self.item.operators) and self.item.pair.output != "batch"


class _Course:
    """A run through portions, until there are enough pairs or the time is over."""

    def __init__(self, root: Any, directory: Path, order: Order) -> None:
        self._order = order
        self._judge = RowsJudge(root, directory)
        self._prover = Remembering(lambda: new_session(root), directory / "sources")
        self._stopped = Stopped(root, directory)
        self._forms = form_pairs(order.seed, families=tuple(order.families))
        self._trees = pairs(order.seed)
        self._dice = random.Random(order.seed)
        self.found: list[Opinion] = []

    def run(self) -> None:
        end, made = time.monotonic() + 60 * self._order.minutes, 0
        while made < self._order.pairs and time.monotonic() < end:
            some = self._portion(min(_PORTION, self._order.pairs - made))
            made += len(some)
            judged = list(judged_by_rows(self._judge, some))
            asked = [self._opinion(item, proof) for item, proof in proofs(self._prover, judged)]
            across = sum(each.item.stop is not Stop.UNTRIED for each in self.found)
            tried = [each for each in asked if across < self._order.stops and self._is_tried(each)]
            stops = {item.pair.id: item for item in self._stopped.tried(each.item for each in tried)}
            portion = [
                replace(each, item=stops.get(each.item.pair.id, each.item), returned=self._returned(each))
                for each in asked
            ]
            self.found += portion
            for each in portion:
                if is_dangerous(each):
                    remark(shown(each))
            across = sum(each.item.stop is not Stop.UNTRIED for each in self.found)
            remark(f"{made} pairs, {len(self.found)} of them queries, {across} over a stop")

    def _portion(self, count: int) -> list[Pair]:
        forms = count if self._order.families else round(count * _OF_FORMS)
        return [*islice(self._forms, forms), *islice(self._trees, count - forms)]

    def _opinion(self, item: Judged, proof: Proof) -> Opinion:
        return Opinion(item=item, proof=proof, alone=verdict(item), said=verdict(item, proof))

    def _returned(self, each: Opinion) -> Verdict | None:
        """The product's verdict on the way back, where the way there needs no word."""
        if each.said is Verdict.BLOCKED:
            return None
        way = back(each.item)
        ((_, proof),) = proofs(self._prover, [way])
        return verdict(way, proof)

    def _is_tried(self, each: Opinion) -> bool:
        pair = each.item.pair
        if pair.output == "batch" or each.item.judgement is Judgement.UNPROVEN:
            return False
        if is_drawn(pair.old) or is_drawn(pair.new):
            return False
        share = 1.0 if each.stateful or _disagree(each) else _STATELESS_TRIED
        if each.said is Verdict.BLOCKED:
            share *= _BLOCKED_TRIED
        return self._dice.random() < share


def _disagree(each: Opinion) -> bool:
    """Rows agree and plans do not, or the other way."""
    return (each.item.judgement is Judgement.AGREE) is not (each.proof.verdict == "equal")


def verdicts_by_rows(directory: Path, order: Order) -> Iterator[Figure]:
    """Raises ``RuntimeError`` if any verdict is dangerous."""
    with application(directory) as root:
        course = _Course(root, directory, order)
        course.run()
    found = course.found
    dangerous = [each for each in found if is_dangerous(each)]
    if order.failing is not None:
        order.failing.write_text(written(each.item for each in dangerous), encoding="utf-8")
    if order.kept is not None:
        remark(f"{keep(order.kept, [each.item for each in found])} pairs are new in {order.kept}")
    yield from figures(found, order.seed)
    if dangerous:
        ids = ", ".join(each.item.pair.id for each in dangerous[:20])
        raise RuntimeError(f"{len(dangerous)} pairs mean something else than the product says: {ids}")


def figures(found: Sequence[Opinion], seed: int) -> Iterator[Figure]:
    """Counts verdicts by what rows and plans say."""
    across = [each for each in found if each.item.stop is not Stop.UNTRIED]
    yield Figure(
        name="verdicts by rows, pairs judged",
        value=len(found),
        unit="pairs",
        detail={
            "seed": seed,
            "rows": dict(Counter(each.item.judgement.value for each in found)),
            "plans": dict(Counter(each.proof.verdict for each in found)),
            "families": dict(Counter(each.item.pair.family for each in found)),
        },
    )
    yield Figure(
        name="verdicts by rows, run over a stop",
        value=len(across),
        unit="pairs",
        detail={
            "with state": sum(each.stateful for each in across),
            "outcome": dict(Counter(each.item.stop.value for each in across)),
            "table and batch run": dict(
                Counter(
                    f"{each.item.stop}, {'same' if each.item.batch else 'other'} rows"
                    for each in across
                    if each.item.batch is not None
                )
            ),
            "of the way back": dict(
                Counter(each.item.back.value for each in across if each.item.back is not Stop.UNTRIED)
            ),
        },
    )
    bars = {
        "false same": is_false_same,
        "false restart over state": is_false_restart,
        "false way back": is_false_back,
    }
    for name, judge in bars.items():
        yield Figure(name=f"verdicts by rows, {name}", value=sum(map(judge, found)), unit="pairs", bar=0)
    alone = sum(is_false_same(replace(each, said=each.alone)) for each in found)
    yield Figure(name="verdicts by rows, called one text and then refuted", value=alone, unit="pairs")
    yield _right(found)
    yield _over_blocked(found)


def _right(found: Sequence[Opinion]) -> Figure:
    """Counts how often the product's class is that of the judge."""
    known = [(each, wanted) for each in found if (wanted := class_of(each)) is not None]
    table = Counter(f"{wanted} called {_CLASSES[each.said]}" for each, wanted in known)
    right = sum(_CLASSES[each.said] == wanted for each, wanted in known)
    wrong = Counter(
        f"{each.item.pair.family}: {wanted} called {_CLASSES[each.said]}"
        for each, wanted in known
        if (_CLASSES[each.said] == _BLOCKED) != (wanted == _BLOCKED)
    )
    decided = sum((_CLASSES[each.said] == _BLOCKED) == (wanted == _BLOCKED) for each, wanted in known)
    return Figure(
        name="verdicts by rows, right class",
        value=right / max(1, len(known)),
        unit="of pairs",
        bar=_RIGHT,
        better=Better.HIGHER,
        detail={
            "pairs": len(known),
            "blocked or not": round(decided / max(1, len(known)), 4),
            "table": dict(table),
            "wrongly blocked or not": dict(wrong),
        },
    )


def _over_blocked(found: Sequence[Opinion]) -> Figure:
    """The share that is blocked of the pairs that Spark's plans prove to be one query, or to keep the state of
    a table that each batch replaces. Other inputs and settings are not for plans to prove.
    """
    proven = [each for each in found if _is_proven(each)]
    blocked = [each for each in proven if each.said is Verdict.BLOCKED]
    return Figure(
        name="verdicts by rows, over-blocked share",
        value=len(blocked) / max(1, len(proven)),
        unit="of proven pairs",
        bar=_OVER_BLOCKED,
        detail={
            "pairs": len(proven),
            "blocked": len(blocked),
            "blocked until proven": sum(each.alone is Verdict.BLOCKED for each in proven),
            "by edit": dict(Counter(f"{each.item.pair.family}, {each.item.pair.edit}" for each in blocked)),
        },
    )


def _is_proven(each: Opinion) -> bool:
    pair = each.item.pair
    if (
        pair.old.settings != pair.new.settings
        or pair.old.bound != pair.new.bound
        or pair.old.marks != pair.new.marks
    ):
        return False
    above = each.proof.verdict == "state" and (not each.stateful or pair.output == "complete")
    return each.proof.verdict == "equal" or above


def class_of(each: Opinion) -> str | None:
    """The class that rows ask for; None where they say nothing."""
    item = each.item
    if item.judgement is Judgement.UNPROVEN or (each.stateful and item.stop is Stop.UNTRIED):
        return None
    if item.stop in (Stop.STATE_MIXED, Stop.REFUSED) or (each.stateful and item.stop is Stop.TABLE_MIXED):
        return _BLOCKED
    if item.judgement is not Judgement.AGREE or item.stop is Stop.TABLE_MIXED:
        return _RESTART
    return _SAME if is_of_texts(item.pair) else _RESTART


def is_of_texts(pair: Pair) -> bool:
    """False where the versions differ in more than SQL: a query that runs takes no other input, watermark,
    engine or setting, whatever the rows.
    """
    same = all(
        getattr(pair.old, name) == getattr(pair.new, name)
        for name in ("dedups", "within", "marks", "conf", "engine")
    )
    old, new = ({name: each.input(name) for name in inputs_named(each)} for each in (pair.old, pair.new))
    return same and all(new.get(name, read) == read for name, read in old.items())


def is_false_same(each: Opinion) -> bool:
    """Nothing would restart, and rows differ."""
    mixed = each.item.stop not in (Stop.UNTRIED, Stop.SAME)
    return each.said is Verdict.NONE and (each.item.judgement is Judgement.DIFFERENT or mixed)


def is_false_restart(each: Opinion) -> bool:
    """A silent restart over a state of another meaning, or one that Spark refuses."""
    mixed = (Stop.STATE_MIXED, Stop.REFUSED, *((Stop.TABLE_MIXED,) if each.stateful else ()))
    return each.said is Verdict.RESTART and each.item.stop in mixed


def is_false_back(each: Opinion) -> bool:
    """Both ways go on silently, and the old query does not go on as if it had never stopped."""
    return each.returned in (Verdict.NONE, Verdict.RESTART) and each.item.back in (
        Stop.STATE_MIXED,
        Stop.REFUSED,
    )


def is_dangerous(each: Opinion) -> bool:
    """The product says less than rows do."""
    return is_false_same(each) or is_false_restart(each) or is_false_back(each)


def shown(each: Opinion) -> str:
    """A line for a person who looks for the reason."""
    item = each.item
    one = ", one text" if is_one_text(item) else ""
    return (
        f"{item.pair.id}, {item.pair.family}, {item.pair.edit}: rows {item.judgement}, over a stop {item.stop}, back "
        f"{item.back}; the product {each.said} (alone {each.alone}, back {each.returned}{one}), plans "
        f"{each.proof.verdict} {each.proof.parts}: {item.why}; {in_words(item, each.proof)}; {item.pair.old} -> {item.pair.new}"
    )
