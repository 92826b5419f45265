"""Recognizes what Debezium writes in place of a value of PostgreSQL that is stored apart from its row and did
not change. Pure.

The form depends on the type of the column: the placeholder itself, its bytes, a list of one of them, a list
of a number for each of its bytes, a map of it to itself, or the UUID of its bytes.
"""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import md5
from uuid import UUID

from flareiac.kernel.column_types import ColumnType, DecimalOf, ListOf, MapOf, Plain, StructOf
from flareiac_spark_runtime.sources.decoding import literal, quote

_NUMBERS = {"int": "INT", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE"}


def is_unchanged(kind: ColumnType, value: str, placeholder: str) -> str:
    """A condition on the value of a column of a declared type."""
    return " OR ".join(_conditions(kind, value, placeholder)) or "false"


def _conditions(kind: ColumnType, value: str, placeholder: str) -> Iterator[str]:
    match kind:
        case Plain(name="string" | "uuid"):
            yield f"{value} IN ({', '.join(_texts(placeholder))})"
        case Plain(name="binary"):
            yield f"{value} = {_bytes(placeholder)}"
        case ListOf(element=element):
            for listed in _lists(element, placeholder):
                yield f"{value} = {listed}"
        case MapOf(key=Plain(name="string")):
            yield f"map_contains_key({value}, {literal(placeholder)})"
        case StructOf(members=members):
            for member in members:
                yield from _conditions(member.type, f"{value}.{quote(member.name)}", placeholder)
        case _:
            pass


def _lists(element: ColumnType, placeholder: str) -> Iterator[str]:
    length = len(placeholder.encode())
    match element:
        case Plain(name="string" | "uuid"):
            for text in _texts(placeholder):
                yield f"array({text})"
        case Plain(name="binary"):
            yield f"array({_bytes(placeholder)})"
        case Plain(name="boolean"):
            yield f"array_repeat(true, {length})"
        case Plain(name=name) if name in _NUMBERS:
            yield _numbers(placeholder, _NUMBERS[name])
        case DecimalOf(precision=precision, scale=scale) if precision - scale > 2:
            yield _numbers(placeholder, f"DECIMAL({precision},{scale})")
        case _:
            pass


def _numbers(placeholder: str, kind: str) -> str:
    numbers = [f"CAST({byte} AS {kind})" for byte in placeholder.encode()]
    return f"array({', '.join(numbers)})"


def _bytes(placeholder: str) -> str:
    return f"X'{placeholder.encode().hex()}'"


def _texts(placeholder: str) -> tuple[str, ...]:
    digest = md5(placeholder.encode(), usedforsecurity=False).digest()  # Java's UUID.nameUUIDFromBytes
    return literal(placeholder), literal(str(UUID(bytes=digest, version=3)))


def base64_of(placeholder: str) -> str:
    """The placeholder of a column of bytes, as JSON has it."""
    return b64encode(placeholder.encode()).decode()
