"""Finds keys of nested JSON objects that differ from the declared fields in letter case alone. Spark gives
null for such a field. Pure: makes conditions in SQL.

Types are those of Spark, as a frame has them.
"""

from typing import Any, Final

from flareiac_spark_runtime.sources.decoding import literal, quote

_TEXTS: Final = "map<string, string>"
_NONE: Final = "CAST(array() AS array<string>)"


def lacks(value: str, kind: Any, depth: int = 0) -> str | None:
    """The condition under which a field within a value is null; None where it has no fields. ``value``: an
    expression of that type.
    """
    match kind.typeName():
        case "struct":
            parts = [f"{value}.{quote(each.name)}" for each in kind]
            conditions = [f"{part} IS NULL" for part in parts]
            inner = (lacks(part, each.dataType, depth) for part, each in zip(parts, kind, strict=True))
            conditions += [condition for condition in inner if condition is not None]
            return f"({value} IS NOT NULL AND ({' OR '.join(conditions)}))"
        case "array":
            return _any(value, kind.elementType, depth)
        case "map":
            return _any(f"map_values({value})", kind.valueType, depth)
        case _:
            return None


def other_case(text: str, kind: Any, depth: int = 0) -> str | None:
    """An array of the keys within a JSON text that differ from the fields of its type in letter case; None
    where the type has no fields.
    """
    match kind.typeName():
        case "struct":
            arrays = [twins(f"json_object_keys({text})", [each.name for each in kind])]
            members = f"from_json({text}, '{_TEXTS}')"
            inner = (other_case(f"{members}[{literal(each.name)}]", each.dataType, depth) for each in kind)
            arrays += [keys for keys in inner if keys is not None]
            return f"concat({', '.join(f'coalesce({keys}, {_NONE})' for keys in arrays)})"
        case "array":
            return _all(f"from_json({text}, 'array<string>')", kind.elementType, depth)
        case "map":
            return _all(f"map_values(from_json({text}, '{_TEXTS}'))", kind.valueType, depth)
        case _:
            return None


def twins(keys: str, names: list[str]) -> str:
    """The keys that are no names, and are one in another letter case."""
    known, lower = _array(names), _array([name.lower() for name in names])
    return f"filter({keys}, k -> NOT array_contains({known}, k) AND array_contains({lower}, lower(k)))"


def _array(names: list[str]) -> str:
    return f"array({', '.join(map(literal, names))})"


def _any(values: str, kind: Any, depth: int) -> str | None:
    inner = lacks(f"v{depth}", kind, depth + 1)
    return None if inner is None else f"exists({values}, v{depth} -> {inner})"


def _all(texts: str, kind: Any, depth: int) -> str | None:
    inner = other_case(f"t{depth}", kind, depth + 1)
    return None if inner is None else f"flatten(transform({texts}, t{depth} -> {inner}))"
