"""An Avro schema as a tree, from its JSON text. Pure.

What Spark and a reader do not need is left out: documentation, aliases, defaults' meaning, properties.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeAlias

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
MOST_DIGITS: Final = 38
"""The greatest number of digits of a decimal of Spark."""
_LOGICAL: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("date", "time-millis"),
    "long": (
        "time-micros",
        "timestamp-millis",
        "timestamp-micros",
        "local-timestamp-millis",
        "local-timestamp-micros",
    ),
    "string": ("uuid",),
}
"""The logical types that change what Spark reads, or that a reader wants to know, by the type that stores
them; another one is left out.
"""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CONNECT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.$]*\Z")
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,6}\Z")
_DEEPEST: Final = 60


class NotAvro(ValueError):
    """The text is not an Avro schema; the message says why, without a full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive:
    """A type without a name of its own. ``logical``: what its values mean, where that is known. ``connect``:
    what Kafka Connect calls them; ``scale`` and ``precision`` of those that are its decimals.
    """

    name: str
    logical: str | None = None
    connect: str | None = None
    scale: int | None = None
    precision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decimal:
    """A decimal kept as bytes, or as ``stored`` bytes of a fixed length."""

    precision: int
    scale: int
    stored: "Fixed | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """So many bytes. ``name`` is the full name."""

    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    """One of ``symbols``. ``name`` is the full name."""

    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """A list."""

    items: "AvroType"


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """Values by text."""

    values: "AvroType"


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """A value of one of these types, which are two or more, or one alone."""

    members: tuple["AvroType", ...]

    @property
    def others(self) -> tuple["AvroType", ...]:
        """The members without null."""
        return tuple(member for member in self.members if member != NULL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """``has_default``: whether a reader fills it in where a writer does not know it."""

    name: str
    type: "AvroType"
    has_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Fields in order. ``name`` is the full name."""

    name: str
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """The field of exactly this name."""
        return next((avro_field for avro_field in self.fields if avro_field.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recursive:
    """A type inside of itself, by its full name: it has no bounds, so that no column can hold it."""

    name: str


AvroType: TypeAlias = Primitive | Decimal | Fixed | Enum | Array | Map | Union | Record | Recursive
NULL: Final = Primitive(name="null")


def parse(text: str, references: Sequence[str] = ()) -> AvroType:
    """The tree of a schema. ``references``: texts of the schemas that define what it names, each after those
    that it needs itself. Raises ``NotAvro``.
    """
    reading = _Reading()
    for reference in references:
        reading.type(_json(reference), "")
    return reading.type(_json(text), "")


def _json(text: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        if _NAME.match(text.strip()) is not None:  # a registry keeps "string" without its quotes
            return text.strip()
        raise NotAvro(f"it is not JSON: {error}") from None


@dataclass(slots=True)
class _Reading:
    """Named types are known by their full names from where they are defined on."""

    named: dict[str, AvroType] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    depth: int = 0

    def type(self, node: Any, namespace: str) -> AvroType:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotAvro(f"it is nested more than {_DEEPEST} deep")
        try:
            match node:
                case str():
                    return self._by_name(node, namespace)
                case list():
                    return self._union(node, namespace)
                case {"type": dict() | list() as inner}:
                    return self.type(inner, namespace)
                case {"type": str(kind)}:
                    return self._described(kind, node, namespace)
                case _:
                    raise NotAvro(f"{_short(node)} is not a type")
        finally:
            self.depth -= 1

    def _by_name(self, name: str, namespace: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(name=name)
        for full in (_full_name(name, namespace), name):
            if full in self.open:
                return Recursive(name=full)
            if full in self.named:
                return self.named[full]
        raise NotAvro(f"it names the type {name}, which is not defined")

    def _union(self, nodes: list[Any], namespace: str) -> AvroType:
        if not nodes or any(isinstance(node, list) for node in nodes):
            raise NotAvro("it has a union without types, or a union in a union")
        members = tuple(self.type(node, namespace) for node in nodes)
        if any(isinstance(member, Union) for member in members):  # written as {"type": [...]}
            raise NotAvro("it has a union in a union")
        if len({_branch(member) for member in members}) < len(members):
            raise NotAvro(f"it has a union with two types of one kind: {_short(nodes)}")
        return Union(members=members)

    def _described(self, kind: str, node: Mapping[str, Any], namespace: str) -> AvroType:
        match kind:
            case "record" | "error":
                return self._record(node, namespace)
            case "enum":
                return self._enum(node, namespace)
            case "fixed":
                return self._fixed(node, namespace)
            case "array":
                return Array(items=self.type(_part(node, "items", "an array"), namespace))
            case "map":
                return Map(values=self.type(_part(node, "values", "a map"), namespace))
            case "null":
                return NULL
            case "bytes":
                return _decimal(node, None) or _primitive("bytes", node)
            case _ if kind in PRIMITIVES:
                return _primitive(kind, node)
            case _:
                return self._by_name(kind, namespace)

    def _record(self, node: Mapping[str, Any], namespace: str) -> Record:
        name = self._new_name(node, namespace)
        inside = name.rpartition(".")[0]
        self.open.append(name)
        try:
            given = _part(node, "fields", f"the record {name}")
            if not isinstance(given, list):
                raise NotAvro(f"the fields of {name} are no list")
            fields = tuple(self._field(field_node, name, inside) for field_node in given)
        finally:
            self.open.pop()
        if len({avro_field.name for avro_field in fields}) < len(fields):
            raise NotAvro(f"{name} has two fields of one name")
        record = self.named[name] = Record(name=name, fields=fields)
        return record

    def _field(self, node: Any, record: str, namespace: str) -> Field:
        match node:
            case {"name": str(name), "type": kind} if _NAME.match(name):
                return Field(name=name, type=self.type(kind, namespace), has_default="default" in node)
            case _:
                raise NotAvro(f"a field of {record} has no name or no type: {_short(node)}")

    def _enum(self, node: Mapping[str, Any], namespace: str) -> Enum:
        name = self._new_name(node, namespace)
        symbols = _part(node, "symbols", f"the enum {name}")
        if not isinstance(symbols, list) or not all(
            isinstance(symbol, str) and _NAME.match(symbol) for symbol in symbols
        ):
            raise NotAvro(f"the symbols of {name} are no list of names")
        enum = self.named[name] = Enum(name=name, symbols=tuple(symbols))
        return enum

    def _fixed(self, node: Mapping[str, Any], namespace: str) -> AvroType:
        name = self._new_name(node, namespace)
        size = _part(node, "size", f"the fixed {name}")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise NotAvro(f"the size of {name} is no number of bytes")
        stored = Fixed(name=name, size=size)
        fixed = self.named[name] = _decimal(node, stored) or stored
        return fixed

    def _new_name(self, node: Mapping[str, Any], namespace: str) -> str:
        match node:
            case {"name": str(name), "namespace": str(given)}:
                full = _full_name(name, given)
            case {"name": str(name)}:
                full = _full_name(name, namespace)
            case _:
                raise NotAvro(f"a type has no name: {_short(node)}")
        if not all(_NAME.match(part) for part in full.split(".")):
            raise NotAvro(f"{full!r} is not a name")
        if full in self.named or full in self.open:
            raise NotAvro(f"it defines {full} twice")
        return full


def _branch(member: AvroType) -> str:
    """The name that tells a member of a union from the others: its kind, or its full name if it has one."""
    match member:
        case Decimal(stored=None):
            return "bytes"
        case Decimal(stored=stored) if stored is not None:
            return stored.name
        case Array() | Map():
            return type(member).__name__
        case Primitive() | Fixed() | Enum() | Record() | Recursive():
            return member.name
        case _:
            return "union"


def _full_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _part(node: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in node:
        raise NotAvro(f"{where} has no {name}")
    return node[name]


def _decimal(node: Mapping[str, Any], stored: Fixed | None) -> Decimal | None:
    """Bytes that say they are a decimal; None where they do not, or where Spark has no such decimal."""
    match node:
        case {"logicalType": "decimal", "precision": int(precision), "scale": int(scale)}:
            pass
        case {"logicalType": "decimal", "precision": int(precision)}:
            scale = 0
        case _:
            return None
    if not 0 < precision <= MOST_DIGITS or not 0 <= scale <= precision:
        return None
    return Decimal(precision=precision, scale=scale, stored=stored)


def _primitive(kind: str, node: Mapping[str, Any]) -> Primitive:
    primitive = Primitive(name=kind, logical=_logical(kind, node), connect=_connect(node))
    if primitive.connect is None or kind != "bytes":
        return primitive
    match node:
        case {"connect.parameters": {"scale": scale, "connect.decimal.precision": precision}}:
            return replace(primitive, scale=_number(scale), precision=_number(precision))
        case {"connect.parameters": {"scale": scale}}:
            return replace(primitive, scale=_number(scale))
        case _:
            return primitive


def _connect(node: Mapping[str, Any]) -> str | None:
    """The name of Kafka Connect. One that is not such a name is left out: it stands in texts of SQL."""
    match node:
        case {"connect.name": str(name)} if _CONNECT_NAME.match(name):
            return name
        case _:
            return None


def _number(text: Any) -> int | None:
    return int(text) if isinstance(text, str) and _WHOLE_NUMBER.match(text) else None


def _logical(kind: str, node: Mapping[str, Any]) -> str | None:
    match node:
        case {"logicalType": str(name)} if name in _LOGICAL.get(kind, ()):
            return name
        case _:
            return None


def _short(node: Any) -> str:
    text = json.dumps(node, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
