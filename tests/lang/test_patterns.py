"""Regular expressions: RE2's syntax, and the results that ``terraform console`` gives."""

import json
import warnings
from pathlib import Path

import pytest

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value, to_data


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def value(text: str) -> tuple[Value, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None
    return evaluate(expr, Scope(functions=functions(Path())), diagnostics), diagnostics


def good(text: str) -> Data:
    found, diagnostics = value(text)
    assert not list(diagnostics)
    return to_data(found)


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        (r"[[:alpha:]]+", "1abc2", ["abc"]),
        (r"^[[:alnum:]]+$", "ab1", ["ab1"]),
        (r"\pL+", "aé1", ["aé"]),
        (r"\p{Greek}+", "aαβγ", ["αβγ"]),
        (r"\Q.+\E", "a.+b", [".+"]),
        (r"\Q\C\E", r"a\C", [r"\C"]),
        (r"a\z", "aba", ["a"]),
        (r"(?U)a+", "aa", ["a", "a"]),
        (r"\x{61}", "ba", ["a"]),
        (r"\d+", "٣ 3", ["3"]),
        (r"\w+", "aéb", ["a", "b"]),
        (r"\b.", "é a", ["a"]),
        (r"(?i)é", "É", ["É"]),
        (r"x*", "axb", ["", "x", ""]),
        (r"^a", "aaa", ["a"]),
        (r"(?m)^", "a\nb", ["", ""]),
        (r"(a)(x)?", "ba", [["a", None]]),
        (r"(?P<y>a)|(?P<z>b)", "ab", [{"y": "a", "z": None}, {"y": None, "z": "b"}]),
        (r"(?<y>a)", "a", [{"y": "a"}]),
        (r"((a)|(b))+", "ab", [["b", "a", "b"]]),
        (r".", "\U0001f600a", ["\U0001f600", "a"]),
    ],
)
def test_matches(pattern: str, text: str, wanted: list[Data]) -> None:
    assert good(f"regexall({quoted(pattern)}, {quoted(text)})") == wanted
    assert good(f"regex({quoted(pattern)}, {quoted(text)})") == wanted[0]


def test_the_type_of_no_match_is_that_of_a_match() -> None:
    assert str(value('regexall("(a)(b)", "x")')[0].type) == "list(tuple([string, string]))"
    assert str(value('regexall("(?P<y>a)", "x")')[0].type) == "list(object({y = string}))"


@pytest.mark.parametrize(
    ("text", "pattern", "template", "wanted"),
    [
        ("abc", "(a)(b)?", "<$0>", "<ab>c"),
        ("abc", "(a)(b)?", "$1$2", "abc"),
        ("abc", "(a)(b)?", "$2$1x", "bc"),  # $1x is the name "1x"
        ("abc", "(a)(b)?", "${2}${1}x", "baxc"),
        ("ac", "(a)(b)?", "[$2]", "[]c"),
        ("abc", "(?P<y>a)(?P<z>b)?", "${z}-$y", "b-ac"),
        ("abc", "(a)(b)?", "$$1", "$1c"),
        ("abc", "(a)(b)?", "$", "$c"),
        ("abc", "(a)(b)?", "${", "${c"),
        ("abc", "(a)(b)?", "${x y}", "${x y}c"),
        ("abc", "(a)(b)?", "$01", "c"),
        ("abc", "(a)(b)?", "$99", "c"),
        ("abc", "(a)(b)?", "$-", "$-c"),
        ("abc", "x*", "-", "-a-b-c-"),
        ("abc", "b*", "-", "-a-c-"),
        ("é1", "[[:digit:]]", "$0$0", "é11"),
        ("a.b.c", r"\.", "", "abc"),
    ],
)
def test_replacements(text: str, pattern: str, template: str, wanted: str) -> None:
    assert good(f"replace({quoted(text)}, {quoted(f'/{pattern}/')}, {quoted(template)})") == wanted


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(", "missing )"),
        (r"\C", "invalid escape sequence"),
        (r"a\C", "invalid escape sequence"),
        (r"(?=a)", "invalid perl operator"),
        (r"(a)\1", "invalid escape sequence"),
        (r"a\Z", "invalid escape sequence"),
        ("a{1001}", "repetition"),
        (r"(?P<n>a)(b)", "not both"),
        (r"(?P<é>a)", "name of a group"),
        ("(?P<n>a)(?P<n>b)", "each name once"),
        (r"\p{Foo}", "invalid character class range"),
    ],
)
def test_refused(pattern: str, part: str, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, diagnostics = value(f'regex({quoted(pattern)}, "ab")')
    (found,) = diagnostics
    assert part in found.detail
    assert "b'" not in found.detail
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)b$", "(a?){60}a{60}!!"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    text = "a" * 2000 + "!"
    assert good(f'can(regex({quoted(pattern)}, "{text}"))') is False
    assert good(f'replace("{text}", {quoted(f"/{pattern}/")}, "")') == text


def test_without_slashes_a_text_is_replaced() -> None:
    assert [good(f'replace("a/b", {quoted(old)}, "-")') for old in ("/", "//", "/a/", "a/")] == [
        "a-b",
        "-a-/-b-",
        "-/b",
        "-b",
    ]


def test_patterns_of_very_many_groups_are_refused() -> None:
    _, diagnostics = value(f'regex("{"(a*)*" * 5_000}", "a")')
    [problem] = list(diagnostics)
    assert "it has more than 100 groups" in problem.detail
