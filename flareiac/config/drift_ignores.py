"""The ``drift_ignore`` blocks of the settings: known drift that is left alone, with its reason. Pure.

Nothing is evaluated, as in the other settings.
"""

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from flareiac.config.own_blocks import DRIFT_IGNORE
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.sources import Span
from flareiac.lang.syntax import AttributeNode, BlockNode, literal_text
from flareiac.model.drift import DriftIgnore

_NEEDED: Final = {
    "address": "the resource whose drift is known, or a glob",
    "reason": "why it is left alone",
}


def read_drift_ignores(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> tuple[DriftIgnore, ...]:
    """Returns the rules of all blocks that make sense, in order."""
    return tuple(rule for block in blocks for rule in _rule(block, diagnostics))


def _rule(block: BlockNode, diagnostics: Diagnostics) -> Iterator[DriftIgnore]:
    attributes = {attribute.name: attribute for attribute in block.body.attributes}
    complaints = list(_complaints(block, attributes.values()))
    for why, span in complaints:
        diagnostics.error(codes.INVALID_DRIFT_IGNORE, why, subject=span)
    if complaints:
        return
    texts = {name: literal_text(attribute.expr) or "" for name, attribute in attributes.items()}
    try:
        expires = _end(texts["expires"]) if "expires" in texts else None
    except ValueError:
        why = f'"{texts["expires"]}" is no date ("2027-01-31") and no time ("2027-01-31T12:00:00Z").'
        diagnostics.error(codes.INVALID_DRIFT_IGNORE, why, subject=attributes["expires"].expr.span)
        return
    yield DriftIgnore(
        address=texts["address"],
        attribute=texts.get("attribute", ""),
        reason=texts["reason"],
        expires=expires,
        until=texts.get("expires", ""),
        span=block.header_span,
    )


def _complaints(block: BlockNode, attributes: Collection[AttributeNode]) -> Iterator[tuple[str, Span]]:
    if block.labels:
        yield "A drift_ignore block has no label: address names the resource.", block.header_span
    for nested in block.body.blocks:
        yield f'There is no block "{nested.type}" in drift_ignore.', nested.header_span
    for attribute in attributes:
        if attribute.name not in DRIFT_IGNORE.attributes:
            guess = did_you_mean(attribute.name, DRIFT_IGNORE.attributes)
            takes = f"It takes {', '.join(DRIFT_IGNORE.attributes)}.{guess}"
            why = f'There is no attribute "{attribute.name}" in drift_ignore. {takes}'
            yield why, attribute.name_span
        elif not (literal_text(attribute.expr) or "").strip():
            why = f"{attribute.name} takes a plain text: it is read before variables have values."
            yield why, attribute.expr.span
    for name, meaning in _NEEDED.items():
        if all(attribute.name != name for attribute in attributes):
            yield f"{name} is missing: {meaning}.", block.header_span


def _end(text: str) -> float:
    """Returns the moment at which a rule ends, in UTC seconds since 1970; a date ends with its day in UTC.
    Raises ``ValueError``.
    """
    moment = dt.datetime.fromisoformat(text)
    if len(text) == len("2027-01-31"):
        moment += dt.timedelta(days=1)
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()
