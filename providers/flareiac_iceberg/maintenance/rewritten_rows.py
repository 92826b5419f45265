"""Whether a declared writer writes rows again that a table's retention has deleted. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Claim, Relation, Sharing
from flareiac_iceberg import codes

_WHY: Final = {
    Sharing.REPLACES: "each write replaces all rows with its whole result, the expired ones among them",
    Sharing.CHANGES: (
        "a row that arrives late writes its key or partition again, although retention has deleted it"
    ),
}


def rewritten(address: str, desired: Attributes, claims: Iterable[Claim]) -> Iterator[Diagnostic]:
    """One warning for each writer whose mode brings deleted rows back. ``claims`` are those on this table."""
    block = desired.get("retention")
    if block is None or not block["enabled"]:
        return
    for claim in claims:
        if claim.relation is Relation.WRITES and claim.part is None and claim.sharing in _WHY:
            yield warning(
                codes.ROWS_COME_BACK,
                f'{claim.holder} ({claim.reason}) writes {address} with mode = "{claim.mode}": '
                f"{_WHY[claim.sharing]}. Filter on "
                f"{block['column']} in the job as well, so that it writes no row older than retention keeps.",
                address=address,
            )
