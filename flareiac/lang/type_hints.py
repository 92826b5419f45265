"""Guesses what was meant by a value of the wrong type, as HCL to write. Pure."""

from collections.abc import Mapping
from decimal import Decimal

from flareiac.kernel.addresses import is_name
from flareiac.kernel.data import write_json
from flareiac.kernel.paths import Path
from flareiac.kernel.types import BOOL, NUMBER, STRING, ListType, MapType, ObjectType, RefType, SetType, Type
from flareiac.lang.values import Symbols, Value, contains_sensitive
from flareiac.sdk.schema import Attribute

_LONGEST = 60
"""So many characters of a value are repeated."""


def hint(name: str, value: Value, schema: Attribute, path: Path) -> str:
    """A sentence after a blank, or nothing. ``path`` leads to the wrong part inside of the value."""
    at: Value | None = value
    wanted: Type | None = schema.type
    for step in path:
        at = next((part for key, part in at.parts if key == step), None) if at is not None else None
        wanted = _inside(wanted, step)
        name = str(step) if isinstance(step, str) else name
    if at is None or wanted is None or schema.sensitive or contains_sensitive(value):
        return ""
    if isinstance(wanted, ObjectType):
        return _object(name, at, wanted) or ("" if path else _first_sentence(schema))
    written = _written(at.raw)
    if isinstance(wanted, RefType) and isinstance(at.raw, str | Symbols):
        return _reference(at.raw if isinstance(at.raw, str) else "", wanted)
    if isinstance(wanted, ListType | SetType) and written and not isinstance(at.raw, tuple):
        return f" Write {name} = [{written}]." if _fits(at.raw, wanted.element) else ""
    return ""


def _object(name: str, value: Value, wanted: ObjectType) -> str:
    """The object whose key the value names, or whose first key takes it and is all that is needed."""
    first, kind = next(iter(wanted.attributes.items()), ("", None))
    written = _written(value.raw)
    if isinstance(value.raw, str) and wanted.attributes.get(value.raw) == BOOL:
        return f" Write {name} = {{ {value.raw} = true }}."
    if not written or not wanted.attributes.keys() - {first} <= wanted.optional:
        return ""
    if isinstance(kind, ListType) and not isinstance(value.raw, tuple) and _fits(value.raw, kind.element):
        return f" Write {name} = {{ {first} = [{written}] }}."
    if kind is not None and _fits(value.raw, kind):
        return f" Write {name} = {{ {first} = {written} }}."
    return ""


def _reference(text: str, wanted: RefType) -> str:
    kind, dot, label = text.partition(".")
    if dot and kind in wanted.to and is_name(label):
        return f" Write it without quotes: {text}."
    if is_name(text) and len(wanted.to) == 1:
        return f" Write {wanted.to[0]}.{text}."
    return f" Write the address of a block, such as {wanted.to[0]}.NAME." if wanted.to else ""


def _fits(raw: object, kind: Type) -> bool:
    """A text for a text, and so on: a number that could become a text is a mistake of another kind."""
    match kind:
        case ListType(element) | SetType(element):
            return isinstance(raw, tuple) and all(_fits(part.raw, element) for part in raw)
        case _ if isinstance(raw, bool):
            return kind == BOOL
        case _:
            return (kind == STRING and isinstance(raw, str)) or (kind == NUMBER and isinstance(raw, Decimal))


def _written(raw: object) -> str:
    """A value as it stands in a file; empty for what is long or holds more than plain values."""
    if isinstance(raw, tuple):
        parts = [_written(getattr(element, "raw", None)) for element in raw]
        text = f"[{', '.join(parts)}]" if parts and all(parts) else ""
    elif isinstance(raw, bool):
        text = "true" if raw else "false"
    elif isinstance(raw, str):
        text = write_json(raw, ensure_ascii=False)
    else:
        text = str(raw) if isinstance(raw, Decimal) else ""
    return text if len(text) <= _LONGEST else ""


def _inside(wanted: Type | None, step: str | int) -> Type | None:
    match wanted:
        case ObjectType(attributes) if isinstance(attributes, Mapping):
            return attributes.get(str(step))
        case ListType(element) | SetType(element) | MapType(element):
            return element
        case _:
            return None


def _first_sentence(schema: Attribute) -> str:
    sentence, _, _ = schema.description.partition(". ")
    return f" {sentence.rstrip('.')}." if sentence else ""
