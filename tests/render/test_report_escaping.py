"""Texts of users inside of Markdown are seen as they are, and are nothing else."""

import string
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from flareiac.render.report.escaping import code, comment, fence, label, line, prose
from tests.render.report_pages import check_markup, shown, tokens

NASTY = st.text(
    st.one_of(st.sampled_from(string.punctuation + "\n\t 1aZ"), st.characters(exclude_categories=["Cs"])),
    max_size=30,
)
WORDS = st.lists(
    st.one_of(
        NASTY,
        st.sampled_from(
            [
                *(
                    "@everyone",
                    "#12",
                    "owner/repo#3",
                    "GH-4",
                    "!5",
                    "$6",
                    "%7",
                    "&8",
                    "~label",
                    ":tada:",
                    ":+1:",
                ),
                *(
                    "https://example.com",
                    "www.example.com",
                    "a@b.example",
                    "![x](y)",
                    "[a]: b",
                    "[a](b)",
                    "[x]",
                ),
                *(
                    "<b>",
                    "</details>",
                    "<!--",
                    "-->",
                    "&lt;",
                    "&#64;x",
                    "```",
                    "~~~",
                    "|",
                    "\\|",
                    "\\\\|",
                    "`|`",
                ),
                *(
                    "\u202e",
                    "\u200b",
                    "\ufeff",
                    "\u2066",
                    "\x1b[31m",
                    "\u3164",
                    "\U000e0041",
                    "\ufe0f",
                    "\u00ad",
                ),
                *(
                    "# a",
                    "- a",
                    "1. a",
                    "> a",
                    "===",
                    "---",
                    "    a",
                    "deadbeef",
                    "[loses data](x)",
                    "__a__",
                    "*b*",
                ),
                *(
                    "[loses data]",
                    "vulnerability:1",
                    "[issue:1]",
                    "[^1]",
                    "- [ ] a",
                    "$$x$$",
                    "%%{init",
                    "{{x}}",
                ),
            ]
        ),
    ),
    max_size=4,
).map(" ".join)
TEXTS = st.one_of(NASTY, WORDS, WORDS.map(lambda text: text.replace(" ", "")))


@given(TEXTS)
@pytest.mark.parametrize("write", [prose, code])
@pytest.mark.parametrize("place", ["| {} | b |", "- {}", "so: {}", "**{}**"])
def test_a_text_is_seen_as_it_is(write: Callable[[str], str], place: str, text: str) -> None:
    assume(line(text))
    head = "| x | y |\n|---|---|\n" if place.startswith("|") else ""
    page = head + place.format(write(text))
    check_markup(page)
    inside = [token for token in tokens(page) if token.type == "inline"]
    assert len(inside) == (4 if head else 1)
    seen = shown([inside[-2] if head else inside[0]])
    assert seen.removeprefix("so: ").strip() == line(text, 400 if write is prose else 200)


@given(st.lists(TEXTS, max_size=4))
def test_no_line_closes_a_fence(lines: list[str]) -> None:
    found = tokens(f"{fence(lines, 'diff')}\n\nafter")
    assert [token.type for token in found] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert found[0].info == "diff"
    check_markup(fence(lines, "diff"))


@given(TEXTS)
def test_a_label_is_one_text_in_quotes(text: str) -> None:
    found = label(text)
    assert found[0] == found[-1] == '"'
    assert not set(found[1:-1]) & set("\"'`<>[](){}|&@$%\\\n:*~^!=")
    assert "__" not in found


@given(TEXTS)
def test_a_comment_is_not_ended(text: str) -> None:
    assert set(comment(text)) <= set(string.ascii_letters + string.digits + "_.%")


@given(TEXTS)
@pytest.mark.parametrize("write", [prose, code, label, lambda text: fence([text], "text")])
def test_what_cannot_be_seen_is_spelled_out(write: Callable[[str], str], text: str) -> None:
    unseen = set("\u202e\u200b\ufeff\u2066\x1b\u3164\U000e0041\ufe0f\u00ad\u2028\u061c\u115f\u034f")
    assert not set(write(text)) & unseen


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("add column x [metadata only]", "add column x [metadata only]"),
        ("2021-01-08 08:00:00 UTC", "2021-01-08 08:00:00 UTC"),
        ("dim_users -> dim_orders", "dim_users -> dim_orders"),
        ("ask @team about #12", "ask @<!-- -->team about #<!-- -->12"),
        ("a|b", "a&#124;b"),
        ("see https://a.example", "see https:<!-- -->//a.example"),
    ],
)
def test_plain_sentences_stay_readable(text: str, written: str) -> None:
    assert prose(text) == written


def test_a_long_text_is_counted() -> None:
    assert code("x" * 300) == f"`{'x' * 200}... (100 more characters)`"
