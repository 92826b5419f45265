"""Rows as records of a topic: shapes them as Spark's Kafka sink takes them, and writes a micro-batch. Touches
the broker.

A record has a key, headers and a value. Spark's sink keeps no mark of what it has written: a batch that is
done again writes its records again.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from flareiac_spark_runtime.control import Header, KafkaOutput
from flareiac_spark_runtime.driver import avro_values
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.jvm import jvm_of
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.sources.kafka_client import LARGEST_BATCH, SENT_AT_ONCE, exceeding, java_settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT: Final = "kafka"
_PATIENCE: Final = {"default.api.timeout.ms": "30000", "request.timeout.ms": "15000"}
_NOT_ALLOWED: Final = ("TopicAuthorizationException", "ClusterAuthorizationException")
_NO_SUCH_TOPIC: Final = "UnknownTopicOrPartitionException"
_VALUE: Final = "value"
_HEADERS: Final = "array<struct<key:string,value:binary>>"
_JSON: Final = (
    "map('ignoreNullFields', 'false', 'timeZone', 'UTC', "
    "'timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\", "
    "'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\")"
)
"""A null stays a field, and no microsecond is lost: Spark's own defaults leave nulls out and cut timestamps
to milliseconds.
"""


def shape(frame: "DataFrame", output: KafkaOutput) -> Any:
    """The frame with the columns of Spark's sink. Raises ``Refusal`` for columns that are missing, of another
    type, or left over.
    """
    _refuse_ambiguous(frame.columns, output)
    columns = _Columns(frame, output)
    made = [columns.value()]
    if output.key is not None:
        made.append(columns.key(output.key))
    if output.headers_column is not None:
        made.append(columns.headers_as_they_are(output.headers_column))
    elif output.headers:
        made.append(columns.headers(output.headers))
    return frame.selectExpr(*made)


def write(rows: Any, options: Mapping[str, str]) -> None:
    """Writes a shaped frame of a definite set of rows. Raises what Spark raises."""
    rows.write.format(FORMAT).options(**options).save()


def opened(session: "SparkSession", output: KafkaOutput) -> dict[str, str]:
    """Options of Spark's sink, with every secret resolved, for a topic that is there and is the planned one.
    Raises ``Refusal``, and what a client of Kafka raises.

    A broker that creates topics by itself would make a missing one with its defaults. What a producer sends
    at once stays within what the topic takes: of a larger batch Spark loses records without an error
    (measured).
    """
    jvm = jvm_of(session)
    admin_client = jvm.org.apache.kafka.clients.admin.AdminClient
    if not callable(getattr(admin_client, "create", None)):
        raise Refusal(
            "KAFKA_CONNECTOR_MISSING", "The application has no jars of Spark's Kafka connector. Restart it."
        )
    client = java_settings(output.client)
    admin = admin_client.create(_java_map(jvm, {**_PATIENCE, **client}))
    try:
        _prove(_described(jvm, admin, output), output)
        limit = _largest_batch(jvm, admin, output.topic)
    finally:
        admin.close(jvm.java.time.Duration.ZERO)
    settings = {**client, **java_settings(output.options), **_sizes(output, limit)}
    return {"topic": output.topic, **{f"kafka.{name}": value for name, value in settings.items()}}


def _described(jvm: Any, admin: Any, output: KafkaOutput) -> Any:
    from py4j.protocol import Py4JJavaError

    names = jvm.java.util.ArrayList()
    names.add(output.topic)
    try:
        return admin.describeTopics(names).topicNameValues().get(output.topic).get()
    except Py4JJavaError as failure:
        if _cause(failure) != _NO_SUCH_TOPIC:
            raise
    why = (
        f"The topic {output.topic}, which the output {output.name!r} writes, does not exist. Declare it in a "
        "topic block, or create it."
    )
    raise Refusal("TOPIC_NOT_FOUND", why)


def _prove(description: Any, output: KafkaOutput) -> None:
    topic_id = str(description.topicId().toString())
    if output.topic_id is not None and output.topic_id != topic_id:
        why = (
            f"The topic {output.topic} is another one than planned: it has the id {topic_id} and not "
            f"{output.topic_id}. It was deleted and created again. Plan and apply again."
        )
        raise Refusal("TOPIC_REPLACED", why)


def _largest_batch(jvm: Any, admin: Any, topic: str) -> int | None:
    """Bytes of the largest batch of records that a topic takes; None where the user may not know."""
    from py4j.protocol import Py4JJavaError

    resource_class = jvm.org.apache.kafka.common.config.ConfigResource
    resource = resource_class(resource_class.Type.TOPIC, topic)
    resources = jvm.java.util.ArrayList()
    resources.add(resource)
    try:
        config = admin.describeConfigs(resources).values().get(resource).get()
    except Py4JJavaError as failure:
        if _cause(failure) in _NOT_ALLOWED:
            return None
        raise
    return int(config.get(LARGEST_BATCH).value())


def _sizes(output: KafkaOutput, limit: int | None) -> dict[str, str]:
    """The limits in bytes of what a producer sends at once, by option, where its defaults are more than the
    topic takes. Raises ``Refusal`` for options that exceed it.
    """
    if limit is None:
        return {}
    settings = {**output.client, **output.options}
    for name, given in exceeding(settings, limit):
        why = (
            f"{name} = {given} of the output {output.name!r} is more than the topic "
            f"{output.topic} takes ({LARGEST_BATCH} = {limit}): records would be lost without an "
            f"error. Lower it, or raise {LARGEST_BATCH} of the topic."
        )
        raise Refusal("PRODUCER_EXCEEDS_TOPIC", why)
    return {
        name: str(limit) for name, default in SENT_AT_ONCE.items() if name not in settings and default > limit
    }


def _cause(failure: Any) -> str:
    """The class of what an answer of Kafka's client failed with."""
    cause = failure.java_exception.getCause()
    return "" if cause is None else str(cause.getClass().getSimpleName())


def _java_map(jvm: Any, settings: Mapping[str, str]) -> Any:
    java_map = jvm.java.util.HashMap()
    for name, value in settings.items():
        java_map.put(name, value)
    return java_map


class _Columns:
    """The columns that a query gives, as expressions of the parts of a record."""

    def __init__(self, frame: "DataFrame", output: KafkaOutput) -> None:
        self._output = output
        self._fields = {field.name.lower(): field for field in frame.schema}
        self._types = {name: (field.name, field.dataType) for name, field in self._fields.items()}

    def value(self) -> str:
        if self._output.avro is not None:
            beside = avro_values.Output(
                name=self._output.name, source=self._source, beside=self._written_elsewhere()
            )
            return f"{avro_values.value_of(self._fields, self._output.avro, beside)} AS {_VALUE}"
        if self._output.format == "json":
            taken = {name.lower() for name in _header_columns(self._output)}
            fields = [quote(name) for lower, (name, _type) in self._types.items() if lower not in taken]
            if not fields:
                raise Refusal("KAFKA_VALUE_MISSING", f"{self._source} gives no column for the value.")
            return f"to_json(struct({', '.join(fields)}), {_JSON}) AS {_VALUE}"
        name, kind = self._named(_VALUE, "value")
        wanted = "string" if self._output.format == "text" else "binary"
        if kind.simpleString() != wanted:
            raise Refusal(
                "KAFKA_VALUE_TYPE",
                f"{self._source} gives {name} as {kind.simpleString()}; with format = "
                f'"{self._output.format}" it is the value of a record and must be {wanted}. Cast it in a '
                'step, or write format = "json".',
            )
        self._refuse_others()
        return f"{quote(name)} AS {_VALUE}"

    def key(self, column: str) -> str:
        return f"{self._text_or_bytes(column, 'key')} AS key"

    def headers(self, headers: tuple[Header, ...]) -> str:
        made = [
            f"named_struct('key', {_literal(header.name)}, 'value', "
            f"CAST({self._text_or_bytes(header.column, f'header {header.name}')} AS BINARY))"
            for header in headers
        ]
        return f"array({', '.join(made)}) AS headers"

    def headers_as_they_are(self, column: str) -> str:
        name, kind = self._named(column, "headers")
        if kind.simpleString() != _HEADERS:
            raise Refusal(
                "KAFKA_HEADERS_TYPE",
                f"{self._source} gives {name} as {kind.simpleString()}; as headers it must be {_HEADERS}. "
                'Give single headers by columns: headers = { "name" = "column" }.',
            )
        return f"{quote(name)} AS headers"

    @property
    def _source(self) -> str:
        return repr(self._output.source)

    def _named(self, column: str, part: str) -> tuple[str, Any]:
        name_and_type: tuple[str, Any] | None = self._types.get(column.lower())
        if name_and_type is None:
            given = ", ".join(name for name, _type in self._types.values())
            raise Refusal(
                "KAFKA_COLUMN_MISSING",
                f"The output {self._output.name!r} takes the {part} from the column {column}, and "
                f"{self._source} gives {given}.",
            )
        return name_and_type

    def _text_or_bytes(self, column: str, part: str) -> str:
        from pyspark.sql import types

        name, kind = self._named(column, part)
        if isinstance(kind, types.BinaryType | types.StringType):
            return quote(name)
        if isinstance(kind, types.ArrayType | types.MapType | types.StructType | types.VariantType):
            raise Refusal(
                "KAFKA_COLUMN_TYPE",
                f"The output {self._output.name!r} takes the {part} from {name}, which is "
                f"{kind.simpleString()}. It must be a string, binary, or a number, date or time, which is "
                "written as a string. Make one of it in a step, for instance with to_json.",
            )
        return f"CAST({quote(name)} AS STRING)"

    def _written_elsewhere(self) -> set[str]:
        """The columns of key and headers, in lower case."""
        key = [] if self._output.key is None else [self._output.key]
        return {name.lower() for name in (*key, *_header_columns(self._output))}

    def _refuse_others(self) -> None:
        """Raises ``Refusal`` for columns that only a value of several fields could hold."""
        used = {_VALUE, *self._written_elsewhere()}
        if others := [name for lower, (name, _type) in self._types.items() if lower not in used]:
            raise Refusal(
                "KAFKA_EXTRA_COLUMN",
                f"{self._source} gives {', '.join(others)}, which would be lost: with format = "
                f'"{self._output.format}" the value of a record is the column value alone. Leave them out, '
                'or write format = "json".',
            )


def _header_columns(output: KafkaOutput) -> Iterator[str]:
    if output.headers_column is not None:
        yield output.headers_column
    for header in output.headers:
        yield header.column


def _refuse_ambiguous(names: list[str], output: KafkaOutput) -> None:
    lower = [name.lower() for name in names]
    if twice := sorted({name for name in lower if lower.count(name) > 1}):
        raise Refusal(
            "OUTPUT_AMBIGUOUS_COLUMN",
            f"{output.source!r} gives the column {twice[0]} more than once; name each one once.",
        )


def _literal(text: str) -> str:
    """A string of Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
