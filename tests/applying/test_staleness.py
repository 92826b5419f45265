"""The message about a stale plan: every place that moved, and no other."""

import hypothesis.strategies as st
from hypothesis import example, given

from flareiac.applying.stale_plans import compare
from flareiac.kernel.data import Data, canonical

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def test_each_place_is_named_with_both_values() -> None:
    before = {"uuid": "u-1", "settings": {"a": "1", "b": "2"}, "refs": ["main"]}
    after = {"uuid": "u-1", "settings": {"a": "1", "b": "3"}, "refs": ["main", "audit"]}
    found = [(item.what, item.planned, item.now) for item in compare("table.x", before, after)]
    assert found == [("refs[1]", "(absent)", '"audit"'), ("settings.b", '"2"', '"3"')]


def test_what_appeared_is_told_as_a_whole() -> None:
    assert [(item.what, item.planned, item.now) for item in compare("table.x", None, {"uuid": "u"})] == [
        ("state", "null", '{"uuid":"u"}')
    ]


@given(VALUES, VALUES)
@example([["", False]], [["", 0]])
def test_something_is_named_exactly_when_something_differs(before: Data, after: Data) -> None:
    found = compare("table.x", before, after)
    assert bool(found) == (canonical(before) != canonical(after))
