"""Files to syntax: spans, what HCL refuses, and going on after an error."""

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.lang.references import references
from flareiac.lang.syntax import Body, literal_text

TEXT = """# comment
name = "x"

table "orders" "b" {
  catalog = catalog.lake
  column "id" { type = "long" }
  sql = <<-SQL
    SELECT ${var.a}
    SQL
}
"""


def parsed(text: str, *, cache: bool = False) -> tuple[Body, Diagnostics]:
    diagnostics = Diagnostics()
    return parse_file(Source("main.flare.hcl", text), diagnostics, cache=cache), diagnostics


@pytest.mark.parametrize("cache", [False, True])
def test_spans_point_at_the_text(cache: bool) -> None:
    parsed("\n\n" + TEXT, cache=cache)
    body, diagnostics = parsed(TEXT, cache=cache)
    assert not list(diagnostics)
    (block,) = body.blocks
    assert (block.type, block.labels) == ("table", ("orders", "b"))
    assert str(block.header_span) == "main.flare.hcl:4:1"
    label = block.label_nodes[1].span
    assert TEXT[label.start.offset : label.end.offset] == '"b"'
    catalog = block.body.attribute("catalog")
    assert catalog is not None
    assert TEXT[catalog.expr.span.start.offset : catalog.expr.span.end.offset] == "catalog.lake"
    assert (catalog.name_span.start.line, catalog.name_span.start.column) == (5, 3)


def test_references_are_found_from_syntax() -> None:
    body, _ = parsed(TEXT + "x = [for a in b.c : a.d + e[0].f if g[a].h]\n")
    assert {str(item) for item in references(body)} == {"b.c", "e[0].f", "g[...].h", "catalog.lake", "var.a"}


@pytest.mark.parametrize(
    ("text", "summary", "line"),
    [
        ("a = 1\na = 2\n", "Attribute set twice", 2),
        ("b {\n  a = 1\n  a = 2\n}\n", "Attribute set twice", 3),
        ("a = 1 b = 2\n", "Missing newline or separator", 1),
        ('a = "x\ny"\n', "Unterminated string", 1),
        ('a = "\\q"\n', "Invalid escape sequence", 1),
        ("a = <<EOT\nx\n", "Invalid heredoc", 1),
        ("b {\n  a = 1\n", "Unclosed bracket", 1),
        ("b { a = 1, c = 2 }\n", "Invalid syntax", 1),
        ("b { c {} }\n", "Invalid block definition", 1),
        ("b {\n  a = 1 }\n", "Missing newline or separator", 2),
        ("a = \n", "Invalid syntax", 1),
        ("a = [1, 2\n", "Unclosed bracket", 1),
        ("a = {x = 1 y = 2}\n", None, 1),
        ("a = 'x'\n", "Invalid character", 1),
        ("a\n", "Invalid syntax", 1),
        ("a = 1 & 2\n", "Invalid character", 1),
        ("}\n", "Unexpected closing bracket", 1),
        ("/* x\n", "Unterminated comment", 1),
    ],
)
def test_refused(text: str, summary: str | None, line: int) -> None:
    _, diagnostics = parsed(text)
    assert diagnostics.has_errors
    first = next(iter(diagnostics))
    assert summary is None or first.summary == summary
    assert first.subject is not None
    assert first.subject.start.line == line


def test_items_around_an_error_are_read() -> None:
    body, diagnostics = parsed('a = 1\nb = "\\q"\nc {\n  d = ]\n}\ne = 5\n')
    assert [item.name for item in body.attributes] == ["a", "e"]
    assert len(diagnostics) == 2


def test_quoted_text_means_what_it_says() -> None:
    body, _ = parsed('a = "tab\\t quote\\" uni\\u00e9 $${x}"\n')
    assert literal_text(body.attributes[0].expr) == 'tab\t quote" unié ${x}'


@pytest.mark.parametrize(
    "text",
    ['x "a" { a = 1, b = 2 }', "x {\n y { a = [1], b = 2 }\n}", "a = 1, b = 2", "x {\n a = 1, b = 2\n}"],
)
def test_a_comma_between_attributes_is_told_what_stands_there_instead(text: str) -> None:
    diagnostics = Diagnostics()
    parse_file(Source("x", text + "\n"), diagnostics, cache=False)
    (found,) = diagnostics
    assert "a block on one line takes one attribute" in found.detail


@pytest.mark.parametrize("text", ["a = b.*.c.*.d", "a = b.*.*", "a = b.*.c.*"])
def test_a_splat_inside_of_an_attribute_splat_is_refused(text: str) -> None:
    diagnostics = Diagnostics()
    parse_file(Source("x", text + "\n"), diagnostics, cache=False)
    assert [item.code for item in diagnostics] == ["FIL016"]
