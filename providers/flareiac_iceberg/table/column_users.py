"""Whether the declared users of a table can live with what becomes of its columns. Pure."""

from collections.abc import Collection, Iterable, Iterator

from flareiac.sdk.changes import Blocker, Claim, Relation, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.table.changes import AddColumn, Change, DropColumn, RenameColumn, SetNullability


def contradictions(
    changes: Iterable[Change], claims: Iterable[Claim], columns: Collection[str]
) -> Iterator[Blocker]:
    """One blocker for each column that goes although a declared user names it, or that a declared writer must
    give and does not.

    ``claims`` are those on this table; ``columns`` the paths that it will have.
    """
    held = [claim for claim in claims if claim.columns is not None]
    there = {path.lower() for path in columns}
    for change in changes:
        match change:
            case RenameColumn(path=path) | DropColumn(path=path) if path.lower() not in there:
                users = [claim for claim in held if path.lower() in (claim.columns or ())]
                if users:
                    yield _still_used(change, users)
            case AddColumn(path=path, required=True) | SetNullability(path=path, required=True) if (
                "." not in path
            ):
                lacking = [
                    claim
                    for claim in held
                    if claim.relation is Relation.WRITES and path.lower() not in (claim.columns or ())
                ]
                if lacking:
                    yield _not_given(path, lacking)
            case _:
                pass


def _still_used(change: RenameColumn | DropColumn, users: list[Claim]) -> Blocker:
    verb = "renamed" if isinstance(change, RenameColumn) else "dropped"
    return blocker(
        codes.COLUMN_IN_USE,
        f"The column {change.path} cannot be {verb}: {_named(users)} still {_does(users)} it. Spark would "
        "not find it, and the job would not start again.",
        (*(_fitting(change, claim) for claim in users), f"keep the column {change.path}"),
    )


def _fitting(change: RenameColumn | DropColumn, claim: Claim) -> str:
    place = f"in the SQL of {claim.holder} ({claim.reason})"
    match change:
        case RenameColumn(path=path, new=new) if claim.relation is Relation.WRITES:
            return f"write {path} AS {new} {place}"
        case RenameColumn(path=path, new=new):
            return f"read {new} and not {path} {place}"
        case DropColumn(path=path):
            return f"leave out {path} {place}"


def _not_given(path: str, lacking: list[Claim]) -> Blocker:
    return blocker(
        codes.REQUIRED_COLUMN_NOT_WRITTEN,
        f"{_named(lacking)} {'does' if len(lacking) == 1 else 'do'} not give the column {path}. Every row "
        "of a table needs a value in a required column, and a job that has none does not start.",
        (
            *(f"give {path} in the SQL of {claim.holder} ({claim.reason})" for claim in lacking),
            f'leave "not null" out of the type of {path}',
        ),
    )


def _named(claims: list[Claim]) -> str:
    return " and ".join(dict.fromkeys(claim.holder for claim in claims))


def _does(users: list[Claim]) -> str:
    verb = "writes" if all(claim.relation is Relation.WRITES for claim in users) else "uses"
    verb = "reads" if all(claim.relation is not Relation.WRITES for claim in users) else verb
    return verb if len({claim.holder for claim in users}) == 1 else verb.removesuffix("s")
