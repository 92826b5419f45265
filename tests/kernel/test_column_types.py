"""Texts of types: what is read and refused, and that tables, streams, Avro and the driver read them alike."""

import re
from contextlib import suppress
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel import type_names
from flareiac.kernel.column_types import (
    PLAIN,
    ColumnType,
    DecimalOf,
    ListOf,
    MapOf,
    Member,
    Plain,
    StructOf,
    TypeTextError,
    parse,
    quoted_name,
    render,
    type_of,
)
from flareiac.kernel.type_names import ALIASES, EXAMPLES, advice
from flareiac_iceberg.format.spec import flatten, type_at
from flareiac_iceberg.format.types import NOT_IN_SPARK, table_type
from flareiac_spark.column_types import Column, whole_columns
from flareiac_spark_runtime.driver.column_types import spark_type
from flareiac_spark_runtime.driver.refusal import Refusal

_ADVISED = sorted(
    {
        *(word for words in vars(type_names).values() if isinstance(words, frozenset) for word in words),
        *("float64", "uint64", "json", "number", "set"),
    }
)
_WORDS = sorted({*PLAIN, *ALIASES, *EXAMPLES, *_ADVISED, "nope", "timestamp_ns"})
_ENDS = (
    *("", "(20)", "(12,2)", "(12)", "()", "[16]", "<string>", "<a: long>"),
    *(" null", " not null", " precision", " unsigned"),
)
_OTHER_NAMES = {
    name: [alias for alias, other in ALIASES.items() if other == name] for name in ALIASES.values()
}
_FIELDS = ("a", "Zip_2", "7", "b c", "a-b", "t`k", "not", "größe")


def _nested(inner: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
    members = st.builds(Member, name=st.sampled_from(_FIELDS), type=inner, required=st.booleans())
    return st.one_of(
        st.builds(ListOf, element=inner, required=st.booleans()),
        st.builds(MapOf, key=inner, value=inner, required=st.booleans()),
        st.lists(members, min_size=1, max_size=3, unique_by=lambda member: member.name).map(
            lambda chosen: StructOf(members=tuple(chosen))
        ),
    )


_LEAVES: st.SearchStrategy[ColumnType] = st.one_of(
    st.sampled_from(sorted(PLAIN)).map(lambda name: Plain(name=name)),
    st.integers(1, 99).map(lambda length: Plain(name=f"fixed({length})")),
    st.integers(1, 38).flatmap(
        lambda precision: st.builds(DecimalOf, precision=st.just(precision), scale=st.integers(0, precision))
    ),
)
TREES = st.recursive(_LEAVES, _nested, max_leaves=8)


@st.composite
def spellings(draw: st.DrawFn) -> tuple[ColumnType, bool, str]:
    """A type, whether it is required, and one of its texts: with aliases, spaces and letters of any case."""
    kind, required = draw(TREES), draw(st.booleans())
    spaces = cycle(draw(st.lists(st.sampled_from(("", " ", "\t ")), min_size=1, max_size=5)))
    marks = re.findall(r"`(?:[^`]|``)+`|[\w-]+|[<>(),:]", render(kind, required))
    text = ""
    for index, mark in enumerate(marks):
        spelled = mark
        if marks[index + 1 : index + 2] == [":"]:
            spelled = draw(st.sampled_from([mark, mark if mark.startswith("`") else f"`{mark}`"]))
        elif re.fullmatch(r"[a-z_]+", mark):
            word = draw(st.sampled_from([mark, *_OTHER_NAMES.get(mark, [])]))
            spelled = draw(st.sampled_from([word, word.upper(), word.title()]))
        apart = " " if mark in ("not", "null") else ""
        text += apart + next(spaces) + spelled
    return kind, required, text


TEXTS = st.recursive(
    st.tuples(st.sampled_from(_WORDS), st.sampled_from(_ENDS)).map("".join),
    lambda inner: st.one_of(
        inner.map("list<{}>".format),
        inner.map("map<string, {}>".format),
        st.tuples(inner, inner).map(lambda both: f"struct<a: {both[0]}, b: {both[1]}>"),
    ),
    max_leaves=3,
)


def _of_table(text: str) -> ColumnType | str:
    try:
        kind, required = table_type(text)
    except TypeTextError as error:
        return str(error)
    return type_at(flatten("column", kind, required), "column")


def _of_stream(text: str) -> ColumnType | str:
    try:
        return type_of(Column.declared("column", text).type)
    except TypeTextError as error:
        return str(error)


def _of_avro(text: str) -> ColumnType | str:
    try:
        return type_of(text)
    except TypeTextError as error:
        return str(error)


def _ddl(text: str) -> str:
    try:
        return spark_type(text)
    except Refusal as refusal:
        return str(refusal)


@given(spellings())
def test_each_spelling_of_a_type_is_read_as_the_type_by_all_readers(
    spelling: tuple[ColumnType, bool, str],
) -> None:
    kind, required, text = spelling
    assert parse(text) == (kind, required)
    assert parse(render(kind, required)) == (kind, required)
    assert type_of(render(kind)) == _of_table(text) == _of_stream(text) == _of_avro(text)
    assert Column.declared("a", text) == Column(name="a", type=render(kind), required=required)
    flat = flatten("a", kind, required)
    attributes = {path: {"type": column.type, "required": column.required} for path, column in flat.items()}
    (whole,) = whole_columns(attributes, list(flat))
    assert (whole.name, whole.required) == ("a", required)
    assert whole.type.replace("`", "") == render(kind).replace("`", ""), "names of tables are bare"
    if not any(column.type in NOT_IN_SPARK for column in flat.values()):
        assert _ddl(text) == _ddl(render(kind)) == _ddl(whole.type)
        assert "is not understood" not in _ddl(text)


@given(TEXTS)
def test_all_readers_refuse_a_text_with_one_sentence(text: str) -> None:
    read = _of_table(text)
    assert read == _of_stream(text) == _of_avro(text)
    if isinstance(read, str):
        assert read in _ddl(text)


@given(TREES)
def test_the_nullable_text_requires_nothing(kind: ColumnType) -> None:
    text = render(kind, nullable=True)
    assert render(type_of(text), nullable=True) == text
    assert "not null" not in text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("bigint", "long"),
        ("varchar", "string"),
        ("text", "string"),
        ("numeric(10,2)", "decimal(10,2)"),
        ("INT", "int"),
        ("long not null", "long"),
        ("  decimal( 12 , 2 ) NOT NULL ", "decimal(12,2)"),
        ("fixed(16)", "fixed(16)"),
        ("fixed[16]", "fixed(16)"),
        ("array<bigint not null>", "list<long not null>"),
        (
            "map<string,struct<a:int not null,`b c`: list<date>>>",
            "map<string, struct<a: int not null, `b c`: list<date>>>",
        ),
    ],
)
def test_read(text: str, plain: str) -> None:
    kind, required = parse(text)
    assert render(kind) == plain
    assert required == ("not null" in text.lower() and "<" not in text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("timestamp", "timestamptz"),
        ("variant", "format version 3"),
        ("nope", "There is no type"),
        ("strng", 'Did you mean "string"?'),
        ("", "too early"),
        ("decimal(40,2)", "precision"),
        ("DECIMAL", 'write, for example, "decimal(12,2)"'),
        ("numeric", "decimal(12,2)"),
        ("decimal(12)", "decimal(12,2)"),
        ("struct<a int>", '":"'),
        ("struct<>", "field name"),
        ("list<int", '">"'),
        ("int int", 'Nothing may stand after "int"'),
        ("int not", "null"),
        ("int;", "no meaning"),
        ("list<" * 50 + "int" + ">" * 50, "levels deep"),
        ("varchar(20)", 'write "string"'),
        ("char(3)", '"string"'),
        ("int64", '"long"'),
        ("datetime", "timestamptz"),
        ("struct", "struct<street: string"),
        ("array", "list<string>"),
        ("map", "map<string, long>"),
        ("double precision", '"double"'),
        ("long null", '"not null"'),
        ("json", '"string"'),
    ],
)
def test_refused_with_a_reason(text: str, hint: str) -> None:
    with pytest.raises(TypeTextError) as caught:
        parse(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize("word", _ADVISED)
def test_what_is_advised_is_a_type(word: str) -> None:
    with pytest.raises(TypeTextError):
        parse(word)
    for text in re.findall(r'"([^"]+)"', advice(word) or ""):
        parse(text)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(TypeTextError):
        parse(text)


@given(st.text(min_size=1).filter(lambda name: "\x00" not in name))
def test_any_name_of_a_field_is_read_back(name: str) -> None:
    kind = StructOf(members=(Member(name=name, type=Plain(name="int")),))
    assert type_of(f"struct<{quoted_name(name)}: int>") == kind
