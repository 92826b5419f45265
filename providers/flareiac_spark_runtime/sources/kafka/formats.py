"""The names of formats of values, and of the columns that a record has beside its value."""

from typing import Final

FORMATS: Final = ("json", "csv", "avro", "debezium_json", "debezium_avro", "text", "raw")
"""``decoders`` holds what reads each one."""
AVRO: Final = "avro"
DEBEZIUM_JSON: Final = "debezium_json"
DEBEZIUM_AVRO: Final = "debezium_avro"
DEBEZIUM: Final = (DEBEZIUM_JSON, DEBEZIUM_AVRO)
"""Formats whose values are changes of rows."""
OF_AVRO: Final = (AVRO, DEBEZIUM_AVRO)
"""Formats with a schema, or a registry."""
TEXTS: Final = ("json", "csv", DEBEZIUM_JSON)
"""Formats whose columns are declared."""
VALUE: Final = {"text": "string", "raw": "binary"}
"""The type of the one column of other formats."""
KEY: Final = "kafka_key"
HEADERS: Final = "kafka_headers"
HEADERS_TYPE: Final = "list<struct<key: string, value: binary>>"
METADATA: Final = {
    "kafka_topic": "string",
    "kafka_partition": "int",
    "kafka_offset": "long",
    "kafka_timestamp": "timestamptz",
}
"""Columns and their types, by Iceberg's names."""
BESIDE_VALUE: Final = (KEY, HEADERS, *METADATA)
