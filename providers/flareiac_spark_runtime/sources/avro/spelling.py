"""Writes an Avro schema as JSON in one spelling, with names, digits and the signs of JSON alone, so that it
stands in a text of SQL as it is. Pure.
"""

import json
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.types import (
    Array,
    AvroType,
    Decimal,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Recursive,
    Union,
)

NO_NAMESPACE: Final = "no_namespace"


def spelled(schema: AvroType) -> str:
    """The schema; ``types.parse`` gives it back, but for defaults, and with a namespace for names without."""
    return json.dumps(_Spelling().type(schema), separators=(",", ":"))


def reader_of(record: Record, names: Sequence[str], mark: str) -> str:
    """The schema that reads of a record the fields ``names`` as they were written, in this order, after
    ``mark``, which is 1 in every value that can be read. A name that is no field of it is null.
    """
    spelling = _Spelling()
    fields: list[dict[str, Any]] = [{"name": mark, "type": "int", "default": 1}]
    for name in names:
        avro_field = record.field(name)
        if avro_field is None or (isinstance(avro_field.type, Union) and not avro_field.type.others):
            fields.append({"name": name, "type": "null", "default": None})
        else:
            fields.append({"name": name, "type": spelling.type(avro_field.type)})
    content = {"type": "record", "name": _unmistakable(record.name), "fields": fields}
    return json.dumps(content, separators=(",", ":"))


@dataclass(slots=True)
class _Spelling:
    """A named type is defined where it comes first."""

    defined: set[str] = field(default_factory=set)

    def type(self, schema: AvroType) -> Any:
        match schema:
            case Primitive():
                return _primitive(schema)
            case Decimal():
                return self._decimal(schema)
            case Recursive(name=name):
                return _unmistakable(name)
            case Union(members=members):
                return [self.type(member) for member in members]
            case Array(items=items):
                return {"type": "array", "items": self.type(items)}
            case Map(values=values):
                return {"type": "map", "values": self.type(values)}
            case Fixed() | Enum() | Record():
                return self._named(schema)

    def _decimal(self, schema: Decimal) -> Any:
        stored = {"type": "bytes"} if schema.stored is None else self._named(schema.stored)
        if not isinstance(stored, dict):
            return stored  # the named type was a decimal where it was defined
        return {**stored, "logicalType": "decimal", "precision": schema.precision, "scale": schema.scale}

    def _named(self, schema: Fixed | Enum | Record) -> Any:
        name = _unmistakable(schema.name)
        if name in self.defined:
            return name
        self.defined.add(name)
        match schema:
            case Fixed():
                return {"type": "fixed", "name": name, "size": schema.size}
            case Enum():
                return {"type": "enum", "name": name, "symbols": list(schema.symbols)}
            case Record():
                fields = [self._field(avro_field) for avro_field in schema.fields]
                return {"type": "record", "name": name, "fields": fields}

    def _field(self, avro_field: Field) -> dict[str, Any]:
        return {"name": avro_field.name, "type": self.type(avro_field.type)}


def _primitive(schema: Primitive) -> Any:
    numbers = {"scale": schema.scale, "connect.decimal.precision": schema.precision}
    parameters = {name: str(number) for name, number in numbers.items() if number is not None}
    given = {"logicalType": schema.logical, "connect.name": schema.connect, "connect.parameters": parameters}
    annotations = {name: value for name, value in given.items() if value}
    return {"type": schema.name, **annotations} if annotations else schema.name


def _unmistakable(name: str) -> str:
    """A full name that no namespace around it changes. Writer and reader get the same one."""
    return name if "." in name else f"{NO_NAMESPACE}.{name}"
