"""What a job reads, writes and keeps to itself."""

from typing import Final

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.changes import Claim, Conflict, Relation, Sharing
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.definition.canonical import is_finite
from flareiac_spark.definition.column_usage import columns_by_relation, columns_read

_SHARING: Final = {
    "complete": Sharing.REPLACES,
    "overwrite": Sharing.REPLACES,
    "overwrite_partitions": Sharing.CHANGES,
    "merge": Sharing.CHANGES,
}
"""By output mode. Iceberg writes ``complete`` as an overwrite of the whole table with each micro-batch."""
_SAME_CHECKPOINT: Final = Conflict(
    code=codes.SAME_CHECKPOINT,
    what="use the same checkpoint",
    way_out=(
        "A checkpoint holds the offsets and state of one job; two jobs would corrupt it. Declare a "
        "checkpoint block for each job."
    ),
)


def claims(address: str, attributes: Attributes, references: References) -> tuple[Claim, ...]:
    """The tables of its inputs and outputs, and its checkpoint's location."""
    found: list[Claim] = []
    given = columns_by_relation(attributes, references)
    recorded = references.get(address)
    queries = queries_recorded(attributes, recorded.identity if recorded else {})
    for name, item in attributes["inputs"].items():
        match item:
            case {"kind": "stream", "source": {"kind": "table", "table": Reference(table)} as source}:
                tolerates = tuple(kind for kind in ("deletes", "overwrites") if source[f"skip_{kind}"])
                found.append(_reads(address, attributes, name, table, Relation.STREAMS_FROM, tolerates))
            case {"kind": "table", "table": Reference(table)}:
                found.append(_reads(address, attributes, name, table, Relation.LOOKS_UP, ()))
            case _:
                pass
    for name, output in attributes["outputs"].items():
        if isinstance(output["table"], Reference):
            found.append(
                Claim(
                    subject=output["table"].address,
                    holder=address,
                    relation=Relation.WRITES,
                    reason=f"output {name}",
                    completes=is_finite(attributes)
                    and attributes["run"] != "manual"
                    and not attributes["stopped"],
                    tolerates=("added columns",) if _takes_added_columns(attributes, output) else (),
                    columns=given.get(output["from"].lower()),
                    part=output["branch"],
                    sharing=_SHARING.get(output["mode"], Sharing.ADDS),
                    mode=output["mode"],
                    queries=queries,
                )
            )
    if attributes["checkpoint_location"] is not None:
        location = attributes["checkpoint_location"]
        found.append(
            Claim(
                subject=location,
                holder=address,
                relation=Relation.HOLDS_ALONE,
                reason="Both keep their offsets there.",
                conflict=_SAME_CHECKPOINT,
            )
        )
    return tuple(found)


def queries_recorded(attributes: Attributes, identity: Attributes) -> tuple[str, ...] | None:
    """The queries that a job is recorded to run or to have run: none of a batch, None where its present ones
    are not recorded.
    """
    if attributes["mode"] == "batch":
        return ()
    current = [query.get("id") for query in (identity.get("queries") or {}).values()]
    if not current or None in current:
        return None
    return tuple(dict.fromkeys((*current, *(identity.get("former_queries") or ()))))


def _reads(
    address: str,
    attributes: Attributes,
    name: str,
    table: str,
    relation: Relation,
    tolerates: tuple[str, ...],
) -> Claim:
    columns = columns_read(attributes, name)
    return Claim(
        subject=table,
        holder=address,
        relation=relation,
        reason=f"input {name}",
        tolerates=tolerates,
        columns=columns,
    )


def _takes_added_columns(attributes: Attributes, output: Attributes) -> bool:
    """Iceberg's streaming writer leaves out what the table has and the query has not; a batch must give every
    column.
    """
    streamed = attributes["mode"] == "stream" and output["mode"] in ("append", "complete")
    return is_finite(attributes) or (
        streamed and output["branch"] is None and not attributes["foreach_batch"]
    )
