"""Tables and streams read texts of types alike; what is advised for another system's type is a type."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.sdk import type_names
from flareiac.sdk.type_names import ALIASES, EXAMPLES, advice
from flareiac_iceberg.format import types as of_tables
from flareiac_spark import column_types as of_streams

_WORDS = sorted(
    {
        *of_tables.PLAIN,
        *ALIASES,
        *EXAMPLES,
        *(word for name, words in vars(type_names).items() if isinstance(words, frozenset) for word in words),
        "timestamp",
        "float64",
        "uint64",
        "json",
        "number",
        "set",
    }
)
_ENDS = (
    "",
    "(20)",
    "(12,2)",
    "(12)",
    "()",
    "<string>",
    "<a: long>",
    " null",
    " not null",
    " precision",
    " unsigned",
)


def _table(text: str) -> str | None:
    try:
        kind, required = of_tables.parse(text)
    except of_tables.TypeTextError:
        return None
    return of_tables.render(kind) + (" not null" if required else "")


def _stream(text: str) -> str | None:
    try:
        kind, required = of_streams.normal_type(text)
    except of_streams.NotAType:
        return None
    return kind + (" not null" if required else "")


_TEXTS = st.recursive(
    st.tuples(st.sampled_from(_WORDS), st.sampled_from(_ENDS)).map("".join),
    lambda inner: st.one_of(
        inner.map("list<{}>".format),
        inner.map("map<string, {}>".format),
        st.tuples(inner, inner).map(lambda both: f"struct<a: {both[0]}, b: {both[1]}>"),
    ),
    max_leaves=3,
)


@given(_TEXTS)
def test_both_take_the_same_texts_and_spell_them_alike(text: str) -> None:
    assert _table(text) == _stream(text)


@pytest.mark.parametrize("word", [word for word in _WORDS if advice(word)])
def test_what_is_advised_is_a_type(word: str) -> None:
    assert _table(word) is None, "advice is for words that are not types"
    for text in re.findall(r'"([^"]+)"', advice(word) or ""):
        assert _table(text) is not None


@pytest.mark.parametrize("reader", [of_tables.parse, of_streams.normal_type])
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("decimal", "decimal(12,2)"),
        ("DECIMAL", "decimal(12,2)"),
        ("numeric", "decimal(12,2)"),
        ("decimal(12)", "decimal(12,2)"),
        ("varchar(20)", 'write "string"'),
        ("string(20)", 'write "string"'),
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
def test_the_reason_says_what_to_write(reader: Callable[[str], object], text: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        reader(text)
