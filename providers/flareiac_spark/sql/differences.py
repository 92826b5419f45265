"""The differences between two composed queries, operator by operator."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.change_kinds import ChangeKind, ColumnChange, Difference, placed
from flareiac_spark.sql.labels import kind_label, operator_label, relations_of
from flareiac_spark.sql.matching import (
    function_of,
    is_window,
    never_null,
    occurrences,
    paired_calls,
    paired_keys,
    parting,
    same_window,
    window_change,
)
from flareiac_spark.sql.normalize import normalize
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Composed,
    Compute,
    Condition,
    Dedup,
    Generate,
    Hint,
    Item,
    Join,
    Limit,
    Operator,
    Output,
    Scan,
    Sort,
    Symbol,
    Union,
    UnionColumn,
    holds_state,
    meanings,
    read_by,
)
from flareiac_spark.sql.to_sql import to_sql
from flareiac_spark.sql.value_types import buffer_of, same_buffer, type_of

Types = Callable[[str, str], str | None]
"""The type of a column, given the relation and the column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Written:
    """A query with the types of what it reads, and the order in which the writer takes its columns (empty: as
    they come).

    ``exact_names``: what reads it minds the case of a column's name.
    """

    composed: Composed
    types: Types
    columns: Sequence[str]
    exact_names: bool


def differences(old: Written, new: Written) -> tuple[Difference, ...]:
    """Every difference, what lies below first. None at all: no row and no state could differ."""
    return tuple(_Differ(old, new).all())


class _Side:
    """One of the two queries, with what its columns are called in the comparison."""

    def __init__(self, written: Written, mark: str) -> None:
        self.composed, self.writes, self._types, self._mark = (
            written.composed,
            written.columns,
            written.types,
            mark,
        )
        self.exact_names = written.exact_names
        self.names: dict[Symbol, str] = {}
        self.meanings: dict[Symbol, exp.Expr] = {}
        """Of the columns of an operator that the other query has not."""

    def text(self, expr: exp.Expr) -> str:
        return normalize(expr, self._named)

    def _named(self, giver: str, name: str) -> str:
        if (known := self.names.get((giver, name))) is not None:
            return known
        if (meaning := self.meanings.get((giver, name))) is not None:
            return self.text(meaning)
        return f"{self.names.get((giver, '*'), self._mark + giver)}.{name}"

    def show(self, expr: exp.Expr) -> str:
        return to_sql(expr, self.composed)

    def listed(self, exprs: Iterable[exp.Expr], between: str = ", ") -> str:
        return between.join(map(self.show, exprs))

    def buffer(self, call: exp.Expr) -> tuple[str, ...] | None:
        return buffer_of(call, self._type)

    def type(self, expr: exp.Expr) -> str | None:
        return type_of(expr, self._type)

    def _type(self, giver: str, name: str) -> str | None:
        operator = self.composed.operators.get(giver)
        match operator:
            case Scan():
                return self._types(operator.relation, name)
            case Aggregate() | Join() | Union():
                types = {self.type(expr) for expr in meanings(operator, name)}
                return types.pop() if len(types) == 1 else None
            case _:
                return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The place of an operator: true if it holds state itself, and if it feeds one that does."""

    stateful: bool
    feeds_state: bool

    @property
    def below_feeds_state(self) -> bool:
        return self.stateful or self.feeds_state

    def part(self, part: ChangeKind) -> ChangeKind:
        """The kind of a difference at this place: in an operator without state every difference is one of
        values.
        """
        return part if self.stateful else ChangeKind.PROJECTION


class _Differ:
    def __init__(self, old: Written, new: Written) -> None:
        self._old, self._new = _Side(old, "old"), _Side(new, "new")
        self._found: list[Difference] = []

    def all(self) -> list[Difference]:
        old, new = self._old.composed, self._new.composed
        self._order_calls(self._old)
        self._order_calls(self._new)
        self._blocks(old.block, new.block, False)
        self._outputs(old.outputs, new.outputs)
        self._hints(old.hints, new.hints)
        return self._found

    def _add(
        self,
        part: ChangeKind,
        step: str,
        old: str = "",
        new: str = "",
        *,
        feeds_state: bool,
        detail: str = "",
        same_type: bool | None = None,
        column: ColumnChange | None = None,
    ) -> None:
        """The one way in: where a difference stands decides what it is, so no caller goes without saying
        it.
        """
        found = placed(part, feeds_state=feeds_state)
        self._found.append(
            Difference(
                part=found, step=step, old=old, new=new, detail=detail, same_type=same_type, column=column
            )
        )

    def _same_name(self, old: Symbol, new: Symbol) -> None:
        """From here on both sides call this column the same."""
        name = f"{old[0]}.{old[1]}" if old[1] != "*" else old[0]
        self._old.names[old] = self._new.names[new] = name

    # Blocks

    def _blocks(self, old: Block, new: Block, feeds_state: bool) -> None:
        if type(old.base) is type(new.base) and _stateful_alike(old.base, new.base):
            self._operators(old.base, new.base, feeds_state)
            self._filters(old.filters, new.filters, feeds_state)
        else:
            self._unlike(old, new, feeds_state)

    def _unlike(self, old: Block, new: Block, feeds_state: bool) -> None:
        """Another operator at this place: the one that the other query has not is added or removed, and what
        is below goes on.
        """
        gone, came = _under(old.base), _under(new.base)
        if gone is not None and (
            came is None
            or _kind(new.base) in _kinds_below(old.base)
            or _kind(old.base) not in _kinds_below(new.base)
        ):
            both = came is not None and _kind(new.base) not in _kinds_below(old.base)
            self._report_gone(old.base, feeds_state)
            merged = Block(base=gone.base, filters=[*gone.filters, *self._still_stated(old, self._old)])
            if not both:
                self._blocks(merged, new, feeds_state)
                return
            old, gone = merged, None
        if came is not None:
            self._report_came(new.base, feeds_state)
            merged = Block(base=came.base, filters=[*came.filters, *self._still_stated(new, self._new)])
            self._blocks(old, merged, feeds_state or holds_state(new.base))
            return
        self._other_leaves(old, new, feeds_state)

    def _still_stated(self, block: Block, side: _Side) -> list[Condition]:
        """The filters above an operator that only one side has, its grouping keys named as what they are made
        of.
        """
        if isinstance(block.base, Aggregate):
            side.meanings |= {(block.base.id, item.name): item.expr for item in block.base.keys}
        return block.filters

    def _report_gone(self, operator: Operator, feeds_state: bool) -> None:
        part, text = _part_of(operator, ChangeKind.STATE_REMOVED), self._describe(operator, self._old)
        self._add(
            part,
            operator.step,
            old=text,
            feeds_state=feeds_state,
            detail=f"removed {operator_label(operator)}",
        )

    def _report_came(self, operator: Operator, feeds_state: bool) -> None:
        part, text = _part_of(operator, ChangeKind.STATE_ADDED), self._describe(operator, self._new)
        self._add(
            part, operator.step, new=text, feeds_state=feeds_state, detail=f"added {operator_label(operator)}"
        )

    def _other_leaves(self, old: Block, new: Block, feeds_state: bool) -> None:
        if holds_state(old.base) and not holds_state(new.base):
            self._report_gone(old.base, feeds_state)
        elif holds_state(new.base) and not holds_state(old.base):
            self._report_came(new.base, feeds_state)
        texts = relations_of(old), relations_of(new)
        self._add(
            ChangeKind.SOURCES,
            new.base.step,
            *texts,
            feeds_state=feeds_state,
            detail="another set of relations is read",
        )

    def _filters(self, old: list[Condition], new: list[Condition], feeds_state: bool) -> None:
        for one, other, order in self._parted(old, new):
            last = (other or one)[0]
            detail = order or ("Spark applies it before the state" if feeds_state and last.moved else "")
            texts = self._conditions(one, other)
            self._add(ChangeKind.FILTER, last.step, *texts, feeds_state=feeds_state, detail=detail)

    def _parted(
        self, old: list[Condition], new: list[Condition]
    ) -> Iterator[tuple[list[Condition], list[Condition], str]]:
        """The conditions that one query alone has, side by side. Of the same ones in another order, or asked
        another number of times, all of them: a condition may guard the next one from an error.
        """
        before = [self._old.text(each.expr) for each in old]
        after = [self._new.text(each.expr) for each in new]
        gone = [each for each, text in zip(old, before, strict=True) if text not in after]
        came = [each for each, text in zip(new, after, strict=True) if text not in before]
        if not gone and not came and before != after:
            yield old, new, "only their order" if len(before) == len(after) else "asked again"
        for place in range(max(len(gone), len(came))):
            yield gone[place : place + 1], came[place : place + 1], ""

    def _conditions(self, old: Sequence[Condition], new: Sequence[Condition]) -> tuple[str, str]:
        return (
            self._old.listed((each.expr for each in old), " AND "),
            self._new.listed((each.expr for each in new), " AND "),
        )

    # Operators

    def _operators(self, old: Operator, new: Operator, feeds_state: bool) -> None:
        match old, new:
            case Scan(), Scan():
                self._scans(old, new, feeds_state)
            case Aggregate(), Aggregate():
                self._aggregates(old, new, feeds_state)
            case Dedup(), Dedup():
                self._dedups(old, new, feeds_state)
            case Join(), Join():
                self._joins(old, new, feeds_state)
            case Union(), Union():
                self._unions(old, new, feeds_state)
            case Limit(), Limit():
                self._blocks(old.input, new.input, feeds_state or holds_state(new))
                if self._old.text(old.count) != self._new.text(new.count):
                    texts = self._old.show(old.count), self._new.show(new.count)
                    self._add(ChangeKind.LIMIT, new.step, *texts, feeds_state=feeds_state, same_type=True)
            case Sort(), Sort():
                self._blocks(old.input, new.input, feeds_state)
                self._ordered(old, new, feeds_state)
            case Generate(), Generate():
                self._generated(old, new, feeds_state)
            case Compute(), Compute():
                self._computed(old, new, feeds_state)
            case _:
                raise AssertionError("operators of one kind are compared")

    def _scans(self, old: Scan, new: Scan, feeds_state: bool) -> None:
        self._same_name((old.id, "*"), (new.id, "*"))
        if old.relation != new.relation or old.streams != new.streams:
            detail = (
                "" if old.streams == new.streams else "no longer streamed" if old.streams else "now streamed"
            )
            self._add(
                ChangeKind.SOURCES,
                new.step,
                old=old.relation,
                new=new.relation,
                feeds_state=feeds_state,
                detail=detail,
            )

    def _ordered(self, old: Sort, new: Sort, feeds_state: bool) -> None:
        before, after = [self._old.text(key) for key in old.keys], [self._new.text(key) for key in new.keys]
        if before != after:
            texts = self._old.listed(old.keys), self._new.listed(new.keys)
            detail = "only their order" if sorted(before) == sorted(after) else ""
            self._add(ChangeKind.ORDER, new.step, *texts, feeds_state=feeds_state, detail=detail)

    # Aggregations

    def _aggregates(self, old: Aggregate, new: Aggregate, feeds_state: bool) -> None:
        place = _Place(stateful=old.streams or new.streams, feeds_state=feeds_state)
        self._blocks(old.input, new.input, place.below_feeds_state)
        self._keys(old, new, place)
        if old.sets != new.sets:
            texts = (old.sets and "grouping sets", new.sets and "grouping sets")
            part = place.part(ChangeKind.GROUPING_KEYS)
            self._add(part, new.step, *texts, feeds_state=feeds_state, same_type=False)
        self._calls(old, new, place)

    def _keys(self, old: Aggregate, new: Aggregate, place: _Place) -> None:
        part = place.part(ChangeKind.DEDUP if old.distinct and new.distinct else ChangeKind.GROUPING_KEYS)
        add = partial(self._add, step=new.step, feeds_state=place.feeds_state)
        pairs, gone, came = self._matched(old, new, old.keys, new.keys)
        for one, another in paired_keys(gone, came):
            gone.remove(one)
            came.remove(another)
            before, after = one.expr, another.expr
            was, now = self._old.show(before), self._new.show(after)
            if is_window(before) and is_window(after):
                kind, detail = place.part(ChangeKind.WINDOW), window_change(before, after)
                same = same_window(before, after)
            else:
                kind, detail, same = part, f"{was} -> {now}", self._key_type(before, after)
            add(kind, old=was, new=now, detail=detail, same_type=same)
            self._same_name((old.id, one.name), (new.id, another.name))
        for verb, (was, now) in self._alone(gone, came):
            add(part, old=was, new=now, detail=f"{verb} {was or now}", same_type=False)
        if _moved(pairs, old.keys, new.keys):
            same, (was, now) = self._exchangeable(old.keys, new.keys), self._lists(old.keys, new.keys)
            add(part, old=was, new=now, detail="only their order", same_type=same)

    def _alone(
        self, gone: Sequence[Item], came: Sequence[Item]
    ) -> Iterator[tuple[Literal["removed", "added"], tuple[str, str]]]:
        """The items that one query alone has, each as text on its side."""
        for item in gone:
            yield "removed", (self._old.show(item.expr), "")
        for item in came:
            yield "added", ("", self._new.show(item.expr))

    def _lists(self, old: list[Item], new: list[Item]) -> tuple[str, str]:
        return self._old.listed(item.expr for item in old), self._new.listed(item.expr for item in new)

    def _exchangeable(self, old: list[Item], new: list[Item]) -> bool | None:
        return _all([self._key_type(one.expr, other.expr) for one, other in zip(old, new, strict=True)])

    def _key_type(self, old: exp.Expr, new: exp.Expr) -> bool | None:
        """Returns True if the state takes the new key for the old one, None where that is not known. It does
        not where nulls come into a key that had none (the other way it does).
        """
        if never_null(old) and not never_null(new):
            return False
        return _same(self._old.type(old), self._new.type(new))

    def _matched(
        self, old: Operator, new: Operator, before: list[Item], after: list[Item]
    ) -> tuple[list[tuple[int, int]], list[Item], list[Item]]:
        """Pairs of places (by the new place) of items with one text, and the items without a partner on both
        sides.
        """
        texts = [self._old.text(item.expr) for item in before]
        pairs: list[tuple[int, int]] = []
        free = list(range(len(before)))
        came: list[Item] = []
        for place, item in enumerate(after):
            text = self._new.text(item.expr)
            match = next((each for each in free if texts[each] == text), None)
            if match is None:
                came.append(item)
                continue
            free.remove(match)
            pairs.append((match, place))
            self._same_name((old.id, before[match].name), (new.id, item.name))
        return pairs, [before[place] for place in free], came

    def _calls(self, old: Aggregate, new: Aggregate, place: _Place) -> None:
        feeds_state = place.feeds_state
        pairs, gone, came = self._matched(old, new, old.calls, new.calls)
        for one, another in paired_calls(gone, came):
            gone.remove(one)
            came.remove(another)
            self._call(one, another, new.step, place)
            self._same_name((old.id, one.name), (new.id, another.name))
        for verb, texts in self._alone(gone, came):
            part = ChangeKind.AGGREGATE_REMOVED if verb == "removed" else ChangeKind.AGGREGATE_ADDED
            self._add(place.part(part), new.step, *texts, feeds_state=feeds_state)
        if place.stateful and _moved(pairs, old.calls, new.calls):
            buffers = [
                (self._old.buffer(one.expr), self._new.buffer(another.expr))
                for one, another in zip(old.calls, new.calls, strict=True)
            ]
            same = _all([same_buffer(*each) for each in buffers])
            self._add(
                ChangeKind.AGGREGATE_ORDER,
                new.step,
                *self._lists(old.calls, new.calls),
                feeds_state=feeds_state,
                same_type=same,
            )

    def _call(self, old: Item, new: Item, step: str, place: _Place) -> None:
        same = same_buffer(self._old.buffer(old.expr), self._new.buffer(new.expr))
        texts = self._old.show(old.expr), self._new.show(new.expr)
        if function_of(old.expr) != function_of(new.expr):
            self._add(
                place.part(ChangeKind.AGGREGATE_CHANGED),
                step,
                *texts,
                feeds_state=place.feeds_state,
                same_type=same,
            )
            return
        where = parting(old.expr, new.expr, step)
        part = ChangeKind.AGGREGATE_ARGUMENT if where == step else ChangeKind.INPUT_OF_STATE
        self._add(place.part(part), where, *texts, feeds_state=place.feeds_state, same_type=same)

    def _order_calls(self, side: _Side) -> None:
        """Aggregates in the order of Spark's state. A plain projection above them melts into the aggregation,
        so that the order is that of the columns which come out, by the writer's order where it has one;
        otherwise it is the one in which they are written.
        """
        block = side.composed.block
        if not isinstance(block.base, Aggregate) or block.filters:
            return
        aggregate, ranks = block.base, {name: rank for rank, name in enumerate(side.writes)}
        outputs = sorted(side.composed.outputs, key=lambda each: ranks.get(each.name, len(ranks)))
        uses = [
            symbol for output in outputs for symbol in occurrences(output.expr) if symbol[0] == aggregate.id
        ]
        if len(uses) == len(set(uses)):
            first = {name: place for place, (_, name) in enumerate(uses)}
            aggregate.calls.sort(key=lambda item: first.get(item.name, len(first)))

    # Other state

    def _dedups(self, old: Dedup, new: Dedup, feeds_state: bool) -> None:
        place = _Place(stateful=old.streams or new.streams, feeds_state=feeds_state)
        self._blocks(old.input, new.input, place.below_feeds_state)
        before = {self._old.text(item.expr): item for item in old.keys}
        after = {self._new.text(item.expr): item for item in new.keys}
        gone = [item for text, item in before.items() if text not in after]
        came = [item for text, item in after.items() if text not in before]
        if gone or came or list(before) != list(after):
            changes = [f"{verb} {''.join(texts)}" for verb, texts in self._alone(gone, came)]
            detail = ", ".join(changes) or "only their order"
            same = self._exchangeable(old.keys, new.keys) if len(old.keys) == len(new.keys) else False
            part, (was, now) = place.part(ChangeKind.DEDUP), self._lists(old.keys, new.keys)
            self._add(part, new.step, was, now, feeds_state=feeds_state, detail=detail, same_type=same)

    def _joins(self, old: Join, new: Join, feeds_state: bool) -> None:
        place = _Place(stateful=old.stateful and new.stateful, feeds_state=feeds_state)
        self._blocks(old.left, new.left, place.below_feeds_state)
        self._blocks(old.right, new.right, place.below_feeds_state)
        table = "" if place.stateful else f"the join with {relations_of(new.table)}"
        if place.stateful:
            self._kept(old, new, feeds_state)
        if old.kind != new.kind:
            kinds = kind_label(old), kind_label(new)
            known, detail = (f"{kinds[0]} join", f"{kinds[1]} join"), table or f"{kinds[0]} -> {kinds[1]}"
            self._add(
                place.part(ChangeKind.JOIN_TYPE), new.step, *known, feeds_state=feeds_state, detail=detail
            )
        self._unsure(old, new, feeds_state)
        before = len(self._found)
        self._equations(old, new, place, table)
        self._rest(old, new, place, table)
        if len(self._found) == before:
            self._order_of_conditions(old, new, place, table)

    def _unsure(self, old: Join, new: Join, feeds_state: bool) -> None:
        for one, other, _ in self._parted(old.unsure, new.unsure):
            detail = "the filter above may make it an inner join"
            texts = self._conditions(one, other)
            self._add(ChangeKind.JOIN_TYPE, new.step, *texts, feeds_state=feeds_state, detail=detail)

    def _kept(self, old: Join, new: Join, feeds_state: bool) -> None:
        add = partial(self._add, step=new.step, feeds_state=feeds_state)
        for join in (old, new):
            join.kept.sort(key=lambda item: item.place)
        pairs, gone, came = self._matched(old, new, old.kept, new.kept)
        for side, name in ((0, "left"), (1, "right")):
            lost = [item for item in gone if item.place[0] == side]
            more = [item for item in came if item.place[0] == side]
            while lost and more:
                one, another = lost.pop(0), more.pop(0)
                before, after = one.expr, another.expr
                add(
                    ChangeKind.INPUT_OF_STATE,
                    step=parting(before, after, new.step),
                    old=self._old.show(before),
                    new=self._new.show(after),
                    detail=f"what the {name} side of the join keeps",
                    same_type=_same(self._old.type(before), self._new.type(after)),
                )
                self._same_name((old.id, one.name), (new.id, another.name))
            for verb, (was, now) in self._alone(lost, more):
                detail = f"{verb} {'from' if verb == 'removed' else 'to'} the {name} side"
                add(ChangeKind.JOIN_COLUMNS, old=was, new=now, detail=detail)
        if _moved(pairs, old.kept, new.kept):
            same, (was, now) = self._exchangeable(old.kept, new.kept), self._lists(old.kept, new.kept)
            add(ChangeKind.JOIN_COLUMNS, old=was, new=now, detail="only their order", same_type=same)

    def _equations(self, old: Join, new: Join, place: _Place, table: str) -> None:
        before, after = (
            [(side.text(left), side.text(right)) for left, right in join.keys]
            for side, join in ((self._old, old), (self._new, new))
        )
        if before != after:
            was, now = (
                " AND ".join(f"{side.show(left)} = {side.show(right)}" for left, right in join.keys)
                for side, join in ((self._old, old), (self._new, new))
            )
            part, same = place.part(ChangeKind.JOIN_KEYS), self._same_keys(old, new)
            feeds_state = place.feeds_state
            self._add(part, new.step, was, now, feeds_state=feeds_state, detail=table, same_type=same)

    def _same_keys(self, old: Join, new: Join) -> bool | None:
        if len(old.keys) != len(new.keys):
            return False
        return _all(
            [self._key_type(one[0], another[0]) for one, another in zip(old.keys, new.keys, strict=True)]
        )

    def _rest(self, old: Join, new: Join, place: _Place, table: str) -> None:
        for one, other, order in self._parted(old.rest, new.rest):
            part, texts = place.part(ChangeKind.JOIN_CONDITION), self._conditions(one, other)
            detail = ": ".join(filter(None, (table, order)))
            self._add(part, new.step, *texts, feeds_state=place.feeds_state, detail=detail)

    def _order_of_conditions(self, old: Join, new: Join, place: _Place, table: str) -> None:
        """Compares how the same equations stand among the same other conditions."""
        before, after = list(map(self._old.text, old.order)), list(map(self._new.text, new.order))
        if before != after:
            texts = self._old.listed(old.order, " AND "), self._new.listed(new.order, " AND ")
            part, detail = (
                place.part(ChangeKind.JOIN_KEYS),
                ": ".join(filter(None, (table, "only their order"))),
            )
            self._add(part, new.step, *texts, feeds_state=place.feeds_state, detail=detail)

    # What holds no state

    def _unions(self, old: Union, new: Union, feeds_state: bool) -> None:
        values = partial(self._add, ChangeKind.PROJECTION, new.step, feeds_state=feeds_state)
        if old.kind != new.kind:
            values(old.kind.upper(), new.kind.upper(), detail="how relations are put together")
        if len(old.inputs) != len(new.inputs):
            texts = (" and ".join(map(relations_of, one.inputs)) for one in (old, new))
            detail = "other relations are united"
            self._add(ChangeKind.SOURCES, new.step, *texts, feeds_state=feeds_state, detail=detail)
        for one, another in zip(old.inputs, new.inputs, strict=False):
            self._blocks(one, another, feeds_state)
        if old.kind != "union" and len(old.columns) != len(new.columns):
            before, after = ((each.exprs[0] for each in one.columns) for one in (old, new))
            values(self._old.listed(before), self._new.listed(after), detail="what rows are compared by")
        for column in new.columns:
            self._united(old, new, column, feeds_state)

    def _united(self, old: Union, new: Union, column: UnionColumn, feeds_state: bool) -> None:
        match = self._same_column(old, new, column.exprs)
        if match is None:
            text, detail = self._new.show(column.exprs[0]), "a column of the union"
            self._add(ChangeKind.PROJECTION, new.step, new=text, feeds_state=feeds_state, detail=detail)
            return
        self._same_name((old.id, match.name), (new.id, column.name))
        for was, now in zip(match.exprs, column.exprs, strict=False):
            if self._old.text(was) != self._new.text(now):
                where, texts = parting(was, now, new.step), (self._old.show(was), self._new.show(now))
                self._add(ChangeKind.PROJECTION, where, *texts, feeds_state=feeds_state)

    def _same_column(self, old: Union, new: Union, exprs: list[exp.Expr]) -> UnionColumn | None:
        texts = [self._new.text(expr) for expr in exprs]
        free = [column for column in old.columns if (old.id, column.name) not in self._old.names]
        same = [column for column in free if [self._old.text(expr) for expr in column.exprs] == texts]
        return same[0] if same else free[0] if free and len(old.columns) == len(new.columns) else None

    def _generated(self, old: Generate, new: Generate, feeds_state: bool) -> None:
        self._blocks(old.input, new.input, feeds_state)
        self._same_name((old.id, "*"), (new.id, "*"))
        if (self._old.text(old.call), old.outer) != (self._new.text(new.call), new.outer):
            texts = self._old.show(old.call), self._new.show(new.call)
            self._add(
                ChangeKind.PROJECTION,
                new.step,
                *texts,
                feeds_state=feeds_state,
                detail="how rows are made of one row",
            )

    def _computed(self, old: Compute, new: Compute, feeds_state: bool) -> None:
        self._blocks(old.input, new.input, feeds_state)
        _, gone, came = self._matched(old, new, old.items, new.items)
        for place in range(max(len(gone), len(came))):
            one, another = gone[place : place + 1], came[place : place + 1]
            self._add(ChangeKind.PROJECTION, new.step, *self._lists(one, another), feeds_state=feeds_state)
            if one and another:
                self._same_name((old.id, one[0].name), (new.id, another[0].name))

    # Outputs

    def _outputs(self, old: list[Output], new: list[Output]) -> None:
        before, after = _by_name(old), _by_name(new)
        for name, output in after.items():
            if name not in before:
                self._column(output.step, "added", output, "", _named(output, self._new))
                continue
            was = before[name]
            if (self._old.text(was.expr), was.without) != (self._new.text(output.expr), output.without):
                where = parting(was.expr, output.expr, output.step)
                self._column(where, "changed", output, _named(was, self._old), _named(output, self._new))
            elif was.shown != output.shown and (self._old.exact_names or self._new.exact_names):
                self._output(output.step, was.shown, output.shown, "the case of a name")
        for name, output in before.items():
            if name not in after:
                self._column(
                    new[0].step if new else output.step, "removed", output, _named(output, self._old), ""
                )
        by_name = self._old.writes and self._new.writes  # a table takes columns by their names
        if list(before) != list(after) and sorted(before) == sorted(after) and not by_name:
            texts = ", ".join(_name(each) for each in old), ", ".join(_name(each) for each in new)
            self._output(new[0].step, *texts, "only their order")

    def _output(self, step: str, old: str, new: str, detail: str, column: ColumnChange | None = None) -> None:
        self._add(ChangeKind.PROJECTION, step, old, new, feeds_state=False, detail=detail, column=column)

    def _column(
        self, step: str, kind: Literal["added", "removed", "changed"], output: Output, old: str, new: str
    ) -> None:
        name = _name(output)
        detail = f"{name} changed" if kind == "changed" else f"{kind} {name}"
        self._output(step, old, new, detail, ColumnChange(step=step, name=name, kind=kind))

    def _hints(self, old: list[Hint], new: list[Hint]) -> None:
        before, after = [each.text for each in old], [each.text for each in new]
        if before != after:
            self._add(
                ChangeKind.HINT, (new or old)[0].step, ", ".join(before), ", ".join(after), feeds_state=False
            )

    def _describe(self, operator: Operator, side: _Side) -> str:
        match operator:
            case Aggregate():
                calls = side.listed(item.expr for item in operator.calls)
                keys = side.listed(item.expr for item in operator.keys)
                if operator.distinct:
                    return f"DISTINCT {keys}"
                return f"{calls} GROUP BY {keys}".strip() if keys else calls
            case Dedup() | Sort() | Generate() | Compute():
                return side.listed(read_by(operator))
            case Join():
                return f"{kind_label(operator)} join with {relations_of(operator.table)}"
            case Limit():
                return side.show(operator.count)
            case Scan() | Union():
                return relations_of(Block(base=operator))


def _kind(operator: Operator) -> tuple[type, bool]:
    return type(operator), isinstance(operator, Join) and operator.stateful


def _stateful_alike(old: Operator, new: Operator) -> bool:
    return _kind(old) == _kind(new)


def _under(operator: Operator) -> Block | None:
    """The rows that an operator works on; None where there are several, or none."""
    match operator:
        case Scan() | Union():
            return None
        case Join():
            return None if operator.stateful else operator.input
        case _:
            return operator.input


def _kinds_below(operator: Operator) -> set[tuple[type, bool]]:
    found: set[tuple[type, bool]] = set()
    block = _under(operator)
    while block is not None:
        found.add(_kind(block.base))
        block = _under(block.base)
    return found


def _part_of(operator: Operator, stateful: ChangeKind) -> ChangeKind:
    """The kind of the difference that such an operator comes or goes."""
    match operator:
        case _ if holds_state(operator):
            return stateful
        case Limit():
            return ChangeKind.LIMIT
        case Sort():
            return ChangeKind.ORDER
        case _:
            return ChangeKind.PROJECTION


def _moved(pairs: list[tuple[int, int]], old: list[Item], new: list[Item]) -> bool:
    """Returns True if the same items stand in another order."""
    return len(pairs) == len(old) == len(new) and [one for one, _ in pairs] != list(range(len(pairs)))


def _by_name(outputs: list[Output]) -> dict[tuple[str, int], Output]:
    """By name, and by place among those of one name."""
    found: dict[tuple[str, int], Output] = {}
    for output in outputs:
        found[output.name, sum(name == output.name for name, _ in found)] = output
    return found


def _name(output: Output) -> str:
    return output.name or "a column without a name"


def _named(output: Output, side: _Side) -> str:
    text = side.show(output.expr)
    return text if output.name in ("", "*") or text == output.name else f"{text} AS {output.name}"


def _same(old: str | None, new: str | None) -> bool | None:
    return None if old is None or new is None else old == new


def _all(verdicts: list[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts else True
