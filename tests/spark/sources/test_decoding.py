"""The records of JSON and CSV text that are bad, by their content: a real Spark decodes them, with the
optimizer that prunes columns which a query does not read.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flareiac_spark_runtime.control import StreamInput
from flareiac_spark_runtime.driver import logical_plan
from flareiac_spark_runtime.driver.bad_records import judges as is_judged
from flareiac_spark_runtime.driver.bad_records import taken_off
from flareiac_spark_runtime.driver.column_types import spark_columns
from flareiac_spark_runtime.driver.inputs import explained
from flareiac_spark_runtime.sources.bad_records import GOOD as JUDGED
from flareiac_spark_runtime.sources.decoding import _FRAMED, ERROR, ONCE, Text, complaint, decode_text
from flareiac_spark_runtime.sources.kafka.resolved import ResolvedKafka
from flareiac_spark_runtime.sources.resolved import SpecColumn
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
    return read_as(
        spark, values, columns, Text(format=format, options=options, schema=spark_columns, explained=True)
    )


def unexplained(spark: Any, values: list[Any], columns: tuple[SpecColumn, ...], format: str = "json") -> Any:  # noqa: A002 - as the helper calls it
    text = Text(format=format, options={}, schema=spark_columns, explained=False)
    return read_as(spark, values, columns, text)


def read_as(spark: Any, values: list[Any], columns: tuple[SpecColumn, ...], text: Text) -> Any:
    frame = spark.createDataFrame([(at, value) for at, value in enumerate(values)], "at_ int, v binary")
    return decode_text(frame, "v", columns, text)


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
    ('\0\0\0\0\7{"id": 1}', _FRAMED),
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


TYPED = (
    SpecColumn(name="id", type="long", required=True),
    SpecColumn(name="n", type="int"),
    SpecColumn(name="ok", type="boolean"),
    SpecColumn(name="ratio", type="double"),
    SpecColumn(name="marks", type="list<int>"),
    SpecColumn(name="place", type="struct<n: int>"),
)
SCALARS = (
    *(
        "1",
        "0",
        "-0",
        "-7",
        "1.5",
        "1e3",
        "null",
        "true",
        "false",
        '""',
        '"x"',
        '"7"',
        '"a}"',
        '"{"',
        '"\\"}"',
    ),
    *("2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "01", "1."),
    *('"\u00e9\u2028"', '"\\u00e9"', "[]", "[1, null]", '[1, "x"]', "[[1]]", "{}", '{"n": 1}', '{"n": "x"}'),
    *('{"m": {"n": [{}]}}', '"open', '{"n":', "[1", "}", "]"),
)
BEFORE = ("", " ", "\n", "\ufeff", "\x00", "[", "{", "//\n", "x", "\u00a0", ",")
AFTER = (
    *(
        "",
        " ",
        "\r\n",
        "\t ",
        "\x0b",
        "\u00a0",
        "\u2028",
        "\x00",
        "x",
        "}",
        "]",
        "{}",
        ",",
        ",{}",
        ',"id": 3',
    ),
    *('{"id": 2}', "1", "// }", "/* } */", "]}", "}]", "}}", " }", "}\n", "\ufeff"),
)


def test_records_of_every_kind_are_judged_and_read_as_python_reads_them(spark: Any) -> None:
    """Whole ones, cut ones, with something before, in between or behind; of each column a value that fits, or
    not.
    """
    random = Random(7)
    texts = list(dict.fromkeys(generated(random) for _ in range(6000)))
    rows = decoded(spark, [text.encode() for text in texts], TYPED).orderBy("at_").collect()
    wanted = [read(text) for text in texts]
    found = [
        None if row[ERROR] is not None else tuple(plain(row[column.name]) for column in TYPED) for row in rows
    ]
    differing = [item for item in zip(texts, wanted, found, strict=True) if item[1] != item[2]]
    assert not differing
    assert sum(item is not None for item in found) > 300


def generated(random: Random) -> str:
    names = [*(column.name for column in TYPED), "id", "other", "ID"]
    blank = partial(random.choice, ("", "", " ", "\n"))
    members = [
        f'{blank()}"{random.choice(names)}"{blank()}:{blank()}{random.choice(SCALARS)}{blank()}'
        for _ in range(random.choice((0, 0, 1, 1, 2, 3)))
    ]
    if random.random() < 0.7:
        members.append(f'"id": {random.randint(-9, 9)}')
    text = f"{{{blank()}{','.join(members)}}}"
    place = random.randrange(len(text))
    match random.randrange(6):
        case 0:
            return f"{random.choice(BEFORE)}{text}{random.choice(AFTER)}"
        case 1:
            return f"{text}{random.choice(AFTER)}{random.choice(AFTER)}"
        case 2:
            return text[:place] + text[place + 1 :]
        case 3:
            return text[:place] + random.choice('{}[],:"\\ 1') + text[place:]
        case _:
            return text


def read(text: str) -> tuple[Any, ...] | None:
    """The values of the columns, None where the record is bad."""
    try:
        pairs = json.loads(text, object_pairs_hook=Members)
    except ValueError:
        return None
    if not isinstance(pairs, Members) or not all(fits(value, name) for name, value in pairs):
        return None
    values = {name: float(value) if name == "ratio" and value else plain(value) for name, value in pairs}
    if values.get("id") is None:
        return None
    return tuple(values.get(column.name) for column in TYPED)


class Members(list[tuple[str, Any]]):
    """The members of an object, each as often as it is there."""


def fits(value: Any, name: str) -> bool:
    def whole(item: Any, bits: int) -> bool:
        return type(item) is int and -(2 ** (bits - 1)) <= item < 2 ** (bits - 1)

    match name:
        case _ if value is None:
            return True
        case "id":
            return whole(value, 64)
        case "n":
            return whole(value, 32)
        case "ok":
            return isinstance(value, bool)
        case "ratio":
            return type(value) in (int, float)
        case "marks":
            return type(value) is list and all(item is None or whole(item, 32) for item in value)
        case "place":
            return isinstance(value, Members) and all(fits(item, "n") for key, item in value if key == "n")
        case _:
            return True


def plain(value: Any) -> Any:
    """A value as both sides can be compared."""
    match value:
        case Members():
            return [dict(value).get("n")]
        case tuple():  # a row of PySpark
            return list(value)
        case _:
            return value


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
    values: list[Any] = ['{"id": 1} // said', "{id: 1}", '{"id": 1} // }', '{"id": 1 /* } */ } // {"id": 2}']
    assert all(errors(spark, values))
    assert errors(spark, values, allowComments="true", allowUnquotedFieldNames="true") == [None] * 4
    row = (SpecColumn(name="id", type="long"),)
    assert errors(spark, ["// said\n{}", "{/* } */}"], row, allowComments="true") == [None, None]
    hidden = ['{"id": 1} // \n}', '{"id": 1 // }', '{"id": 1} /* */ {}']
    assert all(errors(spark, hidden, allowComments="true"))


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
    values = [b'{"id": 1}', b'{"id": 2}', b'{"id": 3}']
    found = unexplained(spark, values, columns)
    said = [] if action else [complaint("'here'")]
    frame = taken_off(found.selectExpr("id", "name", f"{JUDGED} AND {ONCE} AS {JUDGED}", *said), item)
    assert decodings(frame.where("id > 1").selectExpr("id + 1 AS id")) == decodings(frame) == 1
    assert sorted(row[0] for row in frame.where("id > 1").collect()) == [2, 3]


@pytest.mark.parametrize("action", ["drop", "null"])
def test_what_is_not_asked_is_not_planned(spark: Any, action: str) -> None:
    """The reason that makes a record bad is computed only where it is kept."""
    source = ResolvedKafka(client={}, format="json", topics=("places",), columns=PAIR)
    item = StreamInput(name="raw", source=source, bad_records=action)
    found = unexplained(spark, [b'{"id": 1}', b'{"id": "x"}'], PAIR)
    frame = taken_off(found.selectExpr("id", "name", f"{JUDGED} AND {ONCE} AS {JUDGED}"), item)
    assert decodings(frame) == 1
    assert [row[0] for row in frame.collect()] == [1, *([None] if action == "null" else [])]


@pytest.mark.parametrize("query", ["SELECT count(*) FROM places", "SELECT name FROM places WHERE id > 5"])
def test_a_query_that_would_drop_a_bad_record_ends_with_it(spark: Any, query: str) -> None:
    source = ResolvedKafka(client={}, format="json", topics=("places",), columns=PAIR)
    found = unexplained(spark, [b'{"id": 9}', b'{"id": "x"}'], PAIR)
    judged = found.selectExpr("id", "name", f"{JUDGED} AND {ONCE} AS {JUDGED}", complaint("'here'"))
    taken_off(judged, StreamInput(name="raw", source=source)).createOrReplaceTempView("places")
    with pytest.raises(Exception, match="A record of the input raw cannot be read"):
        spark.sql(query).collect()


@pytest.mark.parametrize("named", ["raw", "raw_2"])
def test_the_reason_is_asked_of_the_input_that_the_complaint_names(named: str) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Answering(ResolvedKafka):
        def explained(self, complaint: str, opening: Any) -> str:
            return f"explained by {self.topics[0]}"

    both = [
        StreamInput(name=name, source=Answering(client={}, format="json", topics=(name,)))
        for name in ("raw", "raw_2")
    ]
    said = f"A record of the input {named} cannot be read: the value does not fit the columns"
    assert explained(None, both, said, ()) == f"explained by {named}"  # type: ignore[arg-type]
    assert explained(None, both, "another error", ()) == "another error"  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_spark_takes_only_what_decodes_and_judges_for_not_deterministic(spark: Any, kind: str) -> None:
    """A merge reads the records of a batch twice where that gives the same rows."""
    source = ResolvedKafka(client={}, format=kind, topics=("places",), columns=PAIR)
    found = unexplained(spark, [b'{"id": 1}'], PAIR, kind)
    judged = found.selectExpr("id", "name", f"{JUDGED} AND {ONCE} AS {JUDGED}", complaint("'here'"))
    frame = taken_off(judged, StreamInput(name="raw", source=source))
    nodes = list(logical_plan.nodes(logical_plan.analysed(frame)))
    others = [node for node in nodes if not is_judged(node)]
    assert len(others) < len(nodes)
    assert all(logical_plan.is_deterministic(node) for node in others)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_record_is_judged_the_same_where_it_is_not_explained(spark: Any, kind: str) -> None:
    texts = [*GOOD, *(value for value, _ in BAD), "7,x", "7,x,y", "x,7", None]
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    columns = COLUMNS if kind == "json" else PAIR
    found = [
        [row[JUDGED] for row in read(spark, raw, columns, kind).orderBy("at_").collect()]
        for read in (decoded, unexplained)
    ]
    assert found[0] == found[1]
    assert set(found[0]) == {True, False}


def decodings(frame: Any) -> int:
    return str(frame._jdf.queryExecution().optimizedPlan()).count("from_json(")
