"""The display of diagnostics to people and to machines."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostic, Related, Severity, error, warning
from flareiac.kernel.sources import Source, Span
from flareiac.render.diagnostics import as_json, text, validate_json
from tests.render.plans import read

MAIN = Source(
    "main.hcl",
    """catalog "lake" {
  type = "sql"
}

table "orders" {
  catalog = catalog.lak
  column "id" {
\ttype = "lnog"
  }
  über = "größe ${var.region}" + 1
}

locals {
  a = [
    1,
    2,
  ]
}
""",
)
SOURCES = {MAIN.path: MAIN}
CODE = Code("FIC999", "Something")


def _span(words: str) -> Span:
    start = MAIN.text.index(words)
    return MAIN.span(start, start + len(words))


def _text(*diagnostics: Diagnostic, width: int = 80) -> str:
    return text(diagnostics, SOURCES, width=width, colour=False)


def test_an_error_shows_its_place_lines_values_and_reason() -> None:
    detail = (
        'The type "lnog" is none that Iceberg has. Did you mean "long"?\n\nSee also:\n    flareiac '
        "explain table.column"
    )
    item = Diagnostic(
        code="FIL007",
        summary="Unknown type",
        detail=detail,
        subject=_span('"lnog"'),
        address="table.orders",
        attribute=("column", "id", "type"),
        values=(("var.region", '"eu"'),),
    )
    assert (
        _text(item)
        == """╷
│ Error: Unknown type [FIL007]
│
│   with table.orders, attribute column.id.type,
│   on main.hcl line 8, in table "orders":
│    8:     type = "lnog"
│                  ^^^^^^
│     ├────────────────
│     │ var.region is "eu"
│
│ The type "lnog" is none that Iceberg has. Did you mean "long"?
│
│ See also:
│     flareiac explain table.column
╵
"""
    )


def test_several_lines_a_context_and_a_second_place() -> None:
    item = Diagnostic(
        code="FIC001",
        summary="Not a number",
        subject=_span("[\n    1,\n    2,\n  ]"),
        related=(Related(span=_span('catalog "lake"'), message="first declared here"),),
    )
    around = Diagnostic(
        code="FIC002",
        severity=Severity.WARNING,
        summary="Odd",
        subject=_span("2,"),
        context=_span("a = [\n    1,\n    2,\n"),
    )
    assert (
        _text(item, around)
        == """╷
│ Warning: Odd [FIC002]
│
│   on main.hcl line 16, in locals:
│   14:   a = [
│   15:     1,
│   16:     2,
│           ^^
╵
╷
│ Error: Not a number [FIC001]
│
│   on main.hcl line 14, in locals:
│   14:   a = [
│             ^
│   15:     1,
│           ^^
│   16:     2,
│           ^^
│   17:   ]
│         ^
│   and main.hcl line 1: first declared here
│    1: catalog "lake" {
│       ^^^^^^^^^^^^^^
╵
"""
    )


def test_carets_stand_under_wide_letters_and_after_tabs() -> None:
    source = Source("x.hcl", 'a = "数据" + b\n\te\u0301x = c\n')
    for words in ("b", "c"):
        at = source.text.index(words)
        item = Diagnostic(code="FIL001", summary="s", subject=source.span(at, at + 1))
        shown = text([item], {"x.hcl": source}, width=80, colour=False).split("\n")
        assert shown[5].endswith("^")
    # Two wide letters take four columns; a combining one none.
    assert shown[5] == "│       " + " " * len("    ex = ") + "^"


def test_a_line_of_any_length_is_cut_around_the_subject() -> None:
    source = Source("x.json", '{"a": [' + "1, " * 2000 + '"here", ' + "2, " * 2000 + "]}")
    at = source.text.index('"here"')
    item = Diagnostic(code="FIL001", summary="s", subject=source.span(at, at + 6))
    shown = text([item], {"x.json": source}, width=72, colour=False).split("\n")
    assert all(len(line) <= 72 for line in shown)
    code, carets = shown[4], shown[5]
    assert code[carets.index("^") : carets.rindex("^") + 1] == '"here"'


def test_a_complaint_without_a_place_is_short() -> None:
    item = Diagnostic(
        code="FIX001",
        summary="No Java",
        detail="Install Java 17 or 21, or set JAVA_HOME, and run the command again. " * 2,
    )
    assert (
        _text(item, width=60)
        == """╷
│ Error: No Java [FIX001]
│
│ Install Java 17 or 21, or set JAVA_HOME, and run the
│ command again. Install Java 17 or 21, or set JAVA_HOME,
│ and run the command again.
╵
"""
    )


def test_a_source_that_is_not_at_hand_is_named() -> None:
    other = Source("gone.hcl", "x = 1\n").span(4, 5)
    assert "│   on gone.hcl line 1\n" in _text(Diagnostic(code="FIL001", summary="s", subject=other))


def test_what_users_wrote_can_not_steer_the_terminal() -> None:
    source = Source("x.hcl", 'a = "\x1b[2J\u202e"\n')
    item = Diagnostic(
        code="FIL001",
        summary="\x1b[31m",
        detail="\x07",
        subject=source.span(4, 9),
        values=(("a", "\x1b]0;x"),),
    )
    shown = text([item], {"x.hcl": source}, width=80, colour=False)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown


def test_colour_changes_nothing_but_the_colour() -> None:
    item = Diagnostic(code="FIL001", summary="s", detail="d", subject=_span('"lnog"'))
    coloured = text([item], SOURCES, width=80, colour=True)
    assert "\x1b[1;31mError:\x1b[0m" in coloured
    plain = coloured
    for code in ("1;31", "31", "33", "1", "2", "0"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == _text(item)


def test_json_has_terraforms_shape_with_bytes() -> None:
    item = Diagnostic(
        code="FIL010",
        summary="Unsuitable",
        detail="why",
        subject=_span("var.region"),
        values=(("var.region", '"eu"'),),
    )
    shown = validate_json(
        [item, Diagnostic(code="FIC002", severity=Severity.WARNING, summary="Odd")], SOURCES
    )
    start = MAIN.text.encode().index(b"var.region")
    line = '  über = "größe ${var.region}" + 1'
    assert json.loads(json.dumps(shown)) == {
        "format_version": "1.0",
        "valid": False,
        "error_count": 1,
        "warning_count": 1,
        "diagnostics": [
            {
                "severity": "error",
                "summary": "Unsuitable",
                "detail": "why",
                "code": "FIL010",
                "range": {
                    "filename": "main.hcl",
                    "start": {"line": 10, "column": 19, "byte": start},
                    "end": {"line": 10, "column": 29, "byte": start + 10},
                },
                "snippet": {
                    "context": 'table "orders"',
                    "code": line,
                    "start_line": 10,
                    "highlight_start_offset": 18,
                    "highlight_end_offset": 28,
                    "values": [{"traversal": "var.region", "statement": 'is "eu"'}],
                },
            },
            {"severity": "warning", "summary": "Odd", "detail": "", "code": "FIC002"},
        ],
    }


@pytest.mark.parametrize("width", [0, 20, 80])
@given(st.data())
def test_any_span_of_any_text_is_shown(width: int, data: st.DataObject) -> None:
    source = Source(
        "x.hcl", data.draw(st.text(alphabet=st.sampled_from('ab {}\n\t\r"é数\u0301\x1b'), max_size=80))
    )
    start = data.draw(st.integers(min_value=0, max_value=len(source.text)))
    end = data.draw(st.integers(min_value=start, max_value=len(source.text)))
    context = data.draw(st.sampled_from([None, source.span(0, len(source.text))]))
    item = Diagnostic(code="FIL001", summary="s", subject=source.span(start, end), context=context)
    shown = text([item], {"x.hcl": source}, width=width, colour=False)
    assert "^" in shown
    assert all(line[0] in "╷│╵" for line in shown.splitlines())
    [found] = read(as_json([item], {"x.hcl": source}))
    snippet = found["snippet"]
    assert (
        snippet["code"][snippet["highlight_start_offset"] : snippet["highlight_end_offset"]]
        == source.text[start:end]
    )


class _Counted(str):
    """A text that counts how often all of it is gone through."""

    __slots__ = ("times",)
    times: int

    def split(self, *arguments: Any, **options: Any) -> list[str]:
        self.times += 1
        return super().split(*arguments, **options)

    def count(self, *arguments: Any) -> int:
        self.times += 1
        return super().count(*arguments)

    def encode(self, *arguments: Any, **options: Any) -> bytes:
        self.times += 1
        return super().encode(*arguments, **options)


def test_a_text_with_a_complaint_on_each_line_is_gone_through_a_few_times() -> None:
    """A file of a thousand stray braces has a thousand errors; it is not read a thousand times for them."""
    content = _Counted("ü }\n" * 1_000)
    content.times = 0
    source = Source("main.hcl", content)
    items = [
        Diagnostic(code="FIL010", summary=str(line), subject=source.span(4 * line + 2, 4 * line + 3))
        for line in range(1_000)
    ]
    assert text(items, {source.path: source}, width=100, colour=False).count("ü }") == 1_000
    shown = read(as_json(items, {source.path: source}))
    assert [item["range"]["start"] for item in shown[:2]] == [
        {"line": 1, "column": 3, "byte": 3},
        {"line": 2, "column": 3, "byte": 8},
    ]
    assert content.times <= 4


def test_resources_that_are_warned_of_in_the_same_words_share_a_box() -> None:
    same = [warning(CODE, "It is old.", address=f"job.{name}") for name in "abcdefg"]
    other = warning(CODE, "It is new.", address="job.z")
    shown = text([*same, other, same[0]], {}, width=80, colour=False)
    assert shown == (
        "╷\n│ Warning: Something [FIC999]\n│\n│   with job.a, job.b, job.c, job.d, job.e and 2 more\n│\n"
        "│ It is old.\n╵\n"
        "╷\n│ Warning: Something [FIC999]\n│\n│   with job.z\n│\n│ It is new.\n╵\n"
    )


def test_what_holds_of_several_resources_is_said_once_with_their_addresses() -> None:
    alike = [error(CODE, "No.", address=f"job.{name}") for name in "ab"]
    shown = text([*alike, error(CODE, "Other.", address="job.c")], {}, width=80, colour=False)
    assert shown.count("Error:") == 2
    assert "with job.a, job.b" in shown
    assert "with job.c" in shown


SECRET = "geheim-pw"


@pytest.mark.parametrize(
    "line",
    [
        f'sasl = {{ username = "a", password = "{SECRET}", x = 1 }}',
        f'options = {{ "sasl.jaas.config" = "{SECRET}" }}',
        f'uri = "postgresql://a:{SECRET}@db/lake"',
        f'"password"="{SECRET}"',
        f'sasl = {{ "password" : "{SECRET}" }}',
        f'{"a" * 300_000}-password = "{SECRET}"',
    ],
)
def test_a_secret_that_is_written_out_is_not_shown(line: str) -> None:
    source = Source("main.hcl", f"kafka {{\n  {line}\n}}\n")
    item = error(CODE, "No.", subject=source.span(source.text.index("=") + 1, len(source.text) - 3))
    for shown in (
        text([item], {"main.hcl": source}, width=100, colour=False),
        json.dumps(as_json([item], {"main.hcl": source})),
    ):
        assert SECRET not in shown
        assert "***" in shown


@pytest.mark.parametrize(
    "line",
    [
        "password = secret.kafka",
        'password = "${var.password}"',
        'topic = "secret"',
        'sasl = { mechanism = "PLAIN" }',
    ],
)
def test_what_is_no_secret_is_shown_as_it_is(line: str) -> None:
    source = Source("main.hcl", f"  {line}\n")
    item = error(CODE, "No.", subject=source.span(2, len(line) + 2))
    assert line in text([item], {"main.hcl": source}, width=100, colour=False)
