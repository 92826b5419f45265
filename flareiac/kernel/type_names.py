"""Names of types that other engines use: those that mean one type of Iceberg, and advice for others. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bigint": "long",
        "integer": "int",
        "bool": "boolean",
        "varchar": "string",
        "text": "string",
        "timestamp_ltz": "timestamptz",
        "numeric": "decimal",
        "dec": "decimal",
        "real": "float",
        "array": "list",
    }
)
"""Other engines' names that can mean only one Iceberg type."""

_STRINGS: Final = frozenset({"char", "character", "str", "nvarchar", "nchar", "varchar2", "clob", "enum"})
_SMALL: Final = frozenset(
    {"tinyint", "smallint", "short", "byte", "int8", "int16", "int32", "mediumint", "serial"}
)
_LARGE: Final = frozenset({"int64", "bigserial", "uint32", "unsigned"})
_INSTANTS: Final = frozenset({"datetime", "timestamp_tz", "instant", "timestampz"})
_STRUCTS: Final = frozenset({"row", "object", "record", "tuple"})
_BINARIES: Final = frozenset({"bytes", "blob", "bytea", "varbinary"})

EXAMPLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "decimal": "decimal(12,2)",
        "fixed": "fixed(16)",
        "struct": "struct<street: string, zip: string>",
        "list": "list<string>",
        "map": "map<string, long>",
    }
)
"""A whole text of each type that is more than a word."""


def example(name: str) -> str:
    """A whole text of a type that is more than a word, by its head."""
    return EXAMPLES[name]


def advice(word: str) -> str | None:
    """Says what to write for a type of another system, as a sentence; None where no single type is meant.

    ``word`` is in lower case.
    """
    for names, wanted in (
        (_STRINGS, '"string"; texts have no length'),
        (_SMALL, '"int"; Iceberg has no smaller one'),
        (_LARGE, '"long"'),
        (_BINARIES, '"binary"'),
        (_STRUCTS, f'"{EXAMPLES["struct"]}"'),
        (
            _INSTANTS,
            '"timestamptz" for a point in time, or "timestamp_ntz" for date and clock time without a zone',
        ),
        (frozenset({"float64"}), '"double"'),
        (frozenset({"float32"}), '"float"'),
        (frozenset({"number", "money"}), '"decimal(12,2)" with the digits that you need, "long" or "double"'),
        (frozenset({"uint64"}), '"decimal(20,0)"; a long holds half of its values'),
        (frozenset({"json", "jsonb", "xml"}), '"string", or a struct of its fields'),
        (frozenset({"set"}), '"list<string>"'),
    ):
        if word in names:
            return f"Write {wanted}."
    return None


def continued(name: str, rest: str) -> str | None:
    """Says what to write where a type goes on after its end (``varchar(20)``, ``long null``); None where
    nothing is known. ``name`` is the type that was read, ``rest`` the word or mark that follows it.
    """
    if rest == "(":
        return f'{name} takes no length or precision: write "{name}".'
    if rest.lower() in ("null", "nullable"):
        return f'A value may be missing unless "not null" stands behind the type: write "{name}".'
    if (name, rest.lower()) == ("double", "precision"):
        return 'Write "double".'
    if rest.lower() == "unsigned":
        return "There are no unsigned types: write the next larger one."
    if rest.lower() in ("required", "primary", "unique", "default"):
        return 'Only "not null" may stand behind a type.'
    return None
