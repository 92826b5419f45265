"""No text, however broken, ends in an exception; what is printed is read back; spans cut out what they
name.
"""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flareiac.config.own_blocks import REMOVED
from flareiac.kernel import user_cache
from flareiac.kernel.data import canonical
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang import syntax_cache
from flareiac.lang.escapes import quote
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.json_body import ANYTHING, SchemaForm
from flareiac.lang.parse import parse_expression, parse_file
from flareiac.lang.references import references
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import Body, Node, children, literal_text
from flareiac.lang.values import from_data, show, to_data

FUNCTIONS = functions(Path())
PIECES = [
    *"{}[]()\"=:,.?!<>+-*/%&|~#$\\\n \t'`é",
    *(
        "a",
        "for",
        "in",
        "if",
        "else",
        "endif",
        "endfor",
        "true",
        "null",
        "1",
        "2.5",
        "1e3",
        "${",
        "%{",
        "$${",
        "...",
        "=>",
        "::",
        "[*]",
        ".*",
    ),
    *(
        "<<EOT\n",
        "<<-EOT\n",
        "\nEOT\n",
        "/*",
        "*/",
        "//",
        "\r\n",
        "~}",
        '"x"',
        "dynamic",
        "a.b",
        "f(",
        "x = 1\n",
        "b {\n",
        "}\n",
    ),
    *("upper(", "[for x in ", "{for k, v in ", "b = <<A\n", '"a${', "\ufeff", "\u2028", "𝒳", "0x", "_", "-"),
]
BROKEN = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.text(max_size=20).filter(lambda text: "\x00" not in text),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
PATIENT = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def nodes(node: Node) -> list[Node]:
    return [node, *(found for child in children(node) for found in nodes(child))]


@PATIENT
@given(BROKEN)
def test_any_text_is_read_or_refused(text: str) -> None:
    diagnostics = Diagnostics()
    body = parse_file(Source("x", text), diagnostics, cache=False)
    scope = Scope(lookup={"a": from_data({"b": [1, "x"]})}.get, functions=FUNCTIONS)
    references(body)
    for node in nodes(body):
        assert 0 <= node.span.start.offset <= node.span.end.offset <= len(text)
    for attribute in body.attributes:
        show(evaluate(attribute.expr, scope, diagnostics))
    for item in diagnostics:
        assert item.subject is not None
        assert item.summary


@PATIENT
@given(BROKEN)
def test_any_text_of_a_json_string_is_read_or_refused(text: str) -> None:
    """As a template, and as an address; places stay inside of the string."""
    content = text.encode(errors="replace").decode()
    for form in (ANYTHING, SchemaForm((REMOVED,))):
        written = json.dumps({"from": content}, ensure_ascii=len(content) % 2 == 0)
        diagnostics = Diagnostics()
        body = parse_file(Source("x.json", written), diagnostics, form=form)
        references(body)
        for node in nodes(body):
            assert 0 <= node.span.start.offset <= node.span.end.offset <= len(written)
        for attribute in body.attributes:
            show(evaluate(attribute.expr, Scope(functions=FUNCTIONS), diagnostics))
        assert all(each.subject is not None and each.summary for each in diagnostics)


@PATIENT
@given(BROKEN)
def test_any_json_is_read_or_refused(text: str) -> None:
    diagnostics = Diagnostics()
    body = parse_file(Source("x.json", text), diagnostics, form=ANYTHING)
    assert body.attributes or diagnostics.has_errors or text.strip("\ufeff \n\r\t") in ("{}", "[]")


@PATIENT
@given(BROKEN)
def test_any_expression_is_evaluated_or_refused(text: str) -> None:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None or diagnostics.has_errors
    if expr is not None:
        evaluate(expr, Scope(functions=FUNCTIONS), diagnostics)


def printed(data: object) -> str:
    match data:
        case None:
            return "null"
        case bool():
            return "true" if data else "false"
        case int():
            return str(data)
        case str():
            return quote(data)
        case list():
            return "[" + ", ".join(map(printed, data)) + "]"
        case dict():
            return "{" + ", ".join(f"{quote(name)} = {printed(item)}" for name, item in data.items()) + "}"
        case _:
            raise AssertionError(data)


@PATIENT
@given(VALUES)
def test_printed_literals_are_read_back(data: object) -> None:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", printed(data)), diagnostics)
    assert expr is not None, list(diagnostics)
    assert to_data(evaluate(expr, Scope(), diagnostics)) == data
    assert not list(diagnostics)


@PATIENT
@given(
    st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), VALUES), max_size=5),
    st.text(alphabet=" \n#", max_size=5),
)
def test_the_cache_changes_nothing(items: list[tuple[str, object]], filler: str) -> None:
    filler = filler.replace("#", "\n# note\n")
    text = "".join(f"{filler}\n{name} {{\n  value = {printed(value)}\n}}\n" for name, value in items)

    def read(source: str, *, cache: bool) -> Body:
        return parse_file(Source("x", source), Diagnostics(), cache=cache)

    fresh = read(text, cache=False)
    read("first {}\n" + text, cache=True)
    for _ in range(2):
        kept = read(text, cache=True)
        assert kept == fresh
        assert [node.span for node in nodes(kept)] == [node.span for node in nodes(fresh)]


@pytest.mark.parametrize("damage", [b"", b"{}", b"\x00\xff", b'{"entries": 1}', b"[1,2"])
def test_a_damaged_cache_is_not_there(damage: bytes) -> None:
    source = Source("damaged", 'b "x" {\n  a = 1\n}\n')
    wanted = parse_file(source, Diagnostics(), cache=True)
    for path in (user_cache.cache_directory() / "syntax").iterdir():
        path.write_bytes(damage)
    diagnostics = Diagnostics()
    assert parse_file(source, diagnostics, cache=True) == wanted
    assert not list(diagnostics)


@pytest.mark.parametrize("part", ["syntax", "mentions", "body"])
@pytest.mark.parametrize("value", [None, [], [1], {}, "x", [[1]]], ids=repr)
def test_a_kept_item_of_another_shape_is_read_again(
    part: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only the body is odd, which is looked into later."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = Source("odd", 'b "x" {\n  a = c.d\n}\n')
    wanted = parse_file(source, Diagnostics(), cache=True)
    for path in (user_cache.cache_directory() / "syntax").iterdir():
        name = f"syntax/{path.name}"
        kept = user_cache.read_json(name)
        for entry in kept["entries"].values():
            if part != "body":
                entry[part] = value
            else:
                for block in entry["syntax"][4][1:]:
                    block[5][2] = value if isinstance(value, str) else json.dumps(value)
        user_cache.keep_json(name, kept)
    diagnostics = Diagnostics()
    assert parse_file(source, diagnostics, cache=True) == wanted
    assert not list(diagnostics)


@pytest.mark.parametrize("other", ["grammar_digest", "__version__"])
def test_what_another_grammar_or_release_has_read_is_read_again(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is made again, and its entries are not added to those of the other one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = Source("x", 'b "x" {\n  a = 1\n}\n')
    wanted = parse_file(source, Diagnostics())
    (path,) = (user_cache.cache_directory() / "syntax").iterdir()
    name = f"syntax/{path.name}"
    kept = user_cache.read_json(name)
    (entry,) = kept["entries"].values()
    entry["syntax"][4][1][3] = "other"
    user_cache.keep_json(name, kept)
    (block,) = parse_file(source, Diagnostics()).blocks
    assert block.type == "other", "the cache was not used"
    value = "another" if other == "__version__" else lambda: "another"
    monkeypatch.setattr(syntax_cache, other, value)
    assert parse_file(source, Diagnostics()) == wanted
    made_again = user_cache.read_json(name)
    assert made_again["reader"] != kept["reader"]
    assert made_again["entries"].keys() == kept["entries"].keys()
    assert made_again["entries"] != kept["entries"]


def test_an_unusable_cache_directory_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    diagnostics = Diagnostics()
    body = parse_file(Source("x", "a = 1\n"), diagnostics)
    assert [item.name for item in body.attributes] == ["a"]
    assert not list(diagnostics)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
        "a = " + "[" * 5000 + "\n",
        "a = " + "!" * 5000 + "true\n",
        "a = " + "1 + " * 5000 + "1\n",
        "a = b" + ".c" * 5000 + "\n",
        "a = b" + "[*]" * 5000 + "\n",
        "a = " + "true ? 1 : " * 5000 + "2\n",
        'a = "' + '${"' * 3000,
        "b {\n" * 3000,
        "a = " + "1" * 100_000 + "\n",
        "a = 1e999999999\n",
    ],
)
def test_excess_is_refused(text: str) -> None:
    diagnostics = Diagnostics()
    body = parse_file(Source("x", text), diagnostics, cache=False)
    for attribute in body.attributes:
        references(attribute)
        evaluate(attribute.expr, Scope(functions=FUNCTIONS), diagnostics)
    assert diagnostics.has_errors


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        VALUES
        | st.sampled_from(["/a(/", "%5d", "%[9]s", "(", "1e9999", "~/x", "\x00", 10**300, -1, "%.99999f"]),
        max_size=4,
    )
)
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_take_anything(name: str, arguments: list[object]) -> None:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", f"{name}({', '.join(map(printed, arguments))})"), diagnostics)
    assert expr is not None
    value = evaluate(expr, Scope(functions=FUNCTIONS), diagnostics)
    assert diagnostics.has_errors or canonical(to_data(value)) is not None


def test_numbers_keep_their_digits() -> None:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", "-123456789012345678901234567890.5 * 2"), diagnostics)
    assert expr is not None
    assert evaluate(expr, Scope(), diagnostics).raw == Decimal("-246913578024691357802469135781.0")
    assert literal_text(expr) is None
