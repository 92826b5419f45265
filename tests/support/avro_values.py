"""Values of Avro schemas as bytes, and how a registry's clients write a value."""

import io
import struct
from typing import Any

import fastavro

Json = Any


def encoded(schema: Json, value: Any) -> bytes:
    """A value as Avro's binary."""
    written = io.BytesIO()
    fastavro.schemaless_writer(written, fastavro.parse_schema(schema), value)
    return written.getvalue()


def framed(number: int, schema: Json, value: Any) -> bytes:
    """A value behind the id of its schema, as Confluent's serializers write it."""
    return struct.pack(">bI", 0, number) + encoded(schema, value)


def decoded(schema: Json, payload: bytes) -> Any:
    """The value of Avro's binary."""
    return fastavro.schemaless_reader(io.BytesIO(payload), fastavro.parse_schema(schema), None)
