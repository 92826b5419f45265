"""Places below the root module are stored relative to it, and nothing else of a document changes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.model.relocation import bound_places, holds, restored, stored

PIECES = st.sampled_from(
    [
        "/r",
        "/r/",
        "/r/lake",
        "r",
        "$",
        "$root",
        "$$root",
        "x",
        " ",
        ":",
        "/",
        ".",
        "-",
        "file://",
        "'",
        "/rx",
        "_",
    ]
)
TEXT = st.lists(PIECES, max_size=6).map("".join)
DATA = st.recursive(
    TEXT | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)


@given(DATA)
def test_what_is_stored_comes_back(value: Any) -> None:
    assert restored(stored(value, "/r"), "/r") == value


@given(TEXT)
def test_a_text_without_the_root_is_the_same_for_every_root(text: str) -> None:
    if "/r" not in text:
        assert restored(stored(text, "/r"), "/other") == text


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("/old/root/lake", "/new/lake"),
        ("/old/root", "/new"),
        ("sqlite:////old/root/lake/catalog.db#lake", "sqlite:////new/lake/catalog.db#lake"),
        ("jdbc:sqlite:/old/root/lake.db", "jdbc:sqlite:/new/lake.db"),
        ("file:///old/root/lake", "file:///new/lake"),
        ("SELECT * FROM json.`/old/root/x`", "SELECT * FROM json.`/new/x`"),
        ("/old/root2/lake", "/old/root2/lake"),
        ("/old/root.bak", "/old/root.bak"),
        ("/mnt/old/root/x", "/mnt/old/root/x"),
        ("s3://b/old/root/x", "s3://b/old/root/x"),
        ("$/old/root/x", "$/old/root/x"),
    ],
)
def test_what_lies_below_the_root_follows_it(text: str, elsewhere: str) -> None:
    assert restored(stored(text, "/old/root"), "/new") == elsewhere


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("/old/root/x", True),
        ("sqlite:////old/root/lake.db", True),
        ("file:/old/root/x", True),
        ("lake/x", False),
        ("/other/x", False),
        ("../lake", True),
        ("sqlite:///../lake.db", True),
        ("a..b", False),
        ("x/../y", False),
        ("x/../../y", True),
        ("..", True),
        ("WHERE a = '...'", False),
    ],
)
def test_what_names_another_place_from_elsewhere_is_known(text: str, bound: bool) -> None:
    assert [item.attribute for item in bound_places("table.x", {"a": [text]}, "/old/root")] == (
        [("a", 0)] if bound else []
    )


def test_a_climbing_path_is_the_same_place_for_a_neighbour_alone() -> None:
    (place,) = bound_places("table.x", {"a": "../lake"}, "/old/root")
    assert holds(place, "/old/root", "/old/other")
    assert not holds(place, "/old/root", "/new/other")
    (place,) = bound_places("table.x", {"a": "/old/root/lake"}, "/old/root")
    assert holds(place, "/old/root", "/old/root")
    assert not holds(place, "/old/root", "/old/other")
