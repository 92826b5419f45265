"""Whether a declared writer writes rows again that a table's retention has deleted. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Relation, Sharing, Usage
from flareiac_iceberg import codes

_WHY: Final = {
    Sharing.REPLACES: "each write replaces all rows with its whole result, the expired ones among them",
    Sharing.CHANGES: (
        "a row that arrives late writes its key or partition again, although retention has deleted it"
    ),
}


def rewritten(address: str, desired: Attributes, usages: Iterable[Usage]) -> Iterator[Diagnostic]:
    """One warning for each writer whose mode brings deleted rows back. ``usages`` are those on this table."""
    block = desired.get("retention")
    if block is None or not block["enabled"]:
        return
    for usage in usages:
        if usage.relation is Relation.WRITES and usage.part is None and usage.sharing in _WHY:
            yield warning(
                codes.ROWS_COME_BACK,
                f'{usage.holder} ({usage.reason}) writes {address} with mode = "{usage.mode}": '
                f"{_WHY[usage.sharing]}. Filter on "
                f"{block['column']} in the job as well, so that it writes no row older than retention keeps.",
                address=address,
            )
