"""A pattern of topics matches what it matches in Java, or is unknown."""

import pytest

from flareiac.sdk.name_patterns import fault, is_common, matches


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("shop[.].*", "shop.orders", True),
        ("shop[.].*", "shopping", False),
        (r"shop\.(orders|returns)(-v[0-9]{1,2})?", "shop.returns-v12", True),
        ("(?i)Orders", "oRDERS", True),
        ("orders(?!-old).*", "orders-old", False),
        (r"\w+-\d", "a_b-1", True),
        ("[^.]+", "a.b", False),
        ("[a-z-]+", "a-b", True),
        ("a++b", "aab", True),
        ("", "", True),
    ],
)
def test_what_both_languages_read_alike_is_decided(pattern: str, name: str, found: bool) -> None:
    assert matches(pattern, name) is found


@pytest.mark.parametrize(
    "pattern",
    [
        r"\Qshop.\E.*",
        r"\p{Lower}+",
        "[a-z&&[^b]]+",
        "[[:alpha:]]+",
        "[a-c[x-z]]",
        "(?<name>a)",
        "(?P<name>a)",
        "(?x) a b",
        "a{,3}",
        "a{",
        r"(a)\1",
        r"a\Z",
        "a{2}{3}",
        "ſ",
    ],
)
def test_what_only_java_can_tell_is_unknown(pattern: str) -> None:
    assert matches(pattern, "a") is None
    assert not is_common(pattern)


@pytest.mark.parametrize("pattern", ["orders[", "(orders", "orders)", "*orders", "[z-a]"])
def test_a_text_that_is_no_pattern_anywhere_has_a_fault(pattern: str) -> None:
    assert fault(pattern) is not None


@pytest.mark.parametrize("pattern", [r"\Qshop.\E.*", r"\p{Lower}+", "(?<name>a)", "a{2}{3}", "orders.*"])
def test_what_java_may_accept_has_none(pattern: str) -> None:
    assert fault(pattern) is None
