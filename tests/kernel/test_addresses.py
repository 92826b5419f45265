"""Addresses: each is read again as what it was, and a text that is none is None."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flareiac.kernel.addresses import Address, ModuleStep, is_name, parse_address

NAMES = st.from_regex(r"[^\W\d][\w-]*", fullmatch=True)
KEYS = st.one_of(st.none(), st.integers(0, 10**8), st.text())
MODULES = st.lists(st.builds(ModuleStep, NAMES, KEYS), max_size=2).map(tuple)


@settings(deadline=None)
@given(st.builds(Address, NAMES.filter(lambda name: name not in ("module", "data")), NAMES, KEYS, MODULES))
def test_an_address_is_read_again(address: Address) -> None:
    assert parse_address(str(address)) == address


@settings(deadline=None)
@given(st.text())
def test_any_text_is_an_address_or_none(text: str) -> None:
    found = parse_address(text)
    assert found is None or is_name(found.name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a",
        "a.",
        ".a",
        "a.b.",
        "a..b",
        "a.b c",
        'a.b["',
        "a.b[-1]",
        "a[0].b",
        f"a.b[{'9' * 5000}]",
        "a.b\n",
    ],
)
def test_what_is_no_address(text: str) -> None:
    assert parse_address(text) is None
