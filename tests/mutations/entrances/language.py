"""The entrances of the language: files, expressions, blocks made after the schemas, values of variables."""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from flareiac.app.discovery import installed
from flareiac.app.validate import Validated, validate
from flareiac.app.workspace import VariableArguments, Workspace
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.types import ListType, MapType, ObjectType, RefType, SetType, TupleType, Type
from flareiac.lang.escapes import quote
from flareiac.sdk.schema import Block
from tests.golden.case import CASES, read_case
from tests.mutations.entrances.entrance import Bug, Entrance, Gate, check
from tests.mutations.entrances.expressions import expression
from tests.mutations.hostile import TEXTS
from tests.mutations.mutate import ANY_TEXT, ARGUMENTS, HCL, damaged
from tests.mutations.worlds import CONFIGURATION, DECLARED, MAIN, VARIABLES

_EXAMPLES: Final = Path(__file__).parents[3] / "examples"
_SPELLINGS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    lambda content: b"\xef\xbb\xbf" + content,
    lambda content: content.replace(b"\n", b"\r\n"),
    lambda content: content.replace(b"\n", b"\r"),
    lambda content: content.decode(errors="replace").encode("utf-16"),
    lambda content: content.replace(b'"a"', '"e\u0301"'.encode()),
    lambda content: content.rstrip() + b" # \xe2\x80\xae",
    lambda content: content + b"\x00",
)
WORDS: Final = (
    "2s", "10 minutes", "0.5h", "1d", "PT5M", "P1Y", "-1s", "1e3s", "128MB", "1.5 GiB", "0B", "5 x", "0 3 * * *", "*/5 * * * 1-7",
    "@daily", "60 25 * * *", "long", "long not null", "decimal(10,2)", "decimal(39,2)", "list<string>", "map<string,long>",
    "struct<a: int, b: list<string not null>>", "timestamptz", "varchar(10)", "array<int>", "fixed[16]", "geometry", "variant",
    "bucket[16]", "day", "s3://b/k", "s3a://b", "file:///tmp/x", "sqlite:///x.db", "postgresql://u:p@h:1/d", "http://h:80/p?q#f",
    "https://[::1]:8181", "h:9092,g:9092", "a.b.c", "com.x:y_2.13:1.0", ">= 0.1, < 2", "~> 1.0", "zstd", "local[2]", "spark://h:7077",
    "append", "SELECT 1 AS a", "SELECT * FROM t", "UTF-8", "yyyy-MM-dd HH:mm:ss", "env:X", "Europe/Berlin", "0755", "127.0.0.1:4040",
)  # fmt: skip
"""Texts that some attribute takes, to be put into others."""


def mains() -> tuple[bytes, ...]:
    """Files of whole projects."""
    files = sorted(_EXAMPLES.rglob("*.flare.hcl"))
    cases = [read_case(path).main.encode() for path in CASES]
    return (CONFIGURATION, DECLARED, *(path.read_bytes() for path in files), *cases)


def validated(root: Path, content: bytes, given: VariableArguments | None = None) -> Validated | None:
    """The result of ``validate`` for a project with this one file, None for a failure. Raises what
    ``validate`` must not raise, and ``Bug`` for a valid file that is no text.
    """
    (root / MAIN).write_bytes(content)
    try:
        found = validate(Workspace(root=root, variables=given or VariableArguments()))
    except Failure as failure:
        check(failure.diagnostics, failure.sources)
        return None
    check(found.diagnostics, found.configuration.sources)
    if not found.diagnostics.has_errors and not _is_text(content):
        raise Bug("a file is valid that is not a text")
    return found


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _open_files(root: Path) -> Gate:
    known = mains()

    def make(choose: random.Random) -> bytes:
        _, content = damaged(choose.choice(known), choose, choose.sample(known, 3), HCL)
        return choose.choice(_SPELLINGS)(content) if choose.random() < 0.1 else content

    return Gate(make=make, enter=lambda content: validated(root, content))


def _open_expressions(root: Path) -> Gate:
    locals_ = b"".join(
        b"locals { %s = %s }\n" % (name, value)
        for name, value in ((b"a", b"{ b = [1, null] }"), (b"x", b"[1, 2]"))
    )

    def make(choose: random.Random) -> bytes:
        text = f'output "o" {{ value = {expression(choose)}\n}}\n'.encode(errors="surrogatepass")
        text = text.replace(b" a", b" local.a") if choose.random() < 0.3 else text
        return locals_ + (damaged(text, choose, [text], ANY_TEXT)[1] if choose.random() < 0.3 else text)

    return Gate(make=make, enter=lambda content: validated(root, content))


def _open_blocks(root: Path) -> Gate:
    """Blocks of every type with attributes of every name that its schema has, and values that may fit."""
    schemas: Mapping[str, Block] = {name: kind.schema for name, kind in installed().registry.types.items()}
    names = sorted(schemas)

    def make(choose: random.Random) -> bytes:
        name = choose.choice(names)
        kind = name.removeprefix("data.")
        head = f'data "{kind}" "x"' if name != kind else f'{kind} "x"'
        body = "".join(_body(schemas[name], choose, choose.choice((0.15, 0.5, 0.9))))
        return f"{_NEEDED}{head} {{\n{body}}}\n".encode(errors="surrogatepass")

    return Gate(make=make, enter=lambda content: validated(root, content))


_NEEDED: Final = """catalog "lake" {
  uri = "sqlite:///lake/c.db"
  warehouse = "lake"
}
stream "s" {
  rate { rows_per_second = 1 }
}
checkpoint "c" {}
table "t" {
  catalog = catalog.lake
  namespace = "n"
  column "id" { type = "long" }
}
"""


def _body(block: Block, choose: random.Random, often: float) -> Iterator[str]:
    """Lines of a body: what is required mostly, all else as often as said."""
    for name, attribute in block.attributes.items():
        if choose.random() < (0.95 if attribute.required else often):
            yield f"{name} = {_value(attribute.type, choose)}\n"
    for name, nested in block.blocks.items():
        for _ in range(choose.choice((1, 1, 2))):
            if choose.random() < (0.95 if nested.required else often):
                label = f' "{choose.choice(("id", "a.b", "x"))}"' if nested.nesting == "map" else ""
                yield f"{name}{label} {{\n{''.join(_body(nested.block, choose, often))}}}\n"


def _value(kind: Type, choose: random.Random) -> str:
    """The text of a value that may be of a type."""
    if choose.random() < 0.08:
        return choose.choice(ARGUMENTS)
    match kind:
        case ListType(element) | SetType(element) | MapType(element):
            inner = [_value(element, choose) for _ in range(choose.randrange(3))]
            if isinstance(kind, MapType):
                return "{ " + ", ".join(f"{_text(choose)} = {item}" for item in inner) + " }"
            return f"[{', '.join(inner)}]"
        case TupleType() | ObjectType():
            return choose.choice(("{}", "[]", '{ processing_time = "2s" }', "{ available_now = true }"))
        case RefType():
            return choose.choice(
                ("catalog.lake", "table.t", "checkpoint.c", "stream.s", "engine.local", "null")
            )
        case _:
            return choose.choice((_text(choose), _text(choose), "1", "true", "2.5", "-1", "null", "1e30"))


def _text(choose: random.Random) -> str:
    text = choose.choice(WORDS).encode()
    if choose.random() < 0.3:
        text = damaged(b'"' + text + b'"', choose, [b'"' + choose.choice(TEXTS) + b'"'], ANY_TEXT)[1].strip(
            b'"'
        )
    return quote(text[:5_000].decode(errors="replace"))


def _open_variables(root: Path) -> Gate:
    """Values by ``-var``, ``FLAREIAC_VAR_``, files of variables; with bytes that are no text."""
    names = (
        "env",
        "any",
        "count",
        "on",
        "names",
        "pair",
        "nested",
        "secret",
        "kept",
        "tables",
        "no",
        "é",
        "",
    )

    def text(choose: random.Random) -> str:
        made = choose.choice((expression(choose, 2), choose.choice(ARGUMENTS), choose.choice(WORDS)))
        content = made.encode(errors="surrogatepass")
        if choose.random() < 0.4:
            content = damaged(content, choose, [VARIABLES], ANY_TEXT)[1]
        return content[:20_000].decode("utf-8", "surrogateescape").replace("\x00", "")

    def make(choose: random.Random) -> Any:
        variables = [(choose.choice(names), text(choose)) for _ in range(choose.randrange(3))]
        environment = [(choose.choice(names[:-2]), text(choose)) for _ in range(choose.randrange(2))]
        file = damaged(VARIABLES, choose, [DECLARED], HCL)[1] if choose.random() < 0.5 else b""
        return variables, environment, file

    def enter(given: Any) -> None:
        variables, environment, file = given
        (root / "more.vars.hcl").write_bytes(file)
        items = (*(("var", f"{name}={value}") for name, value in variables), ("file", "more.vars.hcl"))
        before = dict(os.environ)
        os.environ.update({f"FLAREIAC_VAR_{name}": value for name, value in environment})
        try:
            validated(root, DECLARED, VariableArguments(given=items))
        finally:
            os.environ.clear()
            os.environ.update(before)

    return Gate(make=make, enter=enter)


ENTRANCES: Final = (
    Entrance(name="files", share=20_000, open=_open_files),
    Entrance(name="expressions", share=150_000, open=_open_expressions),
    Entrance(name="blocks", share=18_000, open=_open_blocks),
    Entrance(name="variables", share=20_000, open=_open_variables),
)
