"""The codes of the provider of secrets: an id and a title each, once. ``codes.md`` explains them. Pure."""

from typing import Final

from flareiac.kernel.codes import Code

INVALID_SECRET_REFERENCE: Final = Code("FIX051", "Invalid reference to a secret")
