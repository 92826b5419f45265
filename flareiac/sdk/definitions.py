"""Definitions: records that canonical attributes are read as, and the types of their leaves. Pure.

While planning a leaf may be UNKNOWN; a record carries it in the place of its value. Code that compares or
prints a leaf need not mind, and an apply asks again once every value is known.
"""

from typing import Annotated, Any, TypeAlias, TypeVar

from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference
from flareiac.kernel.records import Form, Mismatch, decode

D = TypeVar("D")


def definition_of(kind: type[D], attributes: Attributes) -> D:
    """The record that attributes say; what an older release did not record has a default. Raises ``Mismatch``
    for attributes of another shape, those of a damaged state.
    """
    return decode(kind, attributes, "attributes")


def _as_it_is(value: Data) -> Data:
    return value


def _leaf(what: str, *kinds: type, written: Any, known: bool = False) -> Form:
    def decode_leaf(value: Data) -> Data:
        fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        if not fits and (known or value is not UNKNOWN):
            raise Mismatch("", f"is {value!r:.60}, expected {what}")
        return value

    return Form(_as_it_is, decode_leaf, written)


Text: TypeAlias = Annotated[str, _leaf("a text", str, written=str)]
Number: TypeAlias = Annotated[int, _leaf("a number", int, float, written=float)]
"""As it is written; a fraction is kept where the schema admits it."""
Whole: TypeAlias = Annotated[int, _leaf("a whole number", int, written=int)]
Flag: TypeAlias = Annotated[bool, _leaf("true or false", bool, written=bool)]
Ref: TypeAlias = Annotated[Reference, _leaf("a reference", Reference, written=dict[str, str], known=True)]
"""Another resource; always known."""
Plain: TypeAlias = Annotated[Any, Form(_as_it_is, _as_it_is)]
"""Plain data that is not read by its parts."""
