"""What differs between two composed queries, operator by operator?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Composed,
    Compute,
    Condition,
    Dedup,
    Generate,
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
)
from flareiac_spark.sql.pairing import (
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
from flareiac_spark.sql.parts import Difference, Part
from flareiac_spark.sql.shown import shown
from flareiac_spark.sql.spelling import spell
from flareiac_spark.sql.value_types import buffer_of, same_buffer, type_of
from flareiac_spark.sql.wording import called, kind_called, relations_of

if TYPE_CHECKING:
    from sqlglot import exp

Types = Callable[[str, str], str | None]
"""The type of a column, given the relation and the column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Written:
    """A query with the types of what it reads, and the order in which the writer takes its columns (empty: as they come)."""

    composed: Composed
    types: Types
    columns: Sequence[str]


def differences(old: Written, new: Written) -> tuple[Difference, ...]:
    """Every difference, what lies below first. None at all: no row and no state could differ."""
    return tuple(_Differ(old, new).all())


class _Side:
    """One of the two queries, with what its columns are called in the comparison."""

    def __init__(self, written: "Written", mark: str) -> None:
        self.composed, self.writes, self._types, self._mark = written.composed, written.columns, written.types, mark
        self.names: dict[Symbol, str] = {}
        self.meanings: dict[Symbol, exp.Expr] = {}
        """Of the columns of an operator that the other query has not."""

    def text(self, expr: "exp.Expr") -> str:
        return spell(expr, self._named)

    def _named(self, giver: str, name: str) -> str:
        if (known := self.names.get((giver, name))) is not None:
            return known
        if (meaning := self.meanings.get((giver, name))) is not None:
            return self.text(meaning)
        return f"{self.names.get((giver, '*'), self._mark + giver)}.{name}"

    def show(self, expr: "exp.Expr") -> str:
        return shown(expr, self.composed)

    def buffer(self, call: "exp.Expr") -> tuple[str, ...] | None:
        return buffer_of(call, self._type)

    def type(self, expr: "exp.Expr") -> str | None:
        return type_of(expr, self._type)

    def _type(self, giver: str, name: str) -> str | None:
        operator = self.composed.operators.get(giver)
        match operator:
            case Scan():
                return self._types(operator.relation, name)
            case Aggregate():
                return next((self.type(item.expr) for item in (*operator.keys, *operator.calls) if item.name == name), None)
            case Join():
                return next((self.type(item.expr) for item in operator.kept if item.name == name), None)
            case Union():
                types = [{self.type(expr) for expr in column.exprs} for column in operator.columns if column.name == name]
                return types[0].pop() if types and len(types[0]) == 1 else None
            case _:
                return None


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
        return self._found

    def _add(self, part: Part, step: str, old: str = "", new: str = "", detail: str = "", same_type: bool | None = None) -> None:
        self._found.append(Difference(part=part, step=step, old=old, new=new, detail=detail, same_type=same_type))

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
        """Another operator at this place: the one that the other query has not is added or removed, and what is below goes on."""
        gone, came = _under(old.base), _under(new.base)
        if gone is not None and (
            came is None or _kind(new.base) in _kinds_below(old.base) or _kind(old.base) not in _kinds_below(new.base)
        ):
            both = came is not None and _kind(new.base) not in _kinds_below(old.base)
            self._report_gone(old.base, feeds_state)
            merged = Block(base=gone.base, filters=[*gone.filters, *self._still_said(old, self._old)])
            if not both:
                self._blocks(merged, new, feeds_state)
                return
            old, gone = merged, None
        if came is not None:
            self._report_came(new.base, feeds_state)
            merged = Block(base=came.base, filters=[*came.filters, *self._still_said(new, self._new)])
            self._blocks(old, merged, feeds_state or holds_state(new.base))
            return
        self._other_leaves(old, new)

    def _still_said(self, block: Block, side: _Side) -> list[Condition]:
        """The filters above an operator that only one side has, its grouping keys named as what they are made of."""
        if isinstance(block.base, Aggregate):
            side.meanings |= {(block.base.id, item.name): item.expr for item in block.base.keys}
        return block.filters

    def _report_gone(self, operator: Operator, feeds_state: bool) -> None:
        part = _part_of(operator, Part.STATE_REMOVED, feeds_state)
        self._add(part, operator.step, old=self._told(operator, self._old), detail=f"removed {called(operator)}")

    def _report_came(self, operator: Operator, feeds_state: bool) -> None:
        part = _part_of(operator, Part.STATE_ADDED, feeds_state)
        self._add(part, operator.step, new=self._told(operator, self._new), detail=f"added {called(operator)}")

    def _other_leaves(self, old: Block, new: Block) -> None:
        if holds_state(old.base) and not holds_state(new.base):
            self._report_gone(old.base, False)
        elif holds_state(new.base) and not holds_state(old.base):
            self._report_came(new.base, False)
        self._add(Part.SOURCES, new.base.step, old=relations_of(old), new=relations_of(new), detail="another set of relations is read")

    def _filters(self, old: list[Condition], new: list[Condition], feeds_state: bool) -> None:
        before = [self._old.text(condition.expr) for condition in old]
        after = [self._new.text(condition.expr) for condition in new]
        gone = [condition for condition, text in zip(old, before, strict=True) if text not in after]
        came = [condition for condition, text in zip(new, after, strict=True) if text not in before]
        part = Part.FILTER_BEFORE_STATE if feeds_state else Part.FILTER
        for place in range(max(len(gone), len(came))):
            one, other = gone[place : place + 1], came[place : place + 1]
            last = (other or one)[0]
            detail = "Spark applies it before the state" if feeds_state and last.moved else ""
            self._add(part, last.step, old=_each(one, self._old), new=_each(other, self._new), detail=detail)

    # Operators

    def _operators(self, old: Operator, new: Operator, feeds_state: bool) -> None:
        match old, new:
            case Scan(), Scan():
                self._scans(old, new)
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
                    self._add(Part.LIMIT, new.step, old=self._old.show(old.count), new=self._new.show(new.count), same_type=True)
            case Sort(), Sort():
                self._blocks(old.input, new.input, feeds_state)
                self._listed(Part.ORDER, new.step, old.keys, new.keys)
            case Generate(), Generate():
                self._generated(old, new, feeds_state)
            case Compute(), Compute():
                self._computed(old, new, feeds_state)
            case _:
                raise AssertionError("operators of one kind are compared")

    def _scans(self, old: Scan, new: Scan) -> None:
        self._same_name((old.id, "*"), (new.id, "*"))
        if old.relation != new.relation or old.streams != new.streams:
            detail = "" if old.streams == new.streams else "no longer streamed" if old.streams else "now streamed"
            self._add(Part.SOURCES, new.step, old=old.relation, new=new.relation, detail=detail)

    def _listed(self, part: Part, step: str, old: "Sequence[exp.Expr]", new: "Sequence[exp.Expr]", detail: str = "") -> None:
        before, after = [self._old.text(expr) for expr in old], [self._new.text(expr) for expr in new]
        if before != after:
            told = ", ".join(self._old.show(expr) for expr in old), ", ".join(self._new.show(expr) for expr in new)
            order = "only their order" if sorted(before) == sorted(after) else detail
            self._add(part, step, old=told[0], new=told[1], detail=order)

    # Aggregations

    def _aggregates(self, old: Aggregate, new: Aggregate, feeds_state: bool) -> None:
        stateful = old.streams or new.streams
        self._blocks(old.input, new.input, feeds_state or stateful)
        other = None if stateful else _without_state(feeds_state)
        self._keys(old, new, other)
        if old.sets != new.sets:
            self._add(
                other or Part.GROUPING_KEYS, new.step, old=old.sets and "grouping sets", new=new.sets and "grouping sets", same_type=False
            )
        self._calls(old, new, other)

    def _keys(self, old: Aggregate, new: Aggregate, other: Part | None) -> None:
        part = other or (Part.DEDUP if old.distinct and new.distinct else Part.GROUPING_KEYS)
        pairs, gone, came = self._matched(old, new, old.keys, new.keys)
        for one, another in paired_keys(gone, came):
            gone.remove(one)
            came.remove(another)
            window = is_window(one.expr) and is_window(another.expr)
            detail = f"{self._old.show(one.expr)} -> {self._new.show(another.expr)}"
            told = self._old.show(one.expr), self._new.show(another.expr)
            kind = (other or Part.WINDOW) if window else part
            types = same_window(one.expr, another.expr) if window else self._key_type(one.expr, another.expr)
            self._add(kind, new.step, *told, detail=window_change(one.expr, another.expr) if window else detail, same_type=types)
            self._same_name((old.id, one.name), (new.id, another.name))
        for item in gone:
            self._add(part, new.step, old=self._old.show(item.expr), detail=f"removed {self._old.show(item.expr)}", same_type=False)
        for item in came:
            self._add(part, new.step, new=self._new.show(item.expr), detail=f"added {self._new.show(item.expr)}", same_type=False)
        if len(pairs) == len(old.keys) == len(new.keys) and [one for one, _ in pairs] != list(range(len(pairs))):
            told = ", ".join(self._old.show(item.expr) for item in old.keys), ", ".join(self._new.show(item.expr) for item in new.keys)
            self._add(part, new.step, *told, detail="only their order", same_type=self._exchangeable(old.keys, new.keys))

    def _exchangeable(self, old: list[Item], new: list[Item]) -> bool | None:
        return _all([self._key_type(one.expr, other.expr) for one, other in zip(old, new, strict=True)])

    def _key_type(self, old: "exp.Expr", new: "exp.Expr") -> bool | None:
        """Whether the state takes the new key for the old one. It does not where nulls come into what had none (the other way it does)."""
        if never_null(old) and not never_null(new):
            return False
        return _same(self._old.type(old), self._new.type(new))

    def _matched(
        self, old: Operator, new: Operator, before: list[Item], after: list[Item]
    ) -> tuple[list[tuple[int, int]], list[Item], list[Item]]:
        """Pairs of places (by the new place) of items with one text, and the items without a partner on both sides."""
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

    def _calls(self, old: Aggregate, new: Aggregate, other: Part | None) -> None:
        pairs, gone, came = self._matched(old, new, old.calls, new.calls)
        for one, another in paired_calls(gone, came):
            gone.remove(one)
            came.remove(another)
            self._call(one, another, new.step, other)
            self._same_name((old.id, one.name), (new.id, another.name))
        for item in gone:
            self._add(other or Part.AGGREGATE_REMOVED, new.step, old=self._old.show(item.expr))
        for item in came:
            self._add(other or Part.AGGREGATE_ADDED, new.step, new=self._new.show(item.expr))
        if other is None and len(pairs) == len(old.calls) == len(new.calls) and [one for one, _ in pairs] != list(range(len(pairs))):
            told = ", ".join(self._old.show(item.expr) for item in old.calls), ", ".join(self._new.show(item.expr) for item in new.calls)
            buffers = [
                (self._old.buffer(one.expr), self._new.buffer(another.expr)) for one, another in zip(old.calls, new.calls, strict=True)
            ]
            self._add(Part.AGGREGATE_ORDER, new.step, *told, same_type=_all([same_buffer(*each) for each in buffers]))

    def _call(self, old: Item, new: Item, step: str, other: Part | None) -> None:
        same = same_buffer(self._old.buffer(old.expr), self._new.buffer(new.expr))
        told = self._old.show(old.expr), self._new.show(new.expr)
        if function_of(old.expr) != function_of(new.expr):
            self._add(other or Part.AGGREGATE_CHANGED, step, *told, same_type=same)
            return
        where = parting(old.expr, new.expr, step)
        part = Part.AGGREGATE_ARGUMENT if where == step else Part.INPUT_OF_STATE
        self._add(other or part, where, *told, same_type=same)

    def _order_calls(self, side: _Side) -> None:
        """Aggregates in the order of Spark's state. A plain projection above them melts into the aggregation, so that the order is that of
        the columns which come out, by the writer's order where it has one; otherwise it is the one in which they are written."""
        block = side.composed.block
        if not isinstance(block.base, Aggregate) or block.filters:
            return
        aggregate, ranks = block.base, {name: rank for rank, name in enumerate(side.writes)}
        outputs = sorted(side.composed.outputs, key=lambda each: ranks.get(each.name, len(ranks)))
        uses = [symbol for output in outputs for symbol in occurrences(output.expr) if symbol[0] == aggregate.id]
        if len(uses) == len(set(uses)):
            first = {name: place for place, (_, name) in enumerate(uses)}
            aggregate.calls.sort(key=lambda item: first.get(item.name, len(first)))

    # Other state

    def _dedups(self, old: Dedup, new: Dedup, feeds_state: bool) -> None:
        stateful = old.streams or new.streams
        self._blocks(old.input, new.input, feeds_state or stateful)
        part = Part.DEDUP if stateful else _without_state(feeds_state)
        before = {self._old.text(item.expr): item for item in old.keys}
        after = {self._new.text(item.expr): item for item in new.keys}
        gone = [item for text, item in before.items() if text not in after]
        came = [item for text, item in after.items() if text not in before]
        if gone or came or list(before) != list(after):
            told = ", ".join(self._old.show(item.expr) for item in old.keys), ", ".join(self._new.show(item.expr) for item in new.keys)
            changes = [f"removed {self._old.show(item.expr)}" for item in gone] + [f"added {self._new.show(item.expr)}" for item in came]
            same = self._exchangeable(old.keys, new.keys) if len(old.keys) == len(new.keys) else False
            self._add(part, new.step, *told, detail=", ".join(changes) or "only their order", same_type=same)

    def _joins(self, old: Join, new: Join, feeds_state: bool) -> None:
        stateful = old.stateful and new.stateful
        self._blocks(old.left, new.left, feeds_state or stateful)
        self._blocks(old.right, new.right, feeds_state or stateful)
        other = None if stateful else _without_state(feeds_state)
        table = "" if stateful else f"the join with {relations_of(new.table)}"
        if stateful:
            self._kept(old, new)
        if old.kind != new.kind:
            kinds = kind_called(old), kind_called(new)
            detail = table or f"{kinds[0]} -> {kinds[1]}"
            self._add(other or Part.JOIN_TYPE, new.step, old=f"{kinds[0]} join", new=f"{kinds[1]} join", detail=detail)
        unsure = [
            condition
            for condition in new.unsure
            if self._new.text(condition.expr) not in [self._old.text(each.expr) for each in old.unsure]
        ]
        lost = [
            condition
            for condition in old.unsure
            if self._old.text(condition.expr) not in [self._new.text(each.expr) for each in new.unsure]
        ]
        if unsure or lost:
            detail = "the filter above may make it an inner join"
            told = _each(lost, self._old), _each(unsure, self._new)
            self._add(Part.JOIN_TYPE, new.step, *told, detail=detail)
        self._equations(old, new, other, table)
        self._rest(old, new, other, table)

    def _kept(self, old: Join, new: Join) -> None:
        for join in (old, new):
            join.kept.sort(key=lambda item: item.place)
        pairs, gone, came = self._matched(old, new, old.kept, new.kept)
        for side, name in ((0, "left"), (1, "right")):
            lost = [item for item in gone if item.place[0] == side]
            more = [item for item in came if item.place[0] == side]
            while lost and more:
                one, another = lost.pop(0), more.pop(0)
                where = parting(one.expr, another.expr, new.step)
                told = self._old.show(one.expr), self._new.show(another.expr)
                same = _same(self._old.type(one.expr), self._new.type(another.expr))
                self._add(Part.INPUT_OF_STATE, where, *told, detail=f"what the {name} side of the join keeps", same_type=same)
                self._same_name((old.id, one.name), (new.id, another.name))
            for item in lost:
                self._add(Part.JOIN_COLUMNS, new.step, old=self._old.show(item.expr), detail=f"removed from the {name} side")
            for item in more:
                self._add(Part.JOIN_COLUMNS, new.step, new=self._new.show(item.expr), detail=f"added to the {name} side")
        if len(pairs) == len(old.kept) == len(new.kept) and [one for one, _ in pairs] != list(range(len(pairs))):
            told = ", ".join(self._old.show(item.expr) for item in old.kept), ", ".join(self._new.show(item.expr) for item in new.kept)
            same = self._exchangeable(old.kept, new.kept)
            self._add(Part.JOIN_COLUMNS, new.step, *told, detail="only their order", same_type=same)

    def _equations(self, old: Join, new: Join, other: Part | None, table: str) -> None:
        before = sorted({f"{self._old.text(left)} = {self._old.text(right)}" for left, right in old.keys})
        after = sorted({f"{self._new.text(left)} = {self._new.text(right)}" for left, right in new.keys})
        if before != after:
            told = tuple(
                " AND ".join(f"{side.show(left)} = {side.show(right)}" for left, right in join.keys)
                for side, join in ((self._old, old), (self._new, new))
            )
            same = self._same_keys(old, new)
            self._add(other or Part.JOIN_KEYS, new.step, told[0], told[1], detail=table, same_type=same)

    def _same_keys(self, old: Join, new: Join) -> bool | None:
        if len(old.keys) != len(new.keys):
            return False
        return _all([self._key_type(one[0], another[0]) for one, another in zip(old.keys, new.keys, strict=True)])

    def _rest(self, old: Join, new: Join, other: Part | None, table: str) -> None:
        before = {self._old.text(each.expr) for each in old.rest}
        after = {self._new.text(each.expr) for each in new.rest}
        gone = [each for each in old.rest if self._old.text(each.expr) not in after]
        came = [each for each in new.rest if self._new.text(each.expr) not in before]
        if gone or came:
            told = _each(gone, self._old), _each(came, self._new)
            self._add(other or Part.JOIN_CONDITION, new.step, *told, detail=table)

    # What holds no state

    def _unions(self, old: Union, new: Union, feeds_state: bool) -> None:
        if old.kind != new.kind or len(old.inputs) != len(new.inputs):
            told = " and ".join(relations_of(block) for block in old.inputs), " and ".join(relations_of(block) for block in new.inputs)
            self._add(Part.SOURCES, new.step, *told, detail="other relations are united")
        for one, another in zip(old.inputs, new.inputs, strict=False):
            self._blocks(one, another, feeds_state)
        for column in new.columns:
            match = self._same_column(old, new, column.exprs)
            if match is None:
                self._add(_without_state(feeds_state), new.step, new=self._new.show(column.exprs[0]), detail="a column of the union")
                continue
            self._same_name((old.id, match.name), (new.id, column.name))
            for was, now in zip(match.exprs, column.exprs, strict=False):
                if self._old.text(was) != self._new.text(now):
                    self._add(_without_state(feeds_state), parting(was, now, new.step), self._old.show(was), self._new.show(now))

    def _same_column(self, old: Union, new: Union, exprs: "list[exp.Expr]") -> UnionColumn | None:
        texts = [self._new.text(expr) for expr in exprs]
        free = [column for column in old.columns if (old.id, column.name) not in self._old.names]
        same = [column for column in free if [self._old.text(expr) for expr in column.exprs] == texts]
        return same[0] if same else free[0] if free and len(old.columns) == len(new.columns) else None

    def _generated(self, old: Generate, new: Generate, feeds_state: bool) -> None:
        self._blocks(old.input, new.input, feeds_state)
        self._same_name((old.id, "*"), (new.id, "*"))
        if (self._old.text(old.call), old.outer) != (self._new.text(new.call), new.outer):
            told = self._old.show(old.call), self._new.show(new.call)
            self._add(_without_state(feeds_state), new.step, *told, detail="how rows are made of one row")

    def _computed(self, old: Compute, new: Compute, feeds_state: bool) -> None:
        self._blocks(old.input, new.input, feeds_state)
        _, gone, came = self._matched(old, new, old.items, new.items)
        for place in range(max(len(gone), len(came))):
            one, another = gone[place : place + 1], came[place : place + 1]
            self._add(_without_state(feeds_state), new.step, _each(one, self._old), _each(another, self._new))
            if one and another:
                self._same_name((old.id, one[0].name), (new.id, another[0].name))

    # Outputs

    def _outputs(self, old: list[Output], new: list[Output]) -> None:
        before, after = {each.name: each for each in old}, {each.name: each for each in new}
        for name, output in after.items():
            if name not in before:
                self._add(Part.PROJECTION, output.step, new=_named(output, self._new), detail=f"added {_name(output)}")
                continue
            was = before[name]
            if (self._old.text(was.expr), was.without) != (self._new.text(output.expr), output.without):
                where = parting(was.expr, output.expr, output.step)
                self._add(Part.PROJECTION, where, _named(was, self._old), _named(output, self._new), detail=f"{_name(output)} changed")
        for name, output in before.items():
            if name not in after:
                self._add(
                    Part.PROJECTION, new[0].step if new else output.step, old=_named(output, self._old), detail=f"removed {_name(output)}"
                )
        if [each.name for each in old] != [each.name for each in new] and sorted(each.name for each in old) == sorted(
            each.name for each in new
        ):
            told = ", ".join(_name(each) for each in old), ", ".join(_name(each) for each in new)
            self._add(Part.PROJECTION, new[0].step, *told, detail="only their order")

    def _told(self, operator: Operator, side: _Side) -> str:
        match operator:
            case Aggregate():
                calls = ", ".join(side.show(item.expr) for item in operator.calls)
                keys = ", ".join(side.show(item.expr) for item in operator.keys)
                return f"DISTINCT {keys}" if operator.distinct else f"{calls} GROUP BY {keys}".strip() if keys else calls
            case Dedup():
                return ", ".join(side.show(item.expr) for item in operator.keys)
            case Join():
                return f"{kind_called(operator)} join with {relations_of(operator.table)}"
            case Limit():
                return side.show(operator.count)
            case Sort():
                return ", ".join(side.show(key) for key in operator.keys)
            case Generate():
                return side.show(operator.call)
            case Compute():
                return ", ".join(side.show(item.expr) for item in operator.items)
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


def _without_state(feeds_state: bool) -> Part:
    return Part.INPUT_OF_STATE if feeds_state else Part.PROJECTION


def _part_of(operator: Operator, stateful: Part, feeds_state: bool) -> Part:
    match operator:
        case Limit() if not holds_state(operator):
            return Part.LIMIT
        case Sort():
            return Part.ORDER
        case _:
            return stateful if holds_state(operator) else _without_state(feeds_state)


def _each(items: "Sequence[Condition | Item]", side: _Side) -> str:
    return " AND ".join(side.show(item.expr) for item in items)


def _name(output: Output) -> str:
    return output.name or "a column without a name"


def _named(output: Output, side: _Side) -> str:
    text = side.show(output.expr)
    return text if output.name in ("", "*") or text == output.name else f"{text} AS {output.name}"


def _same(old: str | None, new: str | None) -> bool | None:
    return None if old is None or new is None else old == new


def _all(verdicts: list[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts else True
