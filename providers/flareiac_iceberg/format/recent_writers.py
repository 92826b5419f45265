"""The recent writers of a table, read from the summaries of main's newest snapshots, as part of a table's
identity. They move with every commit, so no plan may rely on them. Pure.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.lakehouse import ForeignCommits, QueryCommits, TableWriters, UndoneBatches
from flareiac_iceberg.format.snapshots import Commit, abandoned, commits

LOOKED_AT: Final = 200
"""Snapshots that are looked at: a stream that commits once a minute needs three hours for them."""


def writers(metadata: Attributes) -> TableWriters:
    """The writers of a table as of its metadata, with nothing as news."""
    newest = list(commits(metadata, LOOKED_AT))
    at = newest[0].at if newest else None
    return TableWriters(
        since=at,
        at=at,
        complete=not newest or newest[-1].parent is None,
        queries=_queries(newest),
        runs=_runs(newest),
        others=_others(newest),
        undone=_undone(metadata),
    )


def _undone(metadata: Attributes) -> dict[str, UndoneBatches]:
    left = [item for item in abandoned(metadata) if item.query is not None and item.batch is not None]
    if not left:
        return {}
    kept: dict[str, int] = {}
    for commit in commits(metadata):
        if commit.query is not None and commit.batch is not None:
            kept[commit.query] = max(kept.get(commit.query, commit.batch), commit.batch)
    undone_batcheses: dict[str, UndoneBatches] = {}
    for item in left:
        assert item.query is not None, "filtered above"
        assert item.batch is not None, "filtered above"
        if item.batch > kept.get(item.query, -1):
            known = undone_batcheses.get(item.query, UndoneBatches(first=item.batch, last=item.batch, rows=0))
            undone_batcheses[item.query] = UndoneBatches(
                first=min(known.first, item.batch),
                last=max(known.last, item.batch),
                rows=known.rows + (item.added or 0),
            )
    return undone_batcheses


def since(found: TableWriters, recorded: TableWriters | None) -> TableWriters:
    """The writers with what is later than the recorded snapshot as news; nothing is where it was not recorded
    who wrote until then.
    """
    return replace(found, since=(recorded or found).at)


def unacknowledged(
    found: TableWriters, recorded: TableWriters, declared: Collection[str], unknown: int
) -> bool:
    """Returns True if someone wrote since the table was recorded who may be no one's declared writer.

    ``declared``: the queries that declared writers are recorded to run or to have run; ``unknown``: how many
    more writers are declared, of each of which one query may be.
    """
    if any(found.is_news(other.at) and other.operation != "replace" for other in found.others):
        return True
    known = recorded.queries
    strange = {
        query for query, item in found.queries.items() if query not in known and found.is_news(item.at)
    }.difference(declared)
    return bool(strange) and len({*found.queries, *known}.difference(declared)) > unknown


def _queries(newest: Iterable[Commit]) -> dict[str, QueryCommits]:
    query_commitses: dict[str, QueryCommits] = {}
    for item in newest:
        if item.query is not None:
            known = query_commitses.setdefault(item.query, QueryCommits(at=item.at))
            if item.batch is not None:
                query_commitses[item.query] = _with_batch(known, item.batch, item.output)
    return query_commitses


def _with_batch(known: QueryCommits, batch: int, output: str | None) -> QueryCommits:
    epoch = batch if known.epoch is None else max(known.epoch, batch)
    if output is None:
        return replace(known, epoch=epoch)
    outputs = {**known.outputs, output: max(known.outputs.get(output, batch), batch)}
    return replace(known, epoch=epoch, outputs=outputs)


def _runs(newest: Iterable[Commit]) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in newest:
        if item.query is None and item.run is not None:
            found.setdefault(item.run, item.at)
    return found


def _others(newest: Iterable[Commit]) -> tuple[ForeignCommits, ...]:
    foreign_commitses: dict[tuple[str, str, str], ForeignCommits] = {}
    for item in newest:
        if item.is_foreign:
            first = ForeignCommits(
                engine=item.engine,
                app=item.app,
                operation=item.operation,
                count=0,
                at=item.at,
                snapshot_id=item.id,
            )
            key = (item.engine, item.app, item.operation)
            known = foreign_commitses.get(key, first)
            foreign_commitses[key] = replace(known, count=known.count + 1)
    return tuple(foreign_commitses.values())
