"""The requirements on a table that must still hold when a commit is made. Pure: takes metadata as JSON."""

from collections.abc import Iterable

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.snapshots import MAIN, heads
from flareiac_iceberg.table import branches


def requirements(metadata: Attributes, updates: Iterable[Attributes], *, empty: bool) -> list[Attributes]:
    """The facts that must still hold when the commit is made: all that the updates were computed from; with
    ``empty``, that no branch is written.
    """
    needs: list[Attributes] = [
        {"type": "assert-table-uuid", "uuid": metadata["table-uuid"]},
        {"type": "assert-current-schema-id", "current-schema-id": metadata.get("current-schema-id", 0)},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": metadata["last-column-id"]},
        {"type": "assert-default-spec-id", "default-spec-id": metadata.get("default-spec-id", 0)},
        {
            "type": "assert-default-sort-order-id",
            "default-sort-order-id": metadata.get("default-sort-order-id", 0),
        },
        *branches.requirements(metadata, updates),
    ]
    if metadata.get("last-partition-id") is not None:
        needs.append(
            {
                "type": "assert-last-assigned-partition-id",
                "last-assigned-partition-id": metadata["last-partition-id"],
            }
        )
    if empty:
        stands = {MAIN: None, **heads(metadata)}
        assertions = (
            {"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": snapshot}
            for name, snapshot in stands.items()
        )
        needs += [assertion for assertion in assertions if assertion not in needs]
    return needs
