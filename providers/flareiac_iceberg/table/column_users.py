"""The check that the declared users of a table can live with the changes of its columns. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from flareiac.sdk.changes import Blocker, Relation, Usage, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.table.changes import Change
from flareiac_iceberg.table.column_changes import AddColumn, DropColumn, RenameColumn, SetNullability


def contradictions(
    changes: Iterable[Change], usages: Iterable[Usage], columns: Collection[str], renames: Mapping[str, str]
) -> Iterator[Blocker]:
    """One blocker for each column that goes although a declared user names it, or that a declared writer must
    give and does not.

    ``usages`` are those on this table; ``columns`` the paths that it will have;
    ``renames`` a way out by each column that goes while one like it comes.
    """
    held = [usage for usage in usages if usage.columns is not None]
    there = {path.lower() for path in columns}
    for change in changes:
        match change:
            case RenameColumn(path=path) | DropColumn(path=path) if path.lower() not in there:
                users = [usage for usage in held if path.lower() in (usage.columns or ())]
                if users:
                    yield _still_used(change, users, renames.get(path))
            case AddColumn(path=path, required=True) | SetNullability(path=path, required=True) if (
                "." not in path
            ):
                lacking = [
                    usage
                    for usage in held
                    if usage.relation is Relation.WRITES and path.lower() not in (usage.columns or ())
                ]
                if lacking:
                    yield _not_given(path, lacking)
            case _:
                pass


def _still_used(change: RenameColumn | DropColumn, users: list[Usage], rename: str | None) -> Blocker:
    verb = "renamed" if isinstance(change, RenameColumn) else "dropped"
    return blocker(
        codes.COLUMN_IN_USE,
        f"The column {change.path} cannot be {verb}: {_named(users)} still {_does(users)} it. Spark would "
        "not find it, and the job would not start again.",
        (
            *((rename,) if rename is not None else ()),
            *(_fitting(change, usage) for usage in users),
            f"keep the column {change.path}",
        ),
    )


def _fitting(change: RenameColumn | DropColumn, usage: Usage) -> str:
    place = f"in the SQL of {usage.holder} ({usage.reason})"
    match change:
        case RenameColumn(path=path, new=new) if usage.relation is Relation.WRITES:
            return f"write {path} AS {new} {place}"
        case RenameColumn(path=path, new=new):
            return f"read {new} and not {path} {place}"
        case DropColumn(path=path):
            return f"leave out {path} {place}"


def _not_given(path: str, lacking: list[Usage]) -> Blocker:
    return blocker(
        codes.REQUIRED_COLUMN_NOT_WRITTEN,
        f"{_named(lacking)} {'does' if len(lacking) == 1 else 'do'} not give the column {path}. Every row "
        "of a table needs a value in a required column, and a job that has none does not start.",
        (
            *(f"give {path} in the SQL of {usage.holder} ({usage.reason})" for usage in lacking),
            f'leave "not null" out of the type of {path}',
        ),
    )


def _named(usages: list[Usage]) -> str:
    return " and ".join(dict.fromkeys(usage.holder for usage in usages))


def _does(users: list[Usage]) -> str:
    verb = "writes" if all(usage.relation is Relation.WRITES for usage in users) else "uses"
    verb = "reads" if all(usage.relation is not Relation.WRITES for usage in users) else verb
    return verb if len({usage.holder for usage in users}) == 1 else verb.removesuffix("s")
