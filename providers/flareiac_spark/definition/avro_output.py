"""The Avro part of an output's ``kafka`` block: the subject of its schema, and the schema where it is
declared. Pure.
"""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Data, is_known
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode
from flareiac.sdk.references import Resolved
from flareiac_spark import codes
from flareiac_spark.definition.output_definition import KafkaOutput
from flareiac_spark_runtime.sources.avro.columns import is_nullable
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess
from flareiac_spark_runtime.sources.avro.types import NotAvro, Record, parse

AVRO: Final = "avro"
_OF_VALUES: Final = "-value"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster(Foreign):
    """The parts of a kafka block that are read, in canonical form."""

    schema_registry: RegistryAccess | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroOutput:
    """The attributes as they are written, of any format. What is wrong is reported."""

    output: str
    format: Data
    schema: Data
    written_subject: Data
    topic: str
    connection: Resolved | None
    diagnostics: Diagnostics

    @property
    def subject(self) -> str:
        """Empty for another format."""
        if self.format != AVRO:
            return ""
        written = self.written_subject
        return written if isinstance(written, str) and written else f"{self.topic}{_OF_VALUES}"

    @property
    def text(self) -> str | None:
        """The declared schema. Reports one that is none, and attributes of Avro in another format."""
        if self.format != AVRO:
            given = {"schema": self.schema, "subject": self.written_subject}
            for name, value in given.items():
                if value is not None:
                    self._error(
                        codes.NOT_AVRO,
                        f"{name} is of Avro, and output {self.output} writes "
                        f'{self.format or "json"}. Write format = "avro", or remove it.',
                        name,
                    )
            return None
        if not isinstance(self.schema, str):
            return None
        try:
            if not isinstance(parse(self.schema), Record):
                self._error(codes.INVALID_AVRO_SCHEMA, "The schema is not of type record.", "schema")
        except NotAvro as error:
            self._error(codes.INVALID_AVRO_SCHEMA, f"The text is not an Avro schema: {error}.", "schema")
        return self.schema

    @property
    def registry(self) -> RegistryAccess | None:
        """The registry of the connection, which must have one."""
        if self.format != AVRO or self.connection is None or not is_known(self.connection.attributes):
            return None
        registry = decode(_Cluster, self.connection.attributes).schema_registry
        if registry is None:
            self._error(
                codes.AVRO_OUTPUT_WITHOUT_REGISTRY,
                f"Output {self.output} writes the id of a schema into each record, and "
                f"{self.connection.address} names no schema registry. Write in it schema_registry = {{ url = "
                '"https://host:8081" }.',
                "format",
            )
        return registry

    def check_columns(self, output: KafkaOutput, given: Sequence[str]) -> None:
        """Compares the names of columns with the fields of the declared schema."""
        record = _record(output.schema)
        if record is None:
            return
        columns, fields = {name.lower() for name in given}, {field.name.lower() for field in record.fields}
        beside = {
            name.lower() for name in (output.key, output.headers_column, *output.headers.values()) if name
        }
        if left := [name for name in given if name.lower() not in fields | beside]:
            self._differs(
                f"The schema of output {self.output} has no field {', '.join(left)}, which {output.source} "
                "gives. Leave it out in a step, or add it to the schema."
            )
        missing = [
            field.name
            for field in record.fields
            if field.name.lower() not in columns and not is_nullable(field.type)
        ]
        if missing:
            self._differs(
                f"{', '.join(missing)} of the schema of output {self.output} takes no null, and "
                f"{output.source} gives {', '.join(given)}. Add the column in a step, or make the field a "
                'union with "null".'
            )

    def _differs(self, text: str) -> None:
        self._error(codes.AVRO_OUTPUT_DIFFERS, text, "schema")

    def _error(self, code: Code, detail: str, name: str) -> None:
        self.diagnostics.error(code, detail, attribute=("output", self.output, "kafka", name))


def _record(schema: str | None) -> Record | None:
    try:
        parsed = parse(schema) if schema is not None else None
    except NotAvro:
        return None
    return parsed if isinstance(parsed, Record) else None
