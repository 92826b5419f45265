"""Converts Iceberg's type texts to Spark's: one parser, one table of names."""

import re
from collections.abc import Mapping, Sequence

from flareiac_spark.driver.refusal import Refusal
from flareiac_spark.sources.resolved import SpecColumn

_UUID = "STRING"
_PLAIN = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "string": "STRING",
    "uuid": _UUID,
    "binary": "BINARY",
    "variant": "VARIANT",
}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[^\s<>(),:`\[\]]+|[<>(),:\[\]])")


def spark_type(text: str, uuid: str = _UUID) -> str:
    """``struct<a: string, b: int not null>`` as ``STRUCT<`a`: STRING, `b`: INT NOT NULL>``. Raises
    ``Refusal``.
    """
    parser = _Parser(text, {**_PLAIN, "uuid": uuid})
    spelled = parser.type()
    parser.end()
    return spelled


def spark_columns(columns: Sequence[SpecColumn], uuid: str = _UUID) -> str:
    """Columns as a DDL schema, all of them nullable: what is required is checked by value, not by type.
    ``uuid`` is the type that stands for one.
    """
    return ", ".join(f"{quote(column.name)} {spark_type(column.type, uuid)}" for column in columns)


def quote(name: str) -> str:
    """A name as one part of a Spark identifier."""
    return "`" + name.replace("`", "``") + "`"


class _Parser:
    def __init__(self, text: str, plain: Mapping[str, str]) -> None:
        self._text, self._at, self._plain = text, 0, plain

    def type(self) -> str:
        word = self._next().lower()
        match word:
            case "list":
                return f"ARRAY<{self._enclosed()}>"
            case "map":
                self._expect("<")
                key = self.type()
                self._expect(",")
                value = self._optional_not_null(self.type(), keep=False)
                self._expect(">")
                return f"MAP<{key}, {value}>"
            case "struct":
                return self._struct()
            case "decimal":
                return self._decimal()
            case "fixed":
                closing = {"(": ")", "[": "]"}.get(self._next(), ")")
                self._next()
                self._expect(closing)
                return "BINARY"
            case _ if word in self._plain:
                return self._plain[word]
            case _:
                raise self._refusal(f"Spark has no type for {word!r}")

    def end(self) -> None:
        if self._text[self._at :].strip():
            raise self._refusal(f"{self._text[self._at :].strip()!r} is left over")

    def _enclosed(self) -> str:
        self._expect("<")
        inner = self._optional_not_null(self.type(), keep=False)
        self._expect(">")
        return inner

    def _struct(self) -> str:
        fields = []
        self._expect("<")
        while True:
            name = self._next()
            name = name[1:-1].replace("``", "`") if name.startswith("`") else name
            self._expect(":")
            fields.append(f"{quote(name)}: {self._optional_not_null(self.type(), keep=True)}")
            if (separator := self._next()) == ">":
                return f"STRUCT<{', '.join(fields)}>"
            if separator != ",":
                raise self._refusal(f"{separator!r} stands where ',' or '>' should")

    def _decimal(self) -> str:
        self._expect("(")
        precision = self._next()
        self._expect(",")
        scale = self._next()
        self._expect(")")
        return f"DECIMAL({precision}, {scale})"

    def _optional_not_null(self, spelled: str, *, keep: bool) -> str:
        at = self._at
        if self._peek() == "not":
            self._next()
            self._expect("null")
            return f"{spelled} NOT NULL" if keep else spelled
        self._at = at
        return spelled

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        return match.group(1).lower() if match else ""

    def _next(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise self._refusal("it ends too early")
        self._at = match.end()
        return match.group(1)

    def _expect(self, token: str) -> None:
        found = self._next()
        if found.lower() != token:
            raise self._refusal(f"{found!r} stands where {token!r} should")

    def _refusal(self, why: str) -> Refusal:
        return Refusal("TYPE_NOT_UNDERSTOOD", f"The type {self._text!r} is not understood: {why}.")
