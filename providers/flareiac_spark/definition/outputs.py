"""From the output blocks of a job to their definitions. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.records import Foreign, decode
from flareiac.sdk.declared import of_block
from flareiac.sdk.definitions import Text
from flareiac.sdk.lakehouse_views import ConnectionView, TopicView
from flareiac.sdk.references import References
from flareiac.sdk.secret_settings import checked_settings
from flareiac_spark import codes
from flareiac_spark.column_types import table_columns
from flareiac_spark.definition.avro_output import AvroOutput
from flareiac_spark.definition.output_definition import KafkaOutput, Merge, Output, TableOutput
from flareiac_spark_runtime.sources.kafka_client import LARGEST_BATCH, exceeding

_OF_TABLES: Final = ("merge", "branch", "rebuild", "options")
"""Attributes of an output that mean something for a table only."""
_MODES: Final = ("append", "update", "complete")
_DELIVERY: Final = {
    "acks": ("all", "-1"),
    "enable.idempotence": ("true",),
}
"""Producer settings on which it depends whether a record is lost or comes out of order, with the values that
keep it.
"""
_OF_CONNECTION: Final = ("bootstrap.servers", "security.", "sasl.", "ssl.")
_NOT_TAKEN: Final = {
    "key.serializer": "FlareIaC writes keys as bytes",
    "value.serializer": "FlareIaC writes values as bytes",
    "transactional.id": "Spark writes without transactions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSources:
    """The inputs and steps that outputs may write: ``default`` is the one that they write where they name
    none. ``columns`` are those that each input and step gives, by lower-case name; None where only Spark can
    tell.
    """

    default: str
    columns: Mapping[str, Sequence[str] | None]

    def filled(self, source: str) -> frozenset[str] | None:
        """The columns of one, in lower case."""
        names = self.columns.get(source.lower())
        return None if names is None else frozenset(name.lower() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic(Foreign):
    """The parts of a topic block that are read, in canonical form."""

    config: Mapping[str, Text | None] | None


def outputs_of(
    declared: Attributes, sources: OutputSources, references: References, diagnostics: Diagnostics
) -> dict[str, Output]:
    """The outputs by label; what is wrong with a block is reported."""
    outputs: dict[str, Output] = {}
    for name, block in declared.items():
        source = block.get("from") or sources.default
        if isinstance(block.get("table"), Reference):
            outputs[name] = _table(name, block, source, sources, references, diagnostics)
        elif block.get("kafka"):
            kafka = _Kafka(name, block, source, references, diagnostics)
            outputs[name] = kafka.output(sources.columns.get(source.lower()))
    return outputs


def _table(
    name: str,
    block: Attributes,
    source: str,
    sources: OutputSources,
    references: References,
    diagnostics: Diagnostics,
) -> TableOutput:
    filled = sources.filled(source)
    columns = table_columns(block["table"], references)
    return of_block(
        TableOutput,
        block,
        source=source,
        merge=_merge(block.get("merge")),
        options=checked_settings(block.get("options"), ("output", name, "options"), references, diagnostics),
        columns={
            column.name: column.text for column in columns if filled is None or column.name.lower() in filled
        },
    )


def _merge(merge: Data) -> Merge | None:
    return of_block(Merge, merge, on=tuple(merge["on"] or ())) if isinstance(merge, dict) else None


class _Kafka:
    """One output with a ``kafka`` block; what is wrong is reported with the path of its attribute."""

    def __init__(
        self, name: str, outer: Attributes, source: str, references: References, diagnostics: Diagnostics
    ) -> None:
        self._at: Path = ("output", name)
        self._name, self._outer, self._source = name, outer, source
        self._block: Attributes = outer["kafka"]
        self._mode = outer.get("mode") or "append"
        self._references, self._diagnostics = references, diagnostics

    def output(self, columns: Sequence[str] | None) -> KafkaOutput:
        """``columns``: those that the step gives, None where they are not known."""
        self._refuse_attributes_of_tables()
        topic, block = self._block["topic"], self._block
        connection = self._connection()
        headers = block.get("headers")
        avro = self._avro(connection)
        output = of_block(
            KafkaOutput,
            block,
            topic=self._topic_name(),
            resource=topic if isinstance(topic, Reference) else None,
            connection=connection,
            client=self._client(connection),
            source=self._source,
            mode=self._mode if self._mode in _MODES else "append",
            headers_column=headers if isinstance(headers, str) else None,
            headers=self._headers(headers),
            options=self._options(),
            subject=avro.subject,
            schema=avro.text,
            registry=avro.registry,
        )
        if columns is not None:
            self._check_columns(output, columns)
            avro.check_columns(output, columns)
        self._check_sizes(output)
        return output

    def _check_sizes(self, output: KafkaOutput) -> None:
        """Reports producer settings that exceed the size that a declared topic takes at once."""
        limit = self._declared_limit()
        if limit is None:
            return
        for name, given in exceeding({**output.client, **output.options}, limit):
            own = name in output.options
            where = "options of the output" if own else f"options of {output.connection}"
            self._error(
                codes.PRODUCER_EXCEEDS_TOPIC,
                f"{name} = {given} in {where} is more than {output.resource} takes "
                f"({LARGEST_BATCH} = {limit}): records would be lost without an error, so that the job would "
                f"not start. Lower it, or raise {LARGEST_BATCH} in config of the topic.",
                "kafka",
                *(("options", name) if own else ("topic",)),
            )

    def _declared_limit(self) -> int | None:
        topic = self._block["topic"]
        settings = topic_settings(topic if isinstance(topic, Reference) else None, self._references)
        given = (settings or {}).get(LARGEST_BATCH)
        return int(given) if isinstance(given, str) and given.isdecimal() else None

    def _avro(self, connection: Reference | None) -> AvroOutput:
        """The Avro that the output writes."""
        return AvroOutput(
            output=self._name,
            format=self._block.get("format"),
            schema=self._block.get("schema"),
            written_subject=self._block.get("subject"),
            topic=self._topic_name(),
            connection=self._references.get(connection.address) if connection is not None else None,
            diagnostics=self._diagnostics,
        )

    def _check_columns(self, output: KafkaOutput, given: Sequence[str]) -> None:
        known = {name.lower() for name in given}
        wanted: list[tuple[Path, Data]] = [
            (("key",), output.key),
            (("headers",), output.headers_column),
            (("format",), "value" if output.format in ("text", "raw") else None),
            *((("headers", header), column) for header, column in output.headers.items()),
        ]
        for path, column in wanted:
            if isinstance(column, str) and column.lower() not in known:
                self._error(
                    codes.RECORD_COLUMN_MISSING,
                    f"Output {self._name} takes the column {column}, and {output.source} gives "
                    f"{', '.join(given)}.{did_you_mean(column, list(given))}",
                    "kafka",
                    *path,
                )

    def _refuse_attributes_of_tables(self) -> None:
        for name in _OF_TABLES:
            if self._outer.get(name) not in (None, {}):
                what = "Write producer settings in its kafka block." if name == "options" else "Remove it."
                self._error(
                    codes.ATTRIBUTE_OF_TABLES,
                    f"Output {self._name} writes a topic, and {name} is for tables. {what}",
                    name,
                )
        if self._mode not in _MODES:
            self._error(
                codes.MODE_OF_TABLES,
                f"Output {self._name} writes a topic, whose records cannot be changed: mode = "
                f'"{self._mode}" is for tables. Write append, update or complete.',
                "mode",
            )

    def _topic_name(self) -> str:
        topic = self._block["topic"]
        if not isinstance(topic, Reference):
            return topic if isinstance(topic, str) else ""
        declared = TopicView.at(topic, self._references)
        return declared.name if declared is not None else topic.address

    def _connection(self) -> Reference | None:
        """The connection that is written or filled in; else that of the topic. None where there is none,
        which is reported.
        """
        block = self._block
        written = block.get("connection")
        if isinstance(written, Reference):
            return written
        declared = TopicView.at(block["topic"], self._references)
        if declared is not None and declared.connection is not None:
            return declared.connection
        self._error(
            codes.OUTPUT_WITHOUT_CLUSTER,
            f'Output {self._name} names no cluster. Declare one, kafka "main" {{ bootstrap_servers = '
            '"host:9092" }, and name it where there are several: connection = kafka.main.',
            "kafka",
            "connection",
        )
        return None

    def _client(self, connection: Reference | None) -> dict[str, str]:
        declared = self._references.get(connection.address) if connection is not None else None
        return dict(ConnectionView.of(declared).client) if declared is not None else {}

    def _headers(self, headers: Data) -> dict[str, str]:
        if headers is None or isinstance(headers, str) or headers is UNKNOWN:
            return {}
        if isinstance(headers, dict) and all(isinstance(column, str) for column in headers.values()):
            return dict(headers)
        self._error(
            codes.INVALID_HEADERS,
            'Write headers = { "name" = "column" }, or the name of one column of type '
            "list<struct<key: string, value: binary>>.",
            "kafka",
            "headers",
        )
        return {}

    def _options(self) -> dict[str, str]:
        at = (*self._at, "kafka", "options")
        options = checked_settings(self._block.get("options"), at, self._references, self._diagnostics)
        for name, value in options.items():
            if (why := _refusal(name, value)) is not None:
                self._diagnostics.error(codes.PRODUCER_OPTION, f"{name}: {why}.", attribute=(*at, name))
        return options

    def _error(self, code: Code, detail: str, *path: str | int) -> None:
        self._diagnostics.error(code, detail, attribute=(*self._at, *path))


def topic_settings(topic: Reference | None, references: References) -> Mapping[str, Text | None] | None:
    """The settings that a block of a topic declares; None where there is no block, or it manages none."""
    declared = references.get(topic.address) if topic is not None else None
    return decode(_Topic, declared.attributes).config if declared is not None else None


def _refusal(name: str, value: str) -> str | None:
    """The reason that a producer does not take a setting, None if it does."""
    if name.startswith("kafka."):
        return f"write it without kafka.: {name.removeprefix('kafka.')}"
    if name.startswith(_OF_CONNECTION):
        return "it belongs to the connection: write it in the kafka block that declares the cluster"
    if name in _NOT_TAKEN:
        return f"{_NOT_TAKEN[name]}; remove it"
    if name in _DELIVERY and str(value).lower() not in _DELIVERY[name]:
        return (
            f"with {value} records can be lost or change their order when a broker fails, and the output "
            "promises each at least once; remove it"
        )
    return None
