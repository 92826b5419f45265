"""Bodies to plain data as a schema says."""

from pathlib import Path

import pytest

from flareiac.kernel.data import UNKNOWN, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.kernel.types import BOOL, NUMBER, STRING, ListType, MapType, ObjectType, RefType
from flareiac.lang.decode import DecodedBody, decode_body
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_file
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value, from_data, lazy_object, resource_value, string, unknown
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.validators import one_of

SCHEMA = Block(
    attributes={
        "catalog": Attribute(type=RefType(("catalog",)), description="Where the table is."),
        "name": Attribute(type=STRING, description="Its name.", required=True),
        "version": Attribute(type=NUMBER, description="The format.", validators=(one_of(1, 2, 3),)),
        "tags": Attribute(type=MapType(STRING), description="Tags."),
        "sort": Attribute(type=ListType(STRING), description="Order."),
        "sql": Attribute(type=STRING, description="A query."),
        "file": Attribute(type=STRING, description="A file."),
        "when": Attribute(
            type=ObjectType(
                {"every": STRING, "once": BOOL, "most": NUMBER}, frozenset({"every", "once", "most"})
            ),
            description='When it runs: { every = "10s" }. Later more.',
            instead={"cron": "Use cron."},
        ),
        "keys": Attribute(
            type=ObjectType({"on": ListType(STRING), "by": STRING}, frozenset({"by"})),
            description="Keys: { on }.",
        ),
    },
    instead={"schedule": "Write when."},
    blocks={
        "column": NestedBlock(
            nesting=Nesting.MAP,
            block=Block(attributes={"type": Attribute(type=STRING, description="Its type.", required=True)}),
        ),
        "stage": NestedBlock(
            nesting=Nesting.LIST,
            block=Block(attributes={"sql": Attribute(type=STRING, description="A query.")}),
        ),
        "trigger": NestedBlock(
            nesting=Nesting.SINGLE,
            block=Block(attributes={"every": Attribute(type=STRING, description="When.")}),
        ),
    },
    exactly_one_of=(("sql", "file"),),
)
OK = 'name = "o"\nsql = ""\n'
"""The attributes that a body must have."""
ROOTS = {
    "catalog": lazy_object({"lake": resource_value("catalog.lake", "catalog", {})}, "catalog"),
    "table": lazy_object({"t": resource_value("table.t", "table", {})}, "table"),
    "var": lazy_object(
        {
            "columns": from_data({"a": "int", "b": "long"}),
            "later": unknown(),
            "secret": string("hush").with_sensitive(),
        },
        "var",
    ),
}


def decoded(text: str, meta: frozenset[str] = frozenset()) -> tuple[DecodedBody, Diagnostics]:
    diagnostics = Diagnostics()
    body = parse_file(Source("x", "t {\n" + text + "\n}\n"), diagnostics, cache=False).blocks[0].body

    def lookup(name: str) -> Value | None:
        return ROOTS.get(name)

    scope = Scope(lookup=lookup, functions=functions(Path()), roots=lambda: ROOTS)
    return decode_body(body, SCHEMA, scope, diagnostics, meta=meta), diagnostics


def test_data_and_spans() -> None:
    found, diagnostics = decoded(
        "catalog = catalog.lake\n"
        'name = "o"\n'
        "version = 2\n"
        "tags = { a = 1 }\n"
        'sql = "x"\n'
        'column "ts" { type = "timestamp" }\n'
        'stage { sql = "a" }\n'
        'stage { sql = "b" }\n'
        'trigger { every = "10s" }\n'
        "lifecycle {}",
        frozenset({"lifecycle"}),
    )
    assert not list(diagnostics)
    assert found.attributes == {
        "catalog": Reference("catalog.lake"),
        "name": "o",
        "version": 2,
        "tags": {"a": "1"},
        "sort": None,
        "sql": "x",
        "file": None,
        "column": {"ts": {"type": "timestamp"}},
        "stage": [{"sql": "a"}, {"sql": "b"}],
        "trigger": {"every": "10s"},
        "when": None,
        "keys": None,
    }
    assert found.spans["column", "ts", "type"].start.line == 7
    assert found.spans["stage", 1, "sql"].start.line == 9
    assert ("column", "ts") in found.spans


def test_dynamic_blocks() -> None:
    found, diagnostics = decoded(
        'name = "o"\nsql = "x"\ndynamic "column" {\n  for_each = var.columns\n  labels = [column.key]\n'
        "  content {\n    type = column.value\n  }\n}"
    )
    assert not list(diagnostics)
    assert found.attributes["column"] == {"a": {"type": "int"}, "b": {"type": "long"}}


def test_unknown_and_sensitive() -> None:
    found, diagnostics = decoded('name = var.later\nsql = "x"\ntags = { a = var.secret, b = "y" }')
    assert not list(diagnostics)
    assert found.attributes["name"] is UNKNOWN
    assert found.attributes["tags"] == {"a": "hush", "b": "y"}
    assert found.sensitive_paths == (("tags", "a"),)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ('nam = "o"\nname = "o"\nsql = ""', "FIL201", 'Did you mean "name"?'),
        ('column = 1\nname = "o"\nsql = ""', "FIL201", "is a block"),
        ('sql = ""', "FIL202", "Its name"),
        ('name = ["o"]\nsql = ""', "FIL203", "string is required"),
        ('name = "o"\nsql = ""\nversion = 9', "FIL204", "9"),
        ('name = "o"\nsql = ""\ncolum "x" {}', "FIL205", 'Did you mean "column"?'),
        ('name = "o"\nsql = ""\ncolumn {\n type = "int"\n}', "FIL207", "one label"),
        ('name = "o"\nsql = ""\ntrigger {}\ntrigger {}', "FIL208", "one block"),
        (
            'name = "o"\nsql = ""\ncolumn "a" { type = "x" }\ncolumn "a" { type = "x" }',
            "FIL209",
            "of its own",
        ),
        ('name = "o"', "FIL210", "exactly one"),
        ('name = "o"\nsql = ""\nfile = ""', "FIL210", "exactly one"),
        ('name = "o"\nsql = ""\ncatalog = table.t', "FIL203", "table.t is a table"),
        (f'{OK}catalog = "lake"', "FIL203", "not a string. Write catalog.lake."),
        (f'{OK}catalog = "catalog.lake"', "FIL203", "Write it without quotes: catalog.lake."),
        (f'{OK}catalog = "a b"', "FIL203", "such as catalog.NAME."),
        (f"{OK}catalog = catalog", "FIL203", "such as catalog.NAME."),
        (f'{OK}when = "10s"', "FIL203", 'Write when = { every = "10s" }.'),
        (f'{OK}when = "once"', "FIL203", "Write when = { once = true }."),
        (f"{OK}when = 10", "FIL203", 'a number. When it runs: { every = "10s" }.'),
        (f"{OK}when = var.secret", "FIL203", "not shown."),
        (f'{OK}when = {{ cron = "* *" }}', "FIL201", "Use cron."),
        (f'{OK}schedule = "x"', "FIL201", "Write when."),
        (f'{OK}keys = "id"', "FIL203", 'Write keys = { on = ["id"] }.'),
        (f'{OK}keys = ["id"]', "FIL203", 'Write keys = { on = ["id"] }.'),
        (f'{OK}keys = {{ on = "id" }}', "FIL203", 'Write on = ["id"].'),
        (f"{OK}keys = {{}}", "FIL203", '"on" is required. Keys: { on }.'),
        (f'{OK}sort = "id"', "FIL203", 'Write sort = ["id"].'),
    ],
)
def test_complaints(text: str, code: str, part: str) -> None:
    _, diagnostics = decoded(text)
    (found,) = diagnostics
    assert found.code == code
    assert part in found.detail
    assert found.subject is not None
