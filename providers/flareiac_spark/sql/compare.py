"""Compares the meaning of two versions of the query that feeds one output, part by part. Pure; never raises
on any text.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.change_kinds import ChangeKind, Difference
from flareiac_spark.sql.composition import CannotTell, compose
from flareiac_spark.sql.differences import Written, differences
from flareiac_spark.sql.operators import Composed, all_below, holds_state
from flareiac_spark.sql.query import Query
from flareiac_spark.sql.raw_parse import words
from flareiac_spark.sql.relations import relations
from flareiac_spark.sql.state import Stateful, stateful_steps

_MAY_HOLD_STATE: Final = re.compile(
    r"\b(group|distinct|join|union|except|intersect|limit|having)\b|\w\s*\(", re.IGNORECASE
)
_SHORT: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """``same``: no row and no state could differ. ``stateful_*``: whether the query holds state; None where
    it is not known: it cannot be read here, or both have the same texts, which are not looked into.
    """

    same: bool
    differences: tuple[Difference, ...] = ()
    stateful_before: bool | None = None
    stateful_after: bool | None = None


def compare_queries(old: Query, new: Query) -> Meaning:
    """Compares the meaning of two queries, and gives the differences.

    The same SQL over other columns is another query where one of them captures a name: each side is read with
    its own. The types of columns only tell more about what differs: that a column has another type is no
    difference here.
    """
    moved = _moved(old, new)
    if _texts(old) == _texts(new) and not moved:
        surely_none = (
            len(new.streams) < 2
            and not new.dedups
            and not any(_MAY_HOLD_STATE.search(sql) for sql in new.steps.values())
        )
        state = False if surely_none else None
        return Meaning(same=True, stateful_before=state, stateful_after=state)
    try:
        before, after = compose(old, moved), compose(new, moved)
        diffs = differences(_written(before, old), _written(after, new))
        if not diffs and _names_are_made_up(old, before) and not _same_steps(_feeding(old), _feeding(new)):
            return _by_words(
                old, new, moved, "the name that Spark makes up for a column counts, and is not known here"
            )
        return Meaning(
            same=not diffs,
            differences=diffs,
            stateful_before=_stateful(before),
            stateful_after=_stateful(after),
        )
    except CannotTell as reason:
        return _by_words(old, new, moved, str(reason))
    except RecursionError:
        return _by_words(old, new, moved, "the SQL is nested too deep to be read here")


def keeps_state(query: Query) -> bool | None:
    """Returns True where a query holds state; None where it cannot be read here."""
    try:
        return _stateful(compose(query))
    except (CannotTell, RecursionError):
        return None


def _moved(old: Query, new: Query) -> frozenset[str]:
    """The relations, in lower case, of which a side does not know the columns that the other side may not
    have.
    """
    known = [{name.lower() for name, columns in side.columns.items() if columns} for side in (old, new)]
    return frozenset(name.lower() for name in (*old.moved, *new.moved)) | (known[0] ^ known[1])


def _texts(query: Query) -> tuple[object, ...]:
    return (
        dict(query.steps),
        query.source,
        {name.lower() for name in query.streams},
        dict(query.dedups),
        dict(query.identities),
        tuple(query.table_columns),
        _names(query),
    )


def _names(query: Query) -> dict[str, list[str]]:
    """The columns of what is read, in order: a star stands for them, and a name may be captured by one of
    them.
    """
    identities = {name.lower(): identity for name, identity in query.identities.items()}
    return {
        identities.get(name.lower(), name.lower()): list(columns) for name, columns in query.columns.items()
    }


def _written(composed: Composed, query: Query) -> Written:
    columns = [name.lower() for name in query.table_columns]
    return Written(composed=composed, types=_types(query), columns=columns, exact_names=query.exact_names)


def _types(query: Query) -> Callable[[str, str], str | None]:
    known = {
        name.lower(): {column.lower(): kind for column, kind in columns.items()}
        for name, columns in query.columns.items()
    }
    known |= {
        identity: known[name.lower()] for name, identity in query.identities.items() if name.lower() in known
    }
    return lambda relation, column: known.get(relation, {}).get(column)


def _names_are_made_up(query: Query, composed: Composed) -> bool:
    """Returns True if code reads a column that is called by the text of its expression: another text of the
    same value is another name.
    """
    return query.exact_names and any(not output.name for output in composed.outputs)


def _stateful(composed: Composed) -> bool:
    return any(holds_state(operator) for operator in all_below(composed.block.base))


def _by_words(old: Query, new: Query, moved: frozenset[str], reason: str) -> Meaning:
    """The comparison by words, for queries that cannot be composed: the same words in the same steps over the
    same columns mean the same, anything else is unknown.
    """
    before, after = _feeding(old), _feeding(new)
    state = _maybe_stateful(old), _maybe_stateful(new)
    if not moved and _surroundings(old, before) == _surroundings(new, after) and _same_steps(before, after):
        return Meaning(same=True, stateful_before=state[0], stateful_after=state[1])
    step = next((name for name in after if not _same_words(before.get(name), after[name])), new.source)
    texts = _short(before.get(step, "")), _short(after.get(step, ""))
    difference = Difference(part=ChangeKind.UNKNOWN, step=step, old=texts[0], new=texts[1], detail=reason)
    return Meaning(same=False, differences=(difference,), stateful_before=state[0], stateful_after=state[1])


def _surroundings(query: Query, steps: Mapping[str, str]) -> tuple[object, ...]:
    """The facts that decide about the meaning beside the SQL."""
    dedups = {name: query.dedups[name] for name in steps if name in query.dedups}
    streams = {name.lower() for name in query.streams}
    return (
        query.source.lower(),
        streams,
        dedups,
        dict(query.identities),
        tuple(query.table_columns),
        _names(query),
    )


def _same_steps(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    return before.keys() == after.keys() and all(_same_words(before[name], after[name]) for name in after)


def _same_words(old: str | None, new: str) -> bool:
    if old is None or old == new:
        return old == new
    before, after = words(old), words(new)
    return before is not None and before == after


def _feeding(query: Query) -> dict[str, str]:
    """The steps that reach the source; all of them where one cannot be read."""
    steps = {name.lower(): name for name in query.steps}
    reached: set[str] = set()
    waiting = [query.source.lower()]
    while waiting:
        name = waiting.pop()
        if name not in steps or name in reached:
            continue
        reached.add(name)
        read = relations(query.steps[steps[name]])
        if read is None:
            return dict(query.steps)
        waiting += [each.lower() for each in read]
    return {written: query.steps[written] for name, written in steps.items() if name in reached}


def _maybe_stateful(query: Query) -> bool | None:
    steps = _feeding(query)
    if any(name in query.dedups for name in steps):
        return True
    kinds = {stateful_step.kind for stateful_step in stateful_steps(steps, query.streams)}
    return None if Stateful.UNKNOWN in kinds else bool(kinds)


def _short(sql: str) -> str:
    text = " ".join(sql.split())
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
