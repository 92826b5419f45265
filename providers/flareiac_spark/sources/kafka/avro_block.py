"""The Avro part of a ``kafka`` block: the schema of values, or the registry that holds it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Data, is_known
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode
from flareiac.sdk.references import Resolved
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark_runtime.sources.avro.columns import columns_of
from flareiac_spark_runtime.sources.avro.differences import blocks, differences
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess
from flareiac_spark_runtime.sources.avro.texts import clause
from flareiac_spark_runtime.sources.avro.types import NotAvro, Record, parse
from flareiac_spark_runtime.sources.debezium.avro_rows import NOT_ENVELOPES, effective, row_of, unreadable
from flareiac_spark_runtime.sources.kafka.formats import DEBEZIUM_AVRO, OF_AVRO
from flareiac_spark_runtime.sources.resolved import SpecColumn

_OF_VALUES: Final = "-value"


def derived_columns(schema: Data, format: str) -> list[Column]:  # noqa: A002 - the word of the attribute
    """The columns that hold what a schema says; none for a text that is none, which is reported."""
    try:
        tree = parse(schema) if schema is not UNKNOWN else None
    except NotAvro:
        return []
    if format == DEBEZIUM_AVRO and tree is not None:
        row = row_of(tree)
        tree = effective(row, (), {}) if row is not None else None
    return (
        [Column(name=name, type=kind) for name, kind in columns_of(tree)] if isinstance(tree, Record) else []
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster(Foreign):
    """The parts of a kafka block that are read, in canonical form."""

    schema_registry: RegistryAccess | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroBlock:
    """The written format and the declared columns. Faults are reported."""

    format: str
    schema: Data
    subject: Data
    options: Mapping[str, str]
    declared: Sequence[Column]
    diagnostics: Diagnostics

    def settings(self, connection: Resolved | None, topics: Sequence[str]) -> dict[str, Any]:
        """``schema``, ``subjects`` and ``registry`` of the source."""
        schema, subject = self.schema, self.subject
        given = {"schema": schema, "subject": subject}
        written = [name for name, value in given.items() if value is not None]
        if self.format not in OF_AVRO or len(written) > 1:
            if written:
                text = (
                    "schema and subject exclude each other."
                    if len(written) > 1
                    else f"{written[0]} is of Avro."
                )
                self._error(codes.NOT_AVRO, text, written[-1])
            return {}
        if schema is not None:
            self._check(schema)
            return {"schema": schema}
        subjects = (subject,) if subject is not None else tuple(f"{topic}{_OF_VALUES}" for topic in topics)
        return {"subjects": subjects, "registry": self._registry(connection)}

    def _registry(self, connection: Resolved | None) -> RegistryAccess | None:
        if connection is None or not is_known(connection.attributes):
            return None
        registry = decode(_Cluster, connection.attributes).schema_registry
        if registry is not None:
            return registry
        self._error(
            codes.AVRO_WITHOUT_SCHEMA,
            f"{connection.address} names no schema registry. Write in it schema_registry = {{ url = "
            '"https://host:8081" }}, or here schema = file("order.avsc") for values that carry no id of a '
            "schema.",
            "format",
        )
        return None

    def _check(self, schema: Data) -> None:
        if schema is UNKNOWN:
            return
        try:
            tree = parse(schema)
        except NotAvro as error:
            self._error(codes.INVALID_AVRO_SCHEMA, f"The text is not an Avro schema: {error}.", "schema")
            return
        if not isinstance(tree, Record):
            self._error(codes.INVALID_AVRO_SCHEMA, "The schema is not of type record.", "schema")
            return
        columns = [
            SpecColumn(name=column.name, type=column.type, required=column.required)
            for column in self.declared
        ]
        if self.format == DEBEZIUM_AVRO:
            row = row_of(tree)
            if row is None:
                self._error(codes.INVALID_AVRO_SCHEMA, f"{NOT_ENVELOPES}.", "schema")
                return
            for why in unreadable(row, columns, self.options):
                self._error(codes.AVRO_COLUMN_DIFFERS, f"{why[0].upper()}{why[1:]}.", "schema")
            tree = effective(row, columns, self.options)
        for difference in differences(tree, columns):
            if blocks(difference):
                text = clause(difference)
                self._error(codes.AVRO_COLUMN_DIFFERS, f"{text[0].upper()}{text[1:]}.", "schema")

    def _error(self, code: Code, detail: str, name: str) -> None:
        self.diagnostics.error(code, detail, attribute=("kafka", name))
