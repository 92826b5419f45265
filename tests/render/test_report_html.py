"""The page of a report as a text: whole, in order, and no text of a user is markup."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings

from flareiac.kernel import secret_masks
from flareiac.model.plan import Plan
from flareiac.render.report.content import report_of
from flareiac.render.report.escaping import seen
from flareiac.render.report.html import PICTURE, report_html
from flareiac.render.report.html_change import MOST_DETAILS
from flareiac.render.report.markup import anchor
from flareiac.sdk.changes import Action, Effect, Step
from tests.render.plans import change, plan, resource
from tests.render.test_report import BLOCKED, LOST, plans

_EMPTY: Final = {"meta", "link", "input"}
_ELEMENTS: Final = re.compile(
    "html|head|meta|link|title|style|body|header|h1|h2|p|nav|ul|li|a|main|section|details|summary|div|span"
    "|small|code|b|bdi|pre|ins|del|table|thead|tbody|tr|th|td|footer|kbd|label|input|select|option|optgroup"
    "|button|output|script|svg|g|defs|marker|path|rect|text"
)
_ATTRIBUTES: Final = re.compile(
    "lang|charset|http-equiv|content|name|rel|href|id|class|type|autocomplete|spellcheck|value|label|role"
    "|aria-(live|label|labelledby)|hidden|open|data-(type|effects|owners|node|ends)|tabindex|scope"
    "|xmlns|viewbox|width|height|x|y|rx|d|marker-end|refx|refy|marker(width|height)|orient|textlength"
    "|lengthadjust"
)


@dataclass(slots=True, kw_only=True)
class Parsed:
    """A page as a browser reads it. ``texts`` of all elements but scripts and styles."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


class _Reader(HTMLParser):
    """Fails where the page has other markup than that of a report, or an element that is not closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parsed = Parsed()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert _ELEMENTS.fullmatch(tag), tag
        for name, value in attrs:
            assert _ATTRIBUTES.fullmatch(name), name
            if name == "id":
                self.parsed.ids.append(value or "")
            if name == "href":
                assert (value or "").startswith(("#", "data:,")), value
                self.parsed.links.append(value or "")
        self.parsed.elements.append(tag)
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("script", "style"):
            self.parsed.texts.append(data)

    def close(self) -> None:
        super().close()
        assert self._open == []


def parsed(page: str) -> Parsed:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.parsed.elements.count("script") == 1
    assert reader.parsed.elements.count("style") == 1
    assert len(reader.parsed.ids) == len(set(reader.parsed.ids))
    return reader.parsed


def html(made: Plan, types: dict[str, Any] | None = None) -> str:
    return report_html(report_of(made, tool_version="0.1.0", types=types or {}, picture=PICTURE))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(plans())
def test_no_text_of_any_plan_is_markup(made: Plan) -> None:
    page = html(made)
    found = parsed(page)
    assert seen(page) == page
    assert page.isascii(), "no encoding of a shell can change it"
    changed = {anchor(it.address) for it in made.resources}
    assert changed <= set(found.ids)
    assert {name for name in found.ids if "." in name} <= changed, "names of the page's own have no dot"


def test_hostile_texts_are_shown_and_are_nothing_else() -> None:
    texts = [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\" onmouseover='alert(1)",
        "javascript:alert(1)",
        "]]><svg onload=alert(1)>",
        "{{7*7}}${7*7}",
        "</details></main></body>",
        "&lt;b&gt;&amp;lt;",
    ]
    made = plan(
        *(
            resource(
                f'table.t["{text}"]', Action.UPDATE, changes=(change(("a", text), text, "x"),), steps=(LOST,)
            )
            for text in texts
        )
    )
    shown = parsed(html(made)).text
    for text in texts:
        assert f'table.t["{text}"]' in shown


@pytest.mark.parametrize("text", ["a\u202eb", "a\u200bb", "a\u2028b", "a\x1bb", "a\ufeffb", "a\x00b"])
def test_what_cannot_be_seen_is_spelled_out_as_in_other_reports(text: str) -> None:
    page = html(plan(resource(f'table.t["{text}"]', Action.DELETE, steps=(LOST,))))
    assert text not in page
    assert f"a\\u{ord(text[1]):04x}b" in page


def test_a_secret_of_this_process_is_masked_and_harms_no_script() -> None:
    whole = html(plan())
    try:
        for secret in ("hunter2-secret", "default-src", "addEventListener"):
            secret_masks.remember(secret)
        page = html(plan(resource('table.a["hunter2-secret"]', Action.DELETE)))
        assert "hunter2" not in page
        script = whole[whole.index("<script>") :]
        assert page.endswith(script)
    finally:
        secret_masks.forget()


def test_the_order_is_that_of_a_review() -> None:
    made = plan(
        resource("table.new", Action.CREATE),
        resource("job.b", Action.UPDATE, steps=(Step(text="stops", effect=Effect.RESTART),)),
        resource("job.c", Action.UPDATE, blockers=(BLOCKED,)),
        resource("table.a", Action.DELETE, steps=(LOST,)),
    )
    ids = parsed(html(made)).ids
    wanted = ["table.a", "job.c", "job.b", "table.new"]
    assert [name for name in ids if name in wanted] == wanted


def _wide(count: int, columns: int) -> Iterator[Any]:
    for number in range(count):
        planned = {f"column_{at}_of_{number}": "decimal(38, 10)" for at in range(columns)}
        yield resource(
            f"table.t{number}", Action.CREATE, planned=planned, steps=(Step(text="", effect=Effect.METADATA),)
        )


@pytest.mark.parametrize("columns", [5, 120])
def test_two_thousand_changes_are_less_than_five_megabytes(columns: int) -> None:
    page = html(plan(*_wide(2_000, columns)))
    assert len(page.encode()) < 5_000_000
    left = page.count("is left out: the page has no room")
    assert (left > 0) == (columns == 120)
    assert "column_0_of_0 " in page, "the first ones have theirs"
    assert len(page) < MOST_DETAILS + 2_000 * 600 + 100_000


def test_an_empty_plan_has_a_page() -> None:
    found = parsed(html(plan()))
    assert "no changes, blocked: no" in found.text
    assert "input" not in found.elements
