"""The entrances of the whole front end: configurations in HCL's JSON form, projects of modules, and texts that
grow: deep, wide, doubling, going in circles.
"""

import json
import random
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from flareiac.app.validate import validate
from flareiac.app.workspace import VariableArguments, Workspace
from flareiac.kernel.diagnostics import Failure
from tests.mutations.documents import damage_document
from tests.mutations.entrances.entrance import Entrance, Gate, check
from tests.mutations.entrances.expressions import expression
from tests.mutations.entrances.language import mains
from tests.mutations.hostile import TEXTS, TOKENS
from tests.mutations.mutate import ANY_TEXT, HCL, damaged
from tests.mutations.worlds import MAIN
from tests.support.json_form import json_form

Files = Mapping[str, bytes]
_JSON: Final = f"{MAIN}.json"
_VARIABLES: Final = "flareiac.vars.hcl.json"


def enter(root: Path, files: Files) -> None:
    """Validates a project of these files. Raises what ``validate`` must not raise."""
    shutil.rmtree(root)
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    try:
        validated = validate(Workspace(root=root, variables=VariableArguments()))
    except Failure as failure:
        check(failure.diagnostics, failure.sources)
    else:
        check(validated.diagnostics, validated.configuration.sources)


def _open_json(root: Path) -> Gate:
    """Damaged as a document, as a text, or in one of its texts."""
    documents: list[Any] = []
    for content in mains():
        with suppress(ValueError):
            documents.append(json_form(content.decode()))
    texts = [json.dumps(each, indent=1).encode() for each in documents]

    def make(choose: random.Random) -> Files:
        at = choose.randrange(len(texts))
        content = texts[at]
        if choose.random() < 0.6:
            document = json.loads(content)
            if choose.random() < 0.5:
                _plant(document, choose)
            else:
                damage_document(document, choose, [documents[choose.randrange(len(documents))]])
            content = json.dumps(document, ensure_ascii=choose.random() < 0.5).encode(errors="surrogatepass")
        if choose.random() < 0.5:
            _, content = damaged(content, choose, choose.sample(texts, 3), ANY_TEXT)
        if choose.random() < 0.1:
            return {MAIN: b'variable "env" {}\n', _VARIABLES: content}
        return {_JSON: content}

    return Gate(make=make, enter=partial(enter, root))


def _plant(document: Any, choose: random.Random) -> None:
    """An expression, a token or a hostile text in one of the texts of a document."""
    texts: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        part = waiting.pop()
        pairs = part.items() if isinstance(part, dict) else enumerate(part)
        for key, member in pairs:
            if isinstance(member, dict | list):
                waiting.append(member)
            elif isinstance(member, str):
                texts.append((part, key))
    part, key = choose.choice(texts)
    hostile = choose.choice((*TEXTS, *TOKENS)).decode(errors="replace")
    planted = choose.choice(
        (
            f"${{{expression(choose)}}}",
            f"a${{~ {expression(choose, 2)} ~}}\n",
            f"%{{ for x in {expression(choose, 2)} }}${{x}}%{{ endfor }}",
            f"%{{ if {expression(choose, 2)} }}b",
            expression(choose, 3),
            hostile,
            f"${{{hostile}}}",
            part[key] + hostile,
        )
    )
    part[key] = planted


def _open_modules(root: Path) -> Gate:
    """Modules that call each other, mostly without a circle, with damage in one of their files."""

    def make(choose: random.Random) -> Files:
        count = choose.randrange(1, 6)
        places = ["", *(f"m{at}/" for at in range(count))]
        files = {
            f"{place}{MAIN}": "".join(_module(at, count, choose)).encode(errors="surrogatepass")
            for at, place in enumerate(places)
        }
        name = choose.choice(list(files))
        if choose.random() < 0.4:
            _, files[name] = damaged(files[name], choose, list(files.values()), HCL)
        elif choose.random() < 0.2:
            with suppress(ValueError):
                content = files.pop(name).decode()
                files[f"{name}.json"] = json.dumps(json_form(content)).encode()
        return files or {MAIN: b""}

    return Gate(make=make, enter=partial(enter, root))


def _module(at: int, count: int, choose: random.Random) -> list[str]:
    """The text of a module: inputs, outputs, and calls of modules behind it, at times of any."""
    some = partial(
        choose.choice, ("1", '"a"', "null", "[1, 2]", "{ a = 1 }", "var.x", "local.l", "path.module")
    )
    lines = [f'variable "x" {{ default = {some()} }}\n' if choose.random() < 0.8 else 'variable "x" {}\n']
    lines.append(f"locals {{\n  l = {some()}\n}}\n")
    values = ["var.x", "local.l"]
    for number in range(choose.randrange(3)):
        place = (
            choose.randrange(min(at, count - 1), count)
            if choose.random() < 0.9
            else choose.randrange(-1, count)
        )
        source = "." if place < 0 else f"m{place}"
        source = choose.choice((f"./{source}", f"../{source}", f"./../{source}")) if at else f"./{source}"
        repeat = choose.choice(
            ("", "", "  count = 2\n", "  count = var.x\n", "  for_each = { a = 1, b = 2 }\n")
        )
        x = choose.choice((f"  x = {some()}\n", f"  x = {expression(choose, 2)}\n", "  y = 1\n", ""))
        lines.append(f'module "c{number}" {{\n  source = "{source}"\n{repeat}{x}}}\n')
        one = choose.choice(("", "[0]", '["a"]', "[*]"))
        values.append(f"module.c{number}{one}.{choose.choice(('o', 'o', 'x', 'p'))}")
    lines.append(f'output "o" {{ value = {choose.choice(values)} }}\n')
    if choose.random() < 0.3:
        lines.append(f'output "p" {{ value = {expression(choose, 2)}\n}}\n')
    if choose.random() < 0.3:
        lines.append(f'namespace "n" {{ properties = {{ a = {choose.choice(values)} }} }}\n')
    return lines


_MANY: Final = (1, 2, 10, 30, 99, 100, 101, 199, 201, 1_000, 5_000)
_SHAPES: Final[tuple[tuple[str, str, str], ...]] = (
    *(("(", "1", ")"), ("[", "1", "]"), ("{ a = ", "1", " }"), ("!", "true", ""), ("-", "1", "")),
    *(('"${', "1", '}"'), ('"a${', "1", '}"'), ('"%{ if true }', "x", '%{ endif }"'), ("1 + ", "1", "")),
    *(("true ? 1 : ", "2", ""), ("local.a", "", ".b"), ("local.a", "", "[*]"), ("local.a", "", "[0]")),
    *(("[for x in ", "[1]", " : x]"), ("{ for k, v in ", "{}", " : k => v }"), ("try(", "1", ")")),
    *(("<<A\n${", "1", "}\nA\n"), ("1 == ", "1", ""), ('"a" == ', '"a"', ""), ("true && ", "true", "")),
    *(("[[1]", "", "[0]]"), ("upper(", '"a"', ")"), ("concat([1], ", "[2]", ")"), ("[", "", "...]")),
)
"""The beginning, the middle and the end of a text that nests or goes on."""
_DOUBLING: Final = (
    "[local.{0}, local.{0}]",
    '"${{local.{0}}}${{local.{0}}}"',
    "{{ a = local.{0}, b = local.{0} }}",
    "[for x in [1, 2] : local.{0}]",
    "concat([local.{0}], [local.{0}])",
    'join(",", [local.{0}, local.{0}])',
    "merge({{ a = local.{0} }}, {{ b = local.{0} }})",
    '"%{{ for x in [1, 2] }}${{local.{0}}}%{{ endfor }}"',
    'replace(local.{0}, "a", "aa")',
    "jsonencode([local.{0}, local.{0}])",
    "setproduct([1, 2], [local.{0}, 1])",
    "flatten([local.{0}, local.{0}])",
    "local.{0} == local.{0} ? [local.{0}, local.{0}] : null",
    "{{ for x in [1, 2] : x => local.{0} }}",
)
"""Values that are twice the one before."""


def _open_growth(root: Path) -> Gate:
    def make(choose: random.Random) -> Files:
        return choose.choice(_GROWTHS)(choose)

    return Gate(make=make, enter=partial(enter, root))


def _nested(choose: random.Random) -> Files:
    times = choose.choice(_MANY)
    before, middle, after = choose.choice(_SHAPES)
    text = before * times + middle + after * choose.choice((times, times, times, 0, times - 1))
    if choose.random() < 0.3:
        inner = choose.choice(_SHAPES)
        text = text.replace(middle, inner[0] * times + inner[1] + inner[2] * times, 1) if middle else text
    place = choose.choice(
        (
            "locals {{\n  a = {}\n}}\n",
            'output "o" {{\n  value = {}\n}}\n',
            'namespace "n" {{\n  for_each = {}\n}}\n',
            'namespace "n" {{\n  properties = {{ a = {} }}\n}}\n',
            'variable "v" {{\n  default = {}\n}}\n',
            'variable "v" {{\n  type = {}\n}}\n',
            'table "t" {{\n  namespace = "n"\n  dynamic "column" {{\n    for_each = {}\n    content {{}}\n  }}\n}}\n',
            'import {{\n  to = {}\n  id = "x"\n}}\n',
        )
    )
    return {MAIN: place.format(text).encode()}


def _nested_json(choose: random.Random) -> Files:
    times = choose.choice(_MANY)
    before, after = choose.choice(
        (("[", "]"), ('{"a":', "}"), ('{"dynamic":{"column":', "}}"), ('[{"locals":', "}]"))
    )
    inner = choose.choice(
        ("1", '"${1}"', "null", "{}", '"' + "\\u0041" * times + '"', '"${[' + "[" * times + '"')
    )
    text = before * times + inner + after * times
    place = choose.choice(
        ('{{"locals":{{"a":{}}}}}', '{{"table":{{"t":{}}}}}', "{}", '{{"variable":{{"v":{}}}}}')
    )
    return {_JSON: place.format(text).encode()}


def _doubling(choose: random.Random) -> Files:
    """Each local holds the one before twice, in one way or in several."""
    times = choose.choice((5, 20, 30, 60, 200))
    one = choose.choice(_DOUBLING)
    first = choose.choice(('"aaaaaaaaaa"', "[1]", '{ a = "x" }', "range(1000)", "1"))
    lines = [f"  l0 = {first}\n"]
    for at in range(times):
        form = one if choose.random() < 0.8 else choose.choice(_DOUBLING)
        lines.append(f"  l{at + 1} = {form.format(f'l{at}')}\n")
    last = choose.choice(
        (
            'output "o" {{ value = local.l{0} }}\n',
            'output "o" {{ value = length(local.l{0}) }}\n',
            'namespace "n" {{ for_each = local.l{0} }}\n',
            'namespace "n" {{ count = length(local.l{0}) }}\n',
            'output "o" {{ value = jsonencode(local.l{0}) }}\n',
            'output "o" {{ value = local.l{0} == local.l{0} }}\n',
            'output "o" {{ value = toset([local.l{0}, local.l{0}]) }}\n',
            'output "o" {{ value = sha256(yamlencode(local.l{0})) }}\n',
        )
    )
    return {MAIN: ("locals {\n" + "".join(lines) + "}\n" + last.format(times)).encode()}


def _wide(choose: random.Random) -> Files:
    """Many of one thing: attributes, blocks, labels, elements, names, lines, texts without an end."""
    times = choose.choice((100, 1_000, 5_000))
    text = choose.choice(
        (
            "locals {\n" + "".join(f"  a{at} = {at}\n" for at in range(times)) + "}\n",
            "locals {\n" + "  a = 1\n" * times + "}\n",
            'namespace "n" ' + '"x" ' * times + "{}\n",
            'namespace "n" {}\n' * times,
            "x {}\n" * times,
            "locals { a = [" + "1, " * times + "] }\n",
            "locals { a = {" + "b = 1, " * times + "} }\n",
            f'output "o" {{ value = f({"1, " * times}) }}\n',
            'output "o" { value = "' + "${1}" * times + '" }\n',
            'output "o" { value = "' + "\\u0041" * times + '" }\n',
            'output "o" { value = "' + "a" * (times * 1_000) + '" }\n',
            f"{'a' * (times * 100)} {{}}\n",
            "#" * (times * 1_000),
            "/*" * times,
            "/*" + "*" * (times * 100),
            '"' * times,
            "${" * times,
            "<<A\n" * times,
            "locals { a = <<A\n" + " x\n" * times + "A\n}\n",
            "\n" * (times * 100),
            " " * (times * 1_000) + "x",
            "\r" * times,
            "a." * times,
            "1" * (times * 100),
            "locals { a = 1" + "0" * times + " * 1" + "0" * times + " }\n",
            'output "o" { value = regex("' + "(a*)*" * times + '", "' + "a" * times + '") }\n',
            'output "o" { value = format("' + "%s" * times + '") }\n',
            'table "t" {\n' + '  column "c" {}\n' * times + "}\n",
            'table "t" {\n' + "".join(f'  colum{at} "c" {{}}\n' for at in range(times)) + "}\n",
        )
    )
    if choose.random() < 0.3:
        text = text[: choose.randrange(len(text))]
    return {MAIN: text.encode()}


def _in_circles(choose: random.Random) -> Files:
    """Locals, variables, outputs, blocks and modules that need each other."""
    count = choose.choice((1, 2, 3, 50, 2_000))
    kind = choose.randrange(4)
    if kind == 0:
        lines = [f"  l{at} = local.l{(at + 1) % count}\n" for at in range(count)]
        return {MAIN: ("locals {\n" + "".join(lines) + "}\n").encode()}
    if kind == 1:
        blocks = [
            f'namespace "n{at}" {{\n  depends_on = [namespace.n{(at + 1) % count}]\n}}\n'
            for at in range(count)
        ]
        return {MAIN: "".join(blocks).encode()}
    if kind == 2:
        names = range(min(count, 50))
        files = {
            f"m{at}/{MAIN}": f'module "n" {{ source = "../m{(at + 1) % len(names)}" }}\n'.encode()
            for at in names
        }
        return {MAIN: b'module "a" { source = "./m0" }\n', **files}
    # Each module calls the next one twice: as many calls as 2 to the power of their number
    depth = choose.choice((5, 12, 30))
    calls = 'module "a{0}" {{ source = "{1}" }}\nmodule "b{0}" {{ source = "{1}" }}\n'
    files = {f"m{at}/{MAIN}": calls.format(at, f"../m{at + 1}").encode() for at in range(depth)}
    return {MAIN: calls.format("", "./m0").encode(), f"m{depth}/{MAIN}": b"locals { a = 1 }\n", **files}


_GROWTHS: Final[tuple[Callable[[random.Random], Files], ...]] = (
    *(_nested, _nested, _nested_json, _doubling, _doubling, _wide, _in_circles),
)
ENTRANCES: Final = (
    Entrance(name="json", share=60_000, open=_open_json),
    Entrance(name="modules", share=25_000, open=_open_modules),
    Entrance(name="growth", share=15_000, open=_open_growth),
)
