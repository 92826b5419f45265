"""Whatever is in a name or a text, the HCL that is written means it."""

import string

from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.parse import parse_file
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import Body
from flareiac.lang.values import to_data
from flareiac.render.hcl_text import file_text
from flareiac.sdk.importing import Call, WrittenBlock
from tests.lang.oracle import difference

TEXTS = st.text(
    st.one_of(
        st.sampled_from('"\\${}%#\n\r\t\x00\x1f\u2028\ufeff '), st.characters(exclude_categories=["Cs"])
    ),
    max_size=20,
)
NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=8).filter(
    lambda name: name not in ("for", "if", "in", "null", "true", "false")
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
BLOCKS = st.builds(
    lambda kind, label, attributes, inner: WrittenBlock(
        type=kind, label=label, attributes=attributes, blocks=tuple(inner)
    ),
    NAMES,
    st.none() | TEXTS,
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.lists(
        st.builds(lambda label: WrittenBlock(type="column", label=label, attributes={"type": label}), TEXTS),
        max_size=2,
    ),
)


def read(text: str) -> list[Data]:
    """The blocks of a file: type, labels, values, inner blocks."""
    found = Diagnostics()
    body = parse_file(Source("written", text), found, cache=False)
    assert not list(found), [item.summary + text for item in found]
    return meaning(body)


def meaning(body: Body) -> list[Data]:
    found = Diagnostics()
    scope = Scope(lookup=lambda _name: None, functions={}, roots=list)
    parts: list[Data] = []
    for block in body.blocks:
        values: Attributes = {
            item.name: to_data(evaluate(item.expr, scope, found)) for item in block.body.attributes
        }
        parts.append([block.type, list(block.labels), values, meaning(block.body)])
    assert not list(found)
    return parts


def told(block: WrittenBlock) -> Data:
    return [
        block.type,
        [] if block.label is None else [block.label],
        dict(block.attributes),
        [told(item) for item in block.blocks],
    ]


@given(st.lists(BLOCKS, max_size=3), st.lists(TEXTS, max_size=2))
def test_what_is_written_is_read_as_it_was_meant(blocks: list[WrittenBlock], notes: list[str]) -> None:
    text = file_text(blocks, notes=notes)
    assert read(text) == [told(block) for block in blocks]
    assert difference(text) is None, "python-hcl2 reads it back as it was meant, too"


def test_it_is_written_as_a_person_would() -> None:
    block = WrittenBlock(
        type="table",
        label="orders",
        attributes={
            "catalog": Reference("catalog.lake"),
            "partition_by": [Call("day", ("ts",)), Call("bucket", (16, "id"))],
            "sort_by": [Call("desc", (Call("day", ("ts",)), "first"))],
            "properties": {
                f"a.rather.long.name.of.a.property.{number}": "with a value" for number in range(2)
            },
        },
        blocks=(
            WrittenBlock(type="column", label="id", attributes={"type": "long"}),
            WrittenBlock(type="column", label="ts", attributes={"type": "timestamptz", "comment": "when"}),
        ),
        notes=("One line.", "a comment\nthat cannot end" + " and goes on" * 10),
    )
    assert file_text([block]) == (
        "# One line.\n"
        "# a comment that cannot end and goes on and goes on and goes on and goes on and goes on and goes "
        "on and goes on\n"
        "# and goes on and goes on and goes on\n"
        'table "orders" {\n'
        "  catalog      = catalog.lake\n"
        '  partition_by = [day("ts"), bucket(16, "id")]\n'
        '  sort_by      = [desc(day("ts"), "first")]\n'
        "  properties = {\n"
        '    "a.rather.long.name.of.a.property.0" = "with a value"\n'
        '    "a.rather.long.name.of.a.property.1" = "with a value"\n'
        "  }\n"
        '  column "id" { type = "long" }\n'
        '  column "ts" {\n'
        '    type    = "timestamptz"\n'
        '    comment = "when"\n'
        "  }\n"
        "}\n"
    )
