"""The codes of the provider of consumers: an id and a title each, once. ``codes.md`` explains them. Pure."""

from typing import Final

from flareiac.kernel.codes import Code

NOTHING_READ: Final = Code("FIX071", "A consumer reads nothing")
COLUMN_NOT_DECLARED: Final = Code("FIX072", "A consumer reads a column that is not declared")
SLA_NOT_MEASURABLE: Final = Code("FIX073", "The sla of a consumer cannot be measured")
