"""The common ground of the comparisons of all operators: both sides, and their differences."""

from collections.abc import Iterator, Sequence
from typing import Literal

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.change_kinds import ChangeKind, ColumnChange, Difference, placed
from flareiac_spark.sql.differences.matching import never_null
from flareiac_spark.sql.differences.side import Side, Written
from flareiac_spark.sql.operators import NamedExpr, Operator, Symbol


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The lists of both sides, as far as their texts match.

    ``pairs``: places of one text, the old and the new one, in the order of the new ones. ``gone`` and
    ``came`` have no partner.
    """

    pairs: list[tuple[int, int]]
    gone: list[NamedExpr]
    came: list[NamedExpr]

    @property
    def is_reordered(self) -> bool:
        """True if the same expressions stand in another order."""
        return (
            not self.gone and not self.came and [old for old, _ in self.pairs] != list(range(len(self.pairs)))
        )


class Comparison:
    """Both queries, and the differences that were found between them so far, what lies below first."""

    def __init__(self, old: Written, new: Written) -> None:
        self.old, self.new = Side(old, "old"), Side(new, "new")
        self.differences: list[Difference] = []

    def add(
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
        self.differences.append(
            Difference(
                part=placed(part, feeds_state=feeds_state),
                step=step,
                old=old,
                new=new,
                detail=detail,
                same_type=same_type,
                column=column,
            )
        )

    def same_name(self, old: Symbol, new: Symbol) -> None:
        """From here on both sides call this column the same."""
        name = f"{old[0]}.{old[1]}" if old[1] != "*" else old[0]
        self.old.names[old] = self.new.names[new] = name

    def matched(
        self, old: Operator, new: Operator, before: list[NamedExpr], after: list[NamedExpr]
    ) -> Matched:
        """Pairs the expressions of one text in two lists. Both sides call them the same from here on."""
        texts = [self.old.text(each.expr) for each in before]
        pairs: list[tuple[int, int]] = []
        free = list(range(len(before)))
        came: list[NamedExpr] = []
        for place, each in enumerate(after):
            text = self.new.text(each.expr)
            match = next((other for other in free if texts[other] == text), None)
            if match is None:
                came.append(each)
                continue
            free.remove(match)
            pairs.append((match, place))
            self.same_name((old.id, before[match].name), (new.id, each.name))
        return Matched(pairs=pairs, gone=[before[place] for place in free], came=came)

    def alone(
        self, gone: Sequence[NamedExpr], came: Sequence[NamedExpr]
    ) -> Iterator[tuple[Literal["removed", "added"], tuple[str, str]]]:
        """The expressions that one query alone has, each as text on its side."""
        for each in gone:
            yield "removed", (self.old.show(each.expr), "")
        for each in came:
            yield "added", ("", self.new.show(each.expr))

    def lists(self, old: list[NamedExpr], new: list[NamedExpr]) -> tuple[str, str]:
        """Both lists as SQL for people."""
        return self.old.listed(each.expr for each in old), self.new.listed(each.expr for each in new)

    def key_type(self, old: exp.Expr, new: exp.Expr) -> bool | None:
        """Returns True if the state takes the new key for the old one, None where that is not known. It does
        not where nulls come into a key that had none (the other way it does).
        """
        if never_null(old) and not never_null(new):
            return False
        return self.same_type(old, new)

    def same_type(self, old: exp.Expr, new: exp.Expr) -> bool | None:
        """None where a type is not known."""
        before, after = self.old.type(old), self.new.type(new)
        return None if before is None or after is None else before == after

    def exchangeable(self, old: list[NamedExpr], new: list[NamedExpr]) -> bool | None:
        """Returns True if the state takes each key for the one at its place."""
        return all_of([self.key_type(one.expr, other.expr) for one, other in zip(old, new, strict=True)])


def all_of(verdicts: list[bool | None]) -> bool | None:
    """None where no verdict is False and one is not known."""
    return False if False in verdicts else None if None in verdicts else True
