"""The decoding of records in JSON, CSV and Avro, and the faults that pass unseen. No broker takes part: a
decoder does not know where a record comes from.
"""

import io
import json
import re
import struct
from collections.abc import Mapping
from typing import Any, Final

import fastavro
import pytest

from tests.facts.ids import fact
from tests.facts.lake import collected

pytestmark = [pytest.mark.jvm, pytest.mark.kafka]

COLUMNS: Final = "a INT, b STRING"
MARKED: Final = f"{COLUMNS}, bad STRING"
MALFORMED: Final = "MALFORMED_RECORD_IN_PARSING"
Row = tuple[Any, ...]
Decoded = Row | str | None


def value_of(spark: Any, data: str | bytes | None) -> Any:
    """A frame of one record, ``value``."""
    raw = data.encode() if isinstance(data, str) else data
    literal = "CAST(NULL AS BINARY)" if raw is None else f"X'{raw.hex()}'"
    return spark.sql(f"SELECT * FROM VALUES ({literal}) AS records(value)")


def only(frame: Any) -> Decoded:
    """The ``record`` of a frame of one: its fields, None where it is NULL, and where it fails the reason."""
    try:
        ((found, absent),) = collected(frame.selectExpr("record", "record IS NULL"))
    except Exception as failure:  # noqa: BLE001  # errors of the JVM of which PySpark knows some
        return MALFORMED if re.search(f"{MALFORMED}|Malformed records", str(failure)) else str(failure)
    return None if absent else tuple(found)


def decode(
    spark: Any, function: str, data: str | bytes | None, columns: str = MARKED, *, mode: str = "PERMISSIVE"
) -> Decoded:
    """The result of a function of Spark's for a text."""
    options = f"map('mode', '{mode}', 'columnNameOfCorruptRecord', 'bad')"
    call = f"{function}(CAST(value AS STRING), '{columns}', {options}) AS record"
    return only(value_of(spark, data).selectExpr(call))


@fact("json.marked")
@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ('{"a": 1', (None, None)),
        ("not json", (None, None)),
        ("null", (None, None)),
        ('{"a": "no", "b": "x"}', (None, "x")),
        ('{"a": "7", "b": "x"}', (None, "x")),
        ('{"a": 1.0, "b": "x"}', (None, "x")),
        ('{"a": 99999999999, "b": "x"}', (None, "x")),
        ('[{"a": 1, "b": "x"}]', (None, None)),
    ],
)
def test_json_that_does_not_fit_is_marked(application: Any, text: str, decoded: Row) -> None:
    """In the corrupt column, also where other fields are decoded; ``FAILFAST`` fails for the same."""
    assert decode(application, "from_json", text) == (*decoded, text)
    assert decode(application, "from_json", text, COLUMNS, mode="FAILFAST") == MALFORMED


@fact("json.unmarked")
@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("", None),
        (None, None),
        ("{}", (None, None)),
        ('{"A": 3, "b": "x"}', (None, "x")),
        ('{"a": 1, "b": "x"} more', (1, "x")),
        ('{"a": 1, "a": 2, "b": "x"}', (2, "x")),
        ('{"a": 1, "b": 5}', (1, "5")),
        ('{"a": 1, "b": {"k": 1}}', (1, '{"k":1}')),
        ('{"a": 1, "b": "x", "c": 1}', (1, "x")),
        (b'{"a": 1, "b": "\xff"}', (1, "\ufffd")),
    ],
)
def test_json_faults_that_pass_unseen(
    application: Any, text: str | bytes | None, decoded: Row | None
) -> None:
    """An empty value is a NULL like a tombstone; text after the object, a name twice or in other letters,
    and bytes that are not UTF-8 are neither marked nor an error, in no mode.
    """
    assert decode(application, "from_json", text) == (None if decoded is None else (*decoded, None))
    assert decode(application, "from_json", text, COLUMNS, mode="FAILFAST") == decoded


AROUND: Final = f"a ARRAY<STRUCT<{COLUMNS}, e INT>>, bad STRING"
"""The columns of a text that is the first element of an array."""


@fact("json.around")
@pytest.mark.parametrize(
    ("text", "elements", "is_marked"),
    [
        ('{"a": 1, "b": "x"}', [(1, "x", None), (None, None, 1)], False),
        ('{"a": 1, "a": 2}', [(2, None, None), (None, None, 1)], False),
        ('{"a": "no", "b": "x"}', [(None, "x", None), (None, None, 1)], True),
        ("null", [None, (None, None, 1)], False),
        ("5", None, True),
        ("", None, True),
        ('{"a": 1} more', None, True),
        ('{"a": 1}, {"a": 2}', [(1, None, None), (2, None, None), (None, None, 1)], False),
        ('{"a": 1}, "a": 2', None, True),
        ('{"a": 1}], "a": [{"a": 2}', [(2, None, None), (None, None, 1)], False),
        ('{"a": 1}], "x": [{"a": 2}', [(1, None, None)], False),
        ('{"a": 1}, {"e": 1}], "x": [0', [(1, None, None), (None, None, 1)], False),
        ('{"a": 1}]}', [(1, None, None)], False),
    ],
)
def test_json_as_the_first_of_two_elements(
    application: Any, text: str, elements: list[Row | None] | None, is_marked: bool
) -> None:
    """One call sees what follows a value: it is a further element, or the array breaks. A text that knows the
    names around it can close the array and go on unseen.
    """
    found = decode(application, "from_json", f'{{"a": [{text}\n, {{"e": 1}}]}}', AROUND)
    assert isinstance(found, tuple)
    array = None if found[0] is None else [None if item is None else tuple(item) for item in found[0]]
    assert (array, found[1] is not None) == (elements, is_marked)


@fact("json.depth")
def test_json_is_read_up_to_a_depth(application: Any) -> None:
    """The depth is 1000, or the option ``maxNestingDepth``; deeper values are marked."""
    texts = [f'{{"a": 1, "x": {"[" * deep}{"]" * deep}}}' for deep in (999, 1000)]
    assert [decode(application, "from_json", text) for text in texts] == [
        (1, None, None),
        (None, None, texts[1]),
    ]
    call = (
        f"from_json(CAST(value AS STRING), '{COLUMNS}', map('maxNestingDepth', '1001', 'mode', 'FAILFAST'))"
    )
    assert only(value_of(application, texts[1]).selectExpr(f"{call} AS record")) == (1, None)


@fact("json.not-null")
def test_json_ignores_that_a_column_is_required(application: Any) -> None:
    """A field that is missing is NULL, and Spark forgets ``NOT NULL``."""
    assert decode(application, "from_json", '{"b": "x"}', "a INT NOT NULL, b STRING, bad STRING") == (
        None,
        "x",
        None,
    )


@fact("json.nested")
def test_json_marks_faults_inside_nested_columns(application: Any) -> None:
    """The smallest part that does not fit is NULL: a field of a struct, and the whole of an array or map."""
    text = '{"s": {"x": "no", "y": 1}, "l": [1, "no"], "m": {"k": "no"}}'
    columns = "s STRUCT<x: INT, y: INT>, l ARRAY<INT>, m MAP<STRING, INT>, bad STRING"
    found = decode(application, "from_json", text, columns)
    assert isinstance(found, tuple)
    assert (tuple(found[0]), *found[1:]) == ((None, 1), None, None, text)


@fact("json.decimals")
def test_json_rounds_decimals(application: Any) -> None:
    """Digits beyond the scale are rounded without a mark; what does not fit the precision is marked."""
    columns = "a DECIMAL(4, 2), bad STRING"
    rounded = decode(application, "from_json", '{"a": 12.345}', columns)
    assert isinstance(rounded, tuple)
    assert (str(rounded[0]), rounded[1]) == ("12.35", None)
    assert decode(application, "from_json", '{"a": 123.4}', columns) == (None, '{"a": 123.4}')


@fact("json.pruned")
def test_a_query_that_needs_no_column_decodes_nothing(application: Any) -> None:
    """``FAILFAST`` fails where any column is used, and not where rows are only counted."""
    texts = value_of(application, '{"a": "no", "b": "x"}').selectExpr("CAST(value AS STRING) AS value")
    frame = texts.repartition(1)  # so that a job decodes it, not the optimizer
    decoded = frame.selectExpr(f"from_json(value, '{COLUMNS}', map('mode', 'FAILFAST')) AS record")
    assert decoded.count() == 1
    with pytest.raises(Exception, match=MALFORMED):
        decoded.selectExpr("record.b").collect()
    marked = frame.selectExpr(
        f"from_json(value, '{MARKED}', map('columnNameOfCorruptRecord', 'bad')) AS record"
    )
    assert collected(marked.selectExpr("record.bad IS NULL")) == [(False,)]


@fact("csv.marked")
@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("no,x", (None, "x")),
        ("1", (1, None)),
        ("1,x,more", (1, "x")),
        (" 1 ,x", (None, "x")),
        ('"1,x', (None, None)),
    ],
)
def test_csv_that_does_not_fit_is_marked(application: Any, text: str, decoded: Row) -> None:
    """As for JSON, and also where columns are missing or too many."""
    assert decode(application, "from_csv", text) == (*decoded, text)
    assert decode(application, "from_csv", text, COLUMNS, mode="FAILFAST") == MALFORMED


@fact("csv.unmarked")
def test_csv_faults_that_pass_unseen(application: Any) -> None:
    """A quote that is not closed in the last column; an empty value is not marked, although ``FAILFAST``
    fails for it.
    """
    assert decode(application, "from_csv", '1,"x') == (1, "x", None)
    assert decode(application, "from_csv", "") == (None, None, None)
    assert decode(application, "from_csv", "", COLUMNS, mode="FAILFAST") == MALFORMED
    assert decode(application, "from_csv", None) is None


def record(*fields: tuple[Any, ...]) -> dict[str, Any]:
    """An Avro record; a field is a name, a type and perhaps a default."""
    listed = [
        {"name": item[0], "type": item[1], **({"default": item[2]} if len(item) > 2 else {})}
        for item in fields
    ]
    return {"type": "record", "name": "Flight", "fields": listed}


PLAIN: Final = record(("a", "int"), ("b", "string"))
OPTIONAL: Final = record(("a", ["null", "int"]), ("b", ["null", "string"]))


def encoded(schema: Mapping[str, Any], **fields: object) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(dict(schema)), fields)
    return out.getvalue()


def avro(
    spark: Any, data: bytes | None, schema: Any, *, skip: int = 0, reader: Any = None, mode: str = "FAILFAST"
) -> Decoded:
    """The result of ``from_avro`` for bytes, without the first ``skip``; ``reader`` is the schema that the
    record is resolved to.
    """
    from pyspark.sql.avro.functions import from_avro

    options = {"mode": mode, **({"avroSchema": json.dumps(reader)} if reader else {})}
    value = value_of(spark, data).selectExpr(f"substring(value, {skip + 1}) AS value")
    return only(value.select(from_avro("value", json.dumps(schema), options).alias("record")))


@fact("avro.header")
@pytest.mark.parametrize("number", [1, 70_000])
def test_the_header_of_a_schema_registry_is_misread(application: Any, number: int) -> None:
    """A zero and the id of four bytes come out as an empty record, silently, in every mode; without them the
    record is right.
    """
    data = b"\0" + struct.pack(">I", number) + encoded(PLAIN, a=1, b="x")
    for mode in ("FAILFAST", "PERMISSIVE"):
        assert avro(application, data, PLAIN, mode=mode) == (0, "")
    assert avro(application, data, PLAIN, skip=5) == (1, "x")


@fact("avro.permissive")
@pytest.mark.parametrize("data", [b"\x02", b"", b"\xff" * 11])
def test_avro_that_cannot_be_decoded_is_a_record_of_nulls(application: Any, data: bytes) -> None:
    """In ``PERMISSIVE``: not a NULL, with no corrupt column. ``FAILFAST``, the default, fails."""
    assert avro(application, data, PLAIN, mode="PERMISSIVE") == (None, None)
    assert avro(application, data, PLAIN) == MALFORMED


@fact("avro.marker")
def test_a_default_of_the_reader_tells_what_was_decoded(application: Any) -> None:
    """A field that only the reader has is filled in for each record that can be decoded, and for no other."""
    reader = record(("a", ["null", "int"]), ("b", ["null", "string"]), ("decoded", "boolean", True))

    def read(data: bytes | None) -> Decoded:
        return avro(application, data, OPTIONAL, reader=reader, mode="PERMISSIVE")

    assert read(encoded(OPTIONAL, a=1, b=None)) == (1, None, True)
    assert read(encoded(OPTIONAL, a=None, b=None)) == (None, None, True)
    assert read(b"\x02") == (None, None, None)
    assert read(None) is None


@fact("avro.trailing")
def test_bytes_after_an_avro_record_pass_unseen(application: Any) -> None:
    """So that a record of a schema with more fields at its end loses them silently."""
    assert avro(application, encoded(PLAIN, a=1, b="x") + b"more", PLAIN) == (1, "x")
    longer = record(("a", "int"), ("b", "string"), ("c", "long"))
    assert avro(application, encoded(longer, a=1, b="x", c=5), PLAIN) == (1, "x")


@fact("avro.wrong-schema")
def test_another_schema_than_the_writers_may_be_read_as_nonsense(application: Any) -> None:
    """Without an error, where the bytes happen to fit; and older records fail with a newer schema."""
    swapped = record(("b", "string"), ("a", "int"))
    assert avro(application, encoded(PLAIN, a=1, b="xyz"), swapped) == ("\x06", 60)
    newer = record(("a", "int"), ("b", "string"), ("c", "long", 0))
    assert avro(application, encoded(PLAIN, a=1, b="x"), newer) == MALFORMED


@fact("avro.evolution")
def test_a_reader_schema_is_resolved_as_avro_does(application: Any) -> None:
    """With the schema of the writer as the schema and that of the reader as ``avroSchema``: defaults, wider
    types, aliases, another order, fields left out.
    """
    reader = record(("b", "string"), ("a", "long"), ("c", "long", 7))
    data = encoded(PLAIN, a=1, b="x")
    assert avro(application, data, PLAIN, reader=reader) == ("x", 1, 7)
    renamed = record(("n", "int"))
    renamed["fields"][0]["aliases"] = ["a"]
    assert avro(application, data, PLAIN, reader=renamed) == (1,)


@fact("avro.incompatible")
def test_schemas_that_do_not_resolve_fail_for_each_record(application: Any) -> None:
    """Only when a record is decoded; in ``PERMISSIVE`` every record is one of nulls."""
    reader = record(("a", "string"), ("b", "string"))
    data = encoded(PLAIN, a=1, b="x")
    assert avro(application, data, PLAIN, reader=reader) == MALFORMED
    assert avro(application, data, PLAIN, reader=reader, mode="PERMISSIVE") == (None, None)


@fact("avro.types")
def test_types_of_avro_become_types_of_spark(application: Any) -> None:
    """A union of several types is a struct of its members; an enum and a UUID are strings."""
    from pyspark.sql.avro.functions import from_avro

    types: dict[str, Any] = {
        "u": ["int", "string"],
        "e": {"type": "enum", "name": "E", "symbols": ["X"]},
        "d": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
        "ms": {"type": "long", "logicalType": "timestamp-millis"},
        "us": {"type": "long", "logicalType": "timestamp-micros"},
        "local": {"type": "long", "logicalType": "local-timestamp-micros"},
        "day": {"type": "int", "logicalType": "date"},
        "id": {"type": "string", "logicalType": "uuid"},
        "raw": {"type": "fixed", "name": "F", "size": 2},
        "opt": ["null", "double"],
    }
    schema = json.dumps(record(*types.items()))
    frame = value_of(application, None).select(from_avro("value", schema).alias("r"))
    found = {field.name: field.dataType.simpleString() for field in frame.selectExpr("r.*").schema}
    assert found == {
        "u": "struct<member0:int,member1:string>",
        "e": "string",
        "d": "decimal(6,2)",
        "ms": "timestamp",
        "us": "timestamp",
        "local": "timestamp_ntz",
        "day": "date",
        "id": "string",
        "raw": "binary",
        "opt": "double",
    }
