"""Values are changed in the text of a file, and all else stays as it was written."""

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.render.source_edits import (
    AddBlock,
    CannotEdit,
    Edit,
    RemoveBlock,
    SetAttribute,
    edited,
    edits_between,
)
from flareiac.sdk.importing import Call, WrittenBlock


def after(text: str, *edits: Edit) -> str:
    source, diagnostics = Source("main.flare.hcl", text), Diagnostics()
    [block] = parse_file(source, diagnostics, cache=False).blocks
    new = edited(source, block, edits)
    parse_file(Source("main.flare.hcl", new), diagnostics, cache=False)
    assert list(diagnostics) == []
    return new


def attribute(name: str, value: object, *place: tuple[str, str | None]) -> SetAttribute:
    return SetAttribute(place=place, name=name, value=value)


def key(name: str, value: object, whole: object = None) -> SetAttribute:
    return SetAttribute(place=(), name="p", key=name, value=value, whole=whole)


@pytest.mark.parametrize(
    ("before", "edit", "expected"),
    [
        ("t {\n  a = 1 # why\n}\n", attribute("a", 2), "t {\n  a = 2 # why\n}\n"),
        ("t {\r\n  a = 1\r\n}\r\n", attribute("b", "x"), 't {\r\n  a = 1\r\n  b = "x"\r\n}\r\n'),
        ("t { a = 1 }\n", attribute("b", "x"), 't {\n  a = 1\n  b = "x"\n}\n'),
        ("t {}", attribute("b", True), "t {\n  b = true\n}"),
        ("t {\n}\n", attribute("b", True), "t {\n  b = true\n}\n"),
        ("t { # top\n  u {}\n}\n", attribute("b", 1), "t { # top\n  b = 1\n  u {}\n}\n"),
        (
            "t {\n  abc = 1\n  d   = 2 // d\n}\n",
            attribute("e", 3),
            "t {\n  abc = 1\n  d   = 2 // d\n  e   = 3\n}\n",
        ),
        ("t {\n  # of a\n  a = 1 # x\n  b = 2\n}\n", attribute("a", None), "t {\n  # of a\n  b = 2\n}\n"),
        ("t {\n  a = <<EOT\nx\nEOT\n  b = 2\n}\n", attribute("a", "y"), 't {\n  a = "y"\n  b = 2\n}\n'),
        ("t {\n  a = (((1)))\n}\n", attribute("a", 2), "t {\n  a = (((2)))\n}\n"),
        (
            't {\n  a = ["ü😀", /* c */ 1]\n  b = 1\n}\n',
            attribute("b", 2),
            't {\n  a = ["ü😀", /* c */ 1]\n  b = 2\n}\n',
        ),
        (
            "t {\n  a = [day(1)]\n}\n",
            attribute("a", [Call("bucket", (16, "x"))]),
            't {\n  a = [bucket(16, "x")]\n}\n',
        ),
        ("t {\n  a = 1\n}\n", attribute("a", 'q"${x}\n'), 't {\n  a = "q\\"$${x}\\n"\n}\n'),
        ("t {\n  p = { a = 1 }\n}\n", key("b.c", 2), 't {\n  p = { a = 1, "b.c" = 2 }\n}\n'),
        ("t {\n  p = { a = 1, b = 2, c = 3 }\n}\n", key("b", None), "t {\n  p = { a = 1, c = 3 }\n}\n"),
        ("t {\n  p = { a = 1, b = 2 }\n}\n", key("b", None), "t {\n  p = { a = 1 }\n}\n"),
        ("t {\n  p = { a = 1 }\n}\n", key("a", None), "t {\n  p = {  }\n}\n"),
        ("t {\n  p = {}\n}\n", key("a", 1), "t {\n  p = { a = 1 }\n}\n"),
        (
            "t {\n  p = {\n    a  = 1 # a\n  }\n}\n",
            key("b", 2),
            "t {\n  p = {\n    a  = 1 # a\n    b  = 2\n  }\n}\n",
        ),
        (
            "t {\n  p = {\n    a = 1, # a\n  }\n}\n",
            key("b", 2),
            "t {\n  p = {\n    a = 1, # a\n    b = 2,\n  }\n}\n",
        ),
        (
            "t {\n  p = {\n    a = 1, # a\n    b = 2\n  }\n}\n",
            key("a", None),
            "t {\n  p = {\n    b = 2\n  }\n}\n",
        ),
        (
            't {\n  p = {\n    "a" : "x=y"\n  }\n}\n',
            key("b", 2),
            't {\n  p = {\n    "a" : "x=y"\n    b = 2\n  }\n}\n',
        ),
        (
            't {\n  p = {\n    "a=b" = 1\n  }\n}\n',
            key("c", 2),
            't {\n  p = {\n    "a=b" = 1\n    c     = 2\n  }\n}\n',
        ),
        ('t {\n  p = {\n    "a" : 1\n  }\n}\n', key("a", 2), 't {\n  p = {\n    "a" : 2\n  }\n}\n'),
        ("t {\n  p = null\n}\n", key("a", 1, {"a": 1}), "t {\n  p = { a = 1 }\n}\n"),
        ("t {\n  a = 1\n}\n", key("a", 1, {"a": 1}), "t {\n  a = 1\n  p = { a = 1 }\n}\n"),
        (
            't {\n  c "x" { a = 1 } # x\n  p = 1\n}\n',
            AddBlock(place=(), block=WrittenBlock(type="c", label="y", attributes={"a": 2})),
            't {\n  c "x" { a = 1 } # x\n  c "y" { a = 2 }\n  p = 1\n}\n',
        ),
        (
            't {\n  # of x\n  c "x" { a = 1 } # x\n  p = 1\n}\n',
            RemoveBlock(place=(("c", "x"),)),
            "t {\n  # of x\n  p = 1\n}\n",
        ),
        ('t {\n  c "x" { a = 1 }\n}\n', attribute("a", 2, ("c", "x")), 't {\n  c "x" { a = 2 }\n}\n'),
        (
            "t {\n  m { a = 1 }\n}\n",
            attribute("b", 2, ("m", None)),
            "t {\n  m {\n    a = 1\n    b = 2\n  }\n}\n",
        ),
    ],
)
def test_a_value_is_changed_where_it_stands(before: str, edit: Edit, expected: str) -> None:
    assert after(before, edit) == expected


@pytest.mark.parametrize(
    ("before", "edit", "why"),
    [
        ("t {\n  a = var.x\n}\n", attribute("a", 1), "var.x"),
        ('t {\n  a = "x${each.key}"\n}\n', attribute("a", 1), "each.key"),
        ("t {\n  p = merge(local.p, { a = 1 })\n}\n", key("a", 1), "local.p"),
        ("t {\n  p = { a = var.x }\n}\n", key("a", None), "var.x"),
        ("t {\n  p = { for k in local.l : k => 1 }\n}\n", key("a", 2), "local.l"),
        ('t {\n  a = file("x")\n}\n', attribute("a", 1), "read by file"),
        ('t {\n  dynamic "c" {\n  }\n}\n', attribute("a", 1, ("c", "x")), "not written out"),
    ],
)
def test_a_value_that_is_made_of_others_is_left_to_its_author(before: str, edit: Edit, why: str) -> None:
    with pytest.raises(CannotEdit, match=why):
        after(before, edit)


def test_edits_are_the_differences_of_two_blocks() -> None:
    column = WrittenBlock(type="c", label="x", attributes={"type": "int"})
    old = WrittenBlock(type="t", label="n", attributes={"a": 1, "p": {"x": 1, "y": 2}}, blocks=(column,))
    wider = WrittenBlock(type="c", label="x", attributes={"type": "long"})
    new = WrittenBlock(type="t", label="n", attributes={"b": 1, "p": {"x": 1, "y": 3}}, blocks=(wider,))
    assert list(edits_between(old, old)) == []
    assert list(edits_between(old, new)) == [
        attribute("a", None),
        key("y", 3, {"x": 1, "y": 3}),
        attribute("b", 1),
        attribute("type", "long", ("c", "x")),
    ]
