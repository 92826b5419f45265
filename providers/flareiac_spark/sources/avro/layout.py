"""The check that bytes are a value of an Avro schema, to the last byte. Pure."""

from collections.abc import Callable
from typing import Final

from flareiac_spark_runtime.sources.avro.types import (
    Array,
    AvroType,
    Decimal,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Recursive,
    Union,
)

_SIZES: Final = {"null": 0, "float": 4, "double": 8}
_LONGEST: Final = 10
"""Bytes of a number."""


def is_value_of(schema: AvroType, data: bytes) -> bool | None:
    """Returns True if all of the bytes are one value; None for a type that contains itself."""
    reading = _Reading(data)
    try:
        reading.skip(schema)
    except _NotAValue:
        return False
    except _Endless:
        return None
    return reading.at == len(data)


class _NotAValue(Exception):
    """The bytes end early, or say what the schema does not have."""


class _Endless(Exception):
    """The type contains itself."""


class _Reading:
    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def skip(self, schema: AvroType) -> None:
        match schema:
            case Primitive(name=name):
                self._primitive(name)
            case Decimal(stored=None):
                self._bytes(self._number())
            case Decimal(stored=Fixed(size=size)) | Fixed(size=size):
                self._bytes(size)
            case Enum(symbols=symbols):
                self._index(len(symbols))
            case Union(members=members):
                self.skip(members[self._index(len(members))])
            case Record(fields=fields):
                for field in fields:
                    self.skip(field.type)
            case Recursive():
                raise _Endless
            case _:
                self._several(schema)

    def _several(self, schema: AvroType) -> None:
        match schema:
            case Array(items=items):
                self._blocks(lambda: self.skip(items))
            case Map(values=values):
                self._blocks(lambda: self._entry(values))
            case _:
                raise AssertionError(schema)

    def _primitive(self, name: str) -> None:
        match name:
            case "boolean":
                self._index(2, self._bytes(1)[0])
            case "int" | "long":
                self._number()
            case "bytes":
                self._bytes(self._number())
            case "string":
                self._text()
            case _:
                self._bytes(_SIZES[name])

    def _entry(self, values: AvroType) -> None:
        self._text()
        self.skip(values)

    def _blocks(self, skip: Callable[[], None]) -> None:
        while (count := self._number()) != 0:
            if count < 0:  # a size follows, so that a reader may skip the block
                self._number()
            before = self.at
            for _each in range(abs(count)):
                skip()
                if self.at == before:  # items without bytes, of which there may be any number
                    break

    def _text(self) -> None:
        try:
            self._bytes(self._number()).decode()
        except UnicodeDecodeError:
            raise _NotAValue from None

    def _index(self, size: int, number: int | None = None) -> int:
        index = self._number() if number is None else number
        if not 0 <= index < size:
            raise _NotAValue
        return index

    def _number(self) -> int:
        number = 0
        for place in range(_LONGEST):
            byte = self._bytes(1)[0]
            number |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
        raise _NotAValue

    def _bytes(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self._data):
            raise _NotAValue
        self.at += size
        return self._data[self.at - size : self.at]
