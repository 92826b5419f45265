"""The decoders of the values of records: one for each format.

A decoder takes a frame with a column ``VALUE_BYTES`` and adds the declared columns and ``ERROR`` (string: why
a record cannot be read, null where it can). A decoder that judges records adds ``ONCE``, and one that does so
without an explanation ``GOOD`` (boolean), too.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.decode import Framed, Plain, Writers, decode_avro
from flareiac_spark_runtime.sources.avro.notes import known_schemas
from flareiac_spark_runtime.sources.avro.types import parse
from flareiac_spark_runtime.sources.debezium.decode_avro import Decoding as Envelopes
from flareiac_spark_runtime.sources.debezium.decode_avro import decode_envelopes
from flareiac_spark_runtime.sources.debezium.decode_json import decode_json
from flareiac_spark_runtime.sources.decoding import ERROR, Text, decode_text
from flareiac_spark_runtime.sources.kafka.avro_values import AvroValues
from flareiac_spark_runtime.sources.kafka.formats import DEBEZIUM_AVRO, DEBEZIUM_JSON
from flareiac_spark_runtime.sources.resolved import Opening, SpecColumn

VALUE_BYTES: Final = "__flareiac_value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """The inputs of a decoder. ``columns`` are those that values hold."""

    opening: Opening
    columns: tuple[SpecColumn, ...]
    options: Mapping[str, str]
    avro: AvroValues | None = None


Decode: TypeAlias = Callable[[Any, Decoding], Any]


def decoded(frame: Any, format: str, decoding: Decoding) -> Any:  # noqa: A002 - the word of the attribute
    """The frame with the columns of the values, and with ``ERROR``."""
    return DECODERS[format](frame, decoding)


def _texts(kind: Literal["json", "csv"]) -> Decode:
    def decode(frame: Any, decoding: Decoding) -> Any:
        opening = decoding.opening
        text = Text(format=kind, options=decoding.options, schema=opening.schema, explained=opening.explains)
        return decode_text(frame, VALUE_BYTES, decoding.columns, text)

    return decode


def _avro(frame: Any, decoding: Decoding) -> Any:
    return decode_avro(frame, VALUE_BYTES, _writers(decoding), decoding.columns, decoding.opening.schema)


def _writers(decoding: Decoding) -> Writers:
    avro, opening = decoding.avro, decoding.opening
    assert avro is not None, "the format comes with its schema, or with a registry"
    if avro.registry is None:
        return Plain(schema=parse(avro.schema or ""))
    known = known_schemas(opening.checkpoints, avro.registry, avro.subjects)
    return Framed(url=avro.registry.url, noted=known)


def _debezium_json(frame: Any, decoding: Decoding) -> Any:
    return decode_json(frame, VALUE_BYTES, decoding.columns, decoding.options, decoding.opening.schema)


def _debezium_avro(frame: Any, decoding: Decoding) -> Any:
    how = Envelopes(options=decoding.options, ddl=decoding.opening.schema)
    return decode_envelopes(frame, VALUE_BYTES, _writers(decoding), decoding.columns, how)


def _whole(expression: str) -> Decode:
    def decode(frame: Any, decoding: Decoding) -> Any:
        del decoding
        return frame.selectExpr("*", f"{expression} AS value", f"CAST(NULL AS STRING) AS {ERROR}")

    return decode


DECODERS: Final[Mapping[str, Decode]] = {
    "json": _texts("json"),
    "csv": _texts("csv"),
    "avro": _avro,
    DEBEZIUM_JSON: _debezium_json,
    DEBEZIUM_AVRO: _debezium_avro,
    "text": _whole(f"CAST({VALUE_BYTES} AS STRING)"),
    "raw": _whole(VALUE_BYTES),
}
