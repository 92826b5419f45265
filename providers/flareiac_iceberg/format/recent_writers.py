"""Who wrote a table recently, read from the summaries of main's newest snapshots, as part of a table's
identity. Pure.

    {"since": ms | None, "at": ms | None, "complete": bool,
     "queries": {query id: {"epoch": n | None, "at": ms, "outputs": {label: n}}},
     "undone": {query id: {"first": n, "last": n, "rows": n}},
     "runs": {run id: ms},
     "others": [{"engine": text, "app": text, "operation": text, "count": n, "at": ms, "snapshot_id": n}]}

``since`` is the time of the newest snapshot when the table was last recorded: what is later is news.
``others`` carry no mark at all. ``undone`` are batches later than those of main whose snapshots no branch or
tag descends from: the table was rolled back under their query. It moves with every commit, so no plan may
rely on it.
"""

from collections.abc import Collection, Iterable
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.snapshots import Commit, abandoned, commits

KEY: Final = "writers"
LOOKED_AT: Final = 200
"""Snapshots that are looked at: a stream that commits once a minute needs three hours for them."""


def writers(metadata: Attributes) -> Attributes:
    """The writers of a table as of its metadata, with nothing as news."""
    newest = list(commits(metadata, LOOKED_AT))
    at = newest[0].at if newest else None
    complete = not newest or newest[-1].parent is None
    return {"since": at, "at": at, "complete": complete, **_by_kind(newest), "undone": _undone(metadata)}


def _undone(metadata: Attributes) -> Attributes:
    left = [item for item in abandoned(metadata) if item.query is not None and item.batch is not None]
    if not left:
        return {}
    kept: dict[str, int] = {}
    for item in commits(metadata):
        if item.query is not None and item.batch is not None:
            kept[item.query] = max(kept.get(item.query, item.batch), item.batch)
    found: dict[str, Attributes] = {}
    for item in left:
        assert item.query is not None, "filtered above"
        assert item.batch is not None, "filtered above"
        if item.batch > kept.get(item.query, -1):
            known = found.setdefault(item.query, {"first": item.batch, "last": item.batch, "rows": 0})
            known["first"], known["last"] = min(known["first"], item.batch), max(known["last"], item.batch)
            known["rows"] += item.added or 0
    return found


def since(identity: Attributes, recorded: Attributes | None) -> Attributes:
    """The identity with what is later than the recorded snapshot as news; nothing is where it was not
    recorded who wrote until then.
    """
    found: Attributes | None = identity.get(KEY)
    if found is None:
        return identity
    before: Attributes = (recorded or {}).get(KEY) or found
    return {**identity, KEY: {**found, "since": before["at"]}}


def unacknowledged(
    identity: Attributes, recorded: Attributes, declared: Collection[str], unknown: int
) -> bool:
    """Whether someone wrote since the table was recorded who may be no one's declared writer.

    ``declared``: the queries that declared writers are recorded to run or to have run; ``unknown``: how many
    more writers are declared, of each of which one query may be.
    """
    found, before = identity.get(KEY) or {}, recorded.get(KEY) or {}
    since_then = found.get("since") or 0
    if any(item["at"] > since_then and item["operation"] != "replace" for item in found.get("others") or ()):
        return True
    queries, known = found.get("queries") or {}, before.get("queries") or {}
    strange = {
        query for query, item in queries.items() if query not in known and item["at"] > since_then
    }.difference(declared)
    return bool(strange) and len({*queries, *known}.difference(declared)) > unknown


def _by_kind(newest: Iterable[Commit]) -> Attributes:
    queries: dict[str, Attributes] = {}
    runs: dict[str, int] = {}
    others: dict[tuple[str, str, str], Attributes] = {}
    for item in newest:
        if item.query is not None:
            _add_query(queries.setdefault(item.query, {"epoch": None, "at": item.at, "outputs": {}}), item)
        elif item.run is not None:
            runs.setdefault(item.run, item.at)
        elif item.is_foreign:
            first = {
                "engine": item.engine,
                "app": item.app,
                "operation": item.operation,
                "count": 0,
                "at": item.at,
                "snapshot_id": item.id,
            }
            known = others.setdefault((item.engine, item.app, item.operation), first)
            known["count"] += 1
    return {"queries": queries, "runs": runs, "others": list(others.values())}


def _add_query(known: Attributes, item: Commit) -> None:
    if item.batch is None:
        return
    known["epoch"] = item.batch if known["epoch"] is None else max(known["epoch"], item.batch)
    if item.output is not None:
        known["outputs"][item.output] = max(known["outputs"].get(item.output, item.batch), item.batch)
