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
    left = [commit for commit in abandoned(metadata) if commit.query is not None and commit.batch is not None]
    if not left:
        return {}
    kept: dict[str, int] = {}
    for commit in commits(metadata):
        if commit.query is not None and commit.batch is not None:
            kept[commit.query] = max(kept.get(commit.query, commit.batch), commit.batch)
    undone_batcheses: dict[str, UndoneBatches] = {}
    for commit in left:
        assert commit.query is not None, "filtered above"
        assert commit.batch is not None, "filtered above"
        if commit.batch > kept.get(commit.query, -1):
            known = undone_batcheses.get(
                commit.query, UndoneBatches(first=commit.batch, last=commit.batch, rows=0)
            )
            undone_batcheses[commit.query] = UndoneBatches(
                first=min(known.first, commit.batch),
                last=max(known.last, commit.batch),
                rows=known.rows + (commit.added or 0),
            )
    return undone_batcheses


def since(table_writers: TableWriters, recorded: TableWriters | None) -> TableWriters:
    """The writers with what is later than the recorded snapshot as news; nothing is where it was not recorded
    who wrote until then.
    """
    return replace(table_writers, since=(recorded or table_writers).at)


def unacknowledged(
    table_writers: TableWriters, recorded: TableWriters, declared: Collection[str], unknown: int
) -> bool:
    """Returns True if someone wrote since the table was recorded who may be no one's declared writer.

    ``declared``: the queries that declared writers are recorded to run or to have run; ``unknown``: how many
    more writers are declared, of each of which one query may be.
    """
    if any(
        table_writers.is_news(other.at) and other.operation != "replace" for other in table_writers.others
    ):
        return True
    known = recorded.queries
    strange = {
        query
        for query, query_commits in table_writers.queries.items()
        if query not in known and table_writers.is_news(query_commits.at)
    }.difference(declared)
    return bool(strange) and len({*table_writers.queries, *known}.difference(declared)) > unknown


def _queries(newest: Iterable[Commit]) -> dict[str, QueryCommits]:
    query_commitses: dict[str, QueryCommits] = {}
    for commit in newest:
        if commit.query is not None:
            known = query_commitses.setdefault(commit.query, QueryCommits(at=commit.at))
            if commit.batch is not None:
                query_commitses[commit.query] = _with_batch(known, commit.batch, commit.output)
    return query_commitses


def _with_batch(known: QueryCommits, batch: int, output: str | None) -> QueryCommits:
    epoch = batch if known.epoch is None else max(known.epoch, batch)
    if output is None:
        return replace(known, epoch=epoch)
    outputs = {**known.outputs, output: max(known.outputs.get(output, batch), batch)}
    return replace(known, epoch=epoch, outputs=outputs)


def _runs(newest: Iterable[Commit]) -> dict[str, int]:
    runs: dict[str, int] = {}
    for commit in newest:
        if commit.query is None and commit.run is not None:
            runs.setdefault(commit.run, commit.at)
    return runs


def _others(newest: Iterable[Commit]) -> tuple[ForeignCommits, ...]:
    foreign_commitses: dict[tuple[str, str, str], ForeignCommits] = {}
    for commit in newest:
        if commit.is_foreign:
            first = ForeignCommits(
                engine=commit.engine,
                app=commit.app,
                operation=commit.operation,
                count=0,
                at=commit.at,
                snapshot_id=commit.id,
            )
            key = (commit.engine, commit.app, commit.operation)
            known = foreign_commitses.get(key, first)
            foreign_commitses[key] = replace(known, count=known.count + 1)
    return tuple(foreign_commitses.values())
