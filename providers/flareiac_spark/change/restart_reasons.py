"""The reason that a job restarts, as one clause. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from flareiac_spark.change.changes import Restart, ResultsChange
from flareiac_spark.sql.change_kinds import ColumnChange


def restart_reason(restarts: Sequence[Restart | ResultsChange]) -> str:
    """``step clean writes town instead of city; a filter of step clean changed``."""
    columns = [
        change.column for change in restarts if isinstance(change, Restart) and change.column is not None
    ]
    rest = dict.fromkeys(
        change.text for change in restarts if not (isinstance(change, Restart) and change.column is not None)
    )
    clauses = [
        _of_step(step, [column for column in columns if column.step == step])
        for step in dict.fromkeys(c.step for c in columns)
    ]
    return "; ".join([*clauses, *([f"{', '.join(rest)} changed"] if rest else [])])


def _of_step(step: str, columns: Sequence[ColumnChange]) -> str:
    added, removed, changed = (_names(columns, kind) for kind in ("added", "removed", "changed"))
    return f"step {step} {' and '.join(_verbs(added, removed, changed))}"


def _verbs(added: str, removed: str, changed: str) -> Iterator[str]:
    if added and removed:
        yield f"writes {added} instead of {removed}"
    elif added:
        yield f"writes {added} too"
    elif removed:
        yield f"no longer writes {removed}"
    if changed:
        yield f"computes {changed} differently"


def _names(columns: Iterable[ColumnChange], kind: str) -> str:
    return ", ".join(dict.fromkeys(column.name for column in columns if column.kind == kind))
