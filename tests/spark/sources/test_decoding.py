"""Which records of JSON and CSV text are bad, by what they say: a real Spark decodes them, with the optimizer
that prunes what a query does not read.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flareiac_spark.control import StreamInput
from flareiac_spark.driver.bad_records import taken_off
from flareiac_spark.driver.column_types import spark_columns
from flareiac_spark.sources.decoding import ERROR, decode_text, marker
from flareiac_spark.sources.kafka.resolved import ResolvedKafka
from flareiac_spark.sources.resolved import SpecColumn
from tests.support.spark_session import spark_session

pytestmark = [
    pytest.mark.jvm,
    # PySpark leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

COLUMNS = (
    SpecColumn(name="id", type="long", required=True),
    SpecColumn(name="name", type="string"),
    SpecColumn(name="price", type="decimal(5,2)"),
    SpecColumn(name="at", type="timestamptz"),
    SpecColumn(name="day", type="date"),
    SpecColumn(name="n", type="int"),
    SpecColumn(name="ratio", type="double"),
    SpecColumn(name="marks", type="list<int>"),
    SpecColumn(name="place", type="struct<code: string not null, rows: list<struct<x: int not null>>>"),
    SpecColumn(name="odd `name`", type="map<string, int>"),
)
PAIR = (SpecColumn(name="id", type="long"), SpecColumn(name="name", type="string"))


@pytest.fixture(scope="module")
def spark(jars: tuple[Path, ...], java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with spark_session({}, jars, java_home, tmp_path_factory.mktemp("spark")) as session:
        yield session


def decoded(
    spark: Any,
    values: list[Any],
    columns: tuple[SpecColumn, ...] = COLUMNS,
    format: Any = "json",  # noqa: A002 - as the helper calls it
    **options: str,
) -> Any:
    frame = spark.createDataFrame([(at, value) for at, value in enumerate(values)], "at_ int, v binary")
    return decode_text(frame, "v", format, columns, options, spark_columns)


def errors(
    spark: Any,
    values: list[Any],
    columns: tuple[SpecColumn, ...] = COLUMNS,
    format: str = "json",  # noqa: A002 - as the helper calls it
    **options: str,
) -> list[str | None]:
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    rows = decoded(spark, raw, columns, format, **options).orderBy("at_").collect()
    return [row[ERROR] for row in rows]


GOOD = (
    '{"id": 1}',
    ' {"id": 1, "name": "x", "price": 1.5, "at": "2026-01-01T00:00:00Z", "day": "2026-01-01"} \n',
    '{"id": 1, "unknown": {"deep": [1]}, "n": null}',
    '{"id": 1, "name": {"any": "json"}}',
    '{"id": 1, "ratio": NaN}',
    '{"id": 1, "marks": [1, null], "odd `name`": {"k": 2}}',
    '{"id": 1, "place": {"code": "a", "rows": [{"x": 1}]}}',
    '{"id": 1, "id": 2}',
    f'{{"id": 1, "unknown": {"[" * 998}{"]" * 998}}}',  # as deep as Spark reads
)
BAD = (
    ('{"id": "x"}', "the field id does not fit the type long"),
    ('{"id": 1, "n": 1.5}', "the field n does not fit the type int"),
    ('{"id": 1, "n": 99999999999}', "the field n does not fit the type int"),
    ('{"id": 1, "n": ""}', "the field n does not fit the type int"),
    ('{"id": 99999999999999999999}', "the field id does not fit the type long"),
    ('{"id": 1, "price": 12345.6}', "the field price does not fit the type decimal(5,2)"),
    ('{"id": 1, "at": "yesterday"}', "the field at does not fit the type timestamptz"),
    ('{"id": 1, "day": "2026-13-01"}', "the field day does not fit the type date"),
    ('{"id": 1, "marks": [1, "x"]}', "the field marks does not fit the type list<int>"),
    ('{"id": 1, "marks": 5}', "the field marks does not fit the type list<int>"),
    ('{"id": 1, "odd `name`": {"k": "v"}}', "the field odd `name` does not fit the type map<string, int>"),
    ('{"id": 1', "the value is not a JSON object"),
    ("[]", "the value is not a JSON object"),
    ('[{"id": 1}, {"id": 2}]', "the value is not a JSON object"),
    ("null", "the value is not a JSON object"),
    ("5", "the value is not a JSON object"),
    ("garbage", "the value is not a JSON object"),
    ("", "the value is empty"),
    ("  ", "the value is empty"),
    ('{"id": 1} and more', "there is more text after the JSON object"),
    ('{"id": 1}{"id": 2}', "there is more text after the JSON object"),
    ('{"id": 1},{"id": 2}', "there is more text after the JSON object"),
    ('{"id": 1}}', "there is more text after the JSON object"),
    ('{"id": 1}, "n": 2', "there is more text after the JSON object"),
    ('{"id": 1}], "n": [0', "there is more text after the JSON object"),
    ('{"id": 1}, {}]}', "there is more text after the JSON object"),
    ('{"id": 1}]}', "there is more text after the JSON object"),
    ('{"name": "x"}', "there is no value for id, which is not null"),
    ('{"id": null}', "there is no value for id, which is not null"),
    ("{}", "there is no value for id, which is not null"),
    ('{"id": 1, "place": {"rows": []}}', "there is no value for a part of place, which is not null"),
    (
        '{"id": 1, "place": {"code": "a", "rows": [{"x": 1}, {}]}}',
        "there is no value for a part of place, which is not null",
    ),
    (b'{"id": 1, "name": "\xff\xfe"}', "the value is not UTF-8 text"),
)


def test_json_that_fits_is_good_and_a_tombstone_too(spark: Any) -> None:
    assert errors(spark, [*GOOD, None]) == [None] * (len(GOOD) + 1)


def test_json_that_fits_in_part_is_bad_and_says_where(spark: Any) -> None:
    found = errors(spark, [value for value, _ in BAD])
    assert dict(zip([value for value, _ in BAD], found, strict=True)) == dict(BAD)


def test_a_text_is_good_where_it_is_one_json_object(spark: Any) -> None:
    """As Python judges it, for texts put together from pieces: whatever stands before, after or around an
    object.
    """
    pieces = (
        *(
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            " ",
            "\n",
            "//",
            "/*",
            "*/",
            "\\",
            '"id"',
            '"x"',
            "1",
            "null",
            "true",
        ),
        *('{"id":1}', '{"id": {"x": [1]}}', "},{", "],[", "]}", ',"x":[0', ',"x":1', '"x":{"y":2}', ",{}]}"),
    )
    random = Random(12)
    texts = ["".join(random.choices(pieces, k=random.randint(1, 6))) for _ in range(1500)]
    texts += [f'{{"id": 1}}{text}' for text in texts] + [f'{{"id": 1,{text}}}' for text in texts]
    texts = [text for text in dict.fromkeys(texts) if text.strip()]
    found = errors(spark, texts, (SpecColumn(name="id", type="string"),))
    good = {text for text, error in zip(texts, found, strict=True) if error is None}
    assert good == {text for text in texts if is_object(text)}
    assert len(good) > 5


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def test_the_values_of_good_records(spark: Any) -> None:
    text = b'{"id": 7, "name": "x", "price": 1.5, "marks": [1, 2], "place": {"code": "a"}}'
    row = decoded(spark, [text]).collect()[0]
    assert (row.id, row.name, str(row.price), row.marks, row.place.code) == (7, "x", "1.50", [1, 2], "a")


@pytest.mark.parametrize("column", ["id", "n", "place"])
def test_a_query_that_reads_one_column_does_not_hide_what_is_bad_in_others(spark: Any, column: str) -> None:
    frame = decoded(spark, [b'{"id": 1, "n": 5, "day": "nonsense"}', b'{"id": 2}'])
    assert frame.where(f"{ERROR} IS NULL").select(column).count() == 1
    assert [row.at_ for row in frame.where(f"{ERROR} IS NOT NULL").select("at_").collect()] == [0]


def test_options_that_would_hide_bad_records_have_no_effect(spark: Any) -> None:
    values = ['{"id": "x"}', '{"id": 1, "day": "31.12.2026"}']
    found = errors(
        spark, values, MODE="DROPMALFORMED", columnNameOfCorruptRecord="name", dateFormat="dd.MM.yyyy"
    )
    assert found == ["the field id does not fit the type long", None]


def test_relaxed_json_is_good_where_an_option_allows_it(spark: Any) -> None:
    values: list[Any] = ['{"id": 1} // said', "{id: 1}"]
    assert all(errors(spark, values))
    assert errors(spark, values, allowComments="true", allowUnquotedFieldNames="true") == [None, None]


def test_csv(spark: Any) -> None:
    values: dict[str, str | None] = {
        "1,x": None,
        '1,"a,b"': None,
        ",x": None,
        "1,": None,
        "1": "the value does not have 2 fields",
        "1,x,": "the value does not have 2 fields",
        "1,x\n2,y": "the value does not have 2 fields",
        '1,"x': None,  # Spark reads a quote that is not closed up to the end
        "q,x": "the field id does not fit the type long",
        "1.0,x": "the field id does not fit the type long",
        "": "the value is empty",
    }
    found = errors(spark, list(values), PAIR, "csv")
    assert dict(zip(values, found, strict=True)) == values


def test_csv_judges_what_is_not_null_and_takes_options(spark: Any) -> None:
    columns = (SpecColumn(name="id", type="long", required=True), SpecColumn(name="name", type="string"))
    found = errors(spark, [";x", "1;x", None], columns, "csv", sep=";")
    assert found == ["there is no value for id, which is not null", None, None]


@pytest.mark.parametrize("action", ["", "drop", "null"])
def test_a_filter_has_no_record_decoded_once_more(spark: Any, action: str) -> None:
    """Spark moves a filter to the values that it needs, and computes those there too."""
    columns = (SpecColumn(name="id", type="long", required=True), SpecColumn(name="name", type="string"))
    source = ResolvedKafka(client={}, format="json", topics=("places",), columns=columns)
    item = StreamInput(name="raw", source=source, bad_records=action)
    found = decoded(spark, [b'{"id": 1}', b'{"id": 2}', b'{"id": 3}'], columns)
    frame = taken_off(found.selectExpr("id", "name", marker({"raw": "v", "error": ERROR})), item)
    assert decodings(frame.where("id > 1").selectExpr("id + 1 AS id")) == decodings(frame) > 0
    assert sorted(row[0] for row in frame.where("id > 1").collect()) == [2, 3]


def decodings(frame: Any) -> int:
    return str(frame._jdf.queryExecution().optimizedPlan()).count("from_json(")
