"""The names in the pages exist: commands, options, blocks, attributes, codes, links; their examples parse;
their outputs are goldens.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from flareiac.app.codes import known_codes
from flareiac.app.discovery import installed
from flareiac.app.explain import explain
from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import LazyCommand, command_tree
from flareiac.cli.invocation import Invocation
from flareiac.config.own_blocks import OWN_BLOCKS
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import Body
from flareiac.sdk.schema import Block
from flareiac_spark_runtime.control.status import Phase
from tests.docs.fences import Fence, fences, missing, outline
from tests.docs.pages import DOCS, README, ROOT, pages
from tests.support.txtar import parse_txtar

WRITTEN = pages()
REFERENCES = sorted((ROOT / "providers").glob("*/REFERENCE.md"))
GLOBAL = {"chdir", "input", "no-color", "lock-timeout", "help"}
META = {"count", "for_each", "depends_on", "owner"}
LONGEST = 140
ODD = re.compile(
    r"\b(can not|anew|in silence|nobody|whoever|told|tells|somebody|away with|heart|behind the team's "
    r"back)\b",
    re.IGNORECASE,
)
SOME = pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
ALL = pytest.mark.parametrize(
    "page", [*WRITTEN, *REFERENCES], ids=lambda page: f"{page.parent.name}/{page.name}"
)


def _code(page: Path) -> Iterator[str]:
    """Everything that is written as code: lines of fenced blocks, and spans."""
    text = page.read_text(encoding="utf-8")
    for fence in fences(page):
        output = fence.language in ("text", "tour")
        yield from (line for line in fence.text.splitlines() if not output or line.startswith("$ "))
    yield from re.findall(
        r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    )


@cache
def _commands() -> dict[str, set[str]]:
    """The options of each command, by its words."""
    found: dict[str, set[str]] = {}

    def walk(words: str, command: Any) -> None:
        params = command.loaded().params if isinstance(command, LazyCommand) else command.params
        found[words] = {name.lstrip("-") for item in params for name in item.opts if name.startswith("-")}
        for name, inner in getattr(command, "commands", {}).items():
            walk(f"{words} {name}".strip(), inner)

    walk("", command_tree(Invocation(), provided_commands()))
    return found


def _command_lines(page: Path) -> Iterator[str]:
    for text in _code(page):
        for match in re.finditer(r"(?:^|[\s$&'])flareiac((?: -chdir=\S+)?(?: [\w@./'\"=*\[\]-]+)*)", text):
            yield match[1].strip()


@SOME
def test_commands_and_options_exist(page: Path) -> None:
    wrong = []
    for line in _command_lines(page):
        words = [word for word in line.split() if not word.startswith("-chdir")]
        if not words:
            continue
        name = " ".join(words[:2]) if " ".join(words[:2]) in _commands() else words[0]
        options = {word.lstrip("-").partition("=")[0] for word in words if word.startswith("-")}
        if name not in _commands() or options - _commands()[name] - GLOBAL:
            wrong.append(line)
    assert wrong == []


@SOME
def test_what_is_said_to_be_explained_is(page: Path) -> None:
    for line in _command_lines(page):
        words = line.split()
        if words[:1] == ["explain"] and len(words) > 1 and not words[1].isupper() and "BLOCK" not in words[1]:
            explain(words[1])


@SOME
def test_codes_exist(page: Path) -> None:
    sources = "".join(
        path.read_text(encoding="utf-8")
        for root in ("flareiac", "providers", "state")
        for path in (ROOT / root).rglob("*.py")
    )
    named = set(re.findall(r"\bFI[A-Z]\d{3}\b", page.read_text(encoding="utf-8")))
    assert {code for code in named if code not in known_codes() and f'"{code}"' not in sources} == set()


@ALL
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).is_file(), target


@ALL
def test_lines_are_short_and_words_are_plain(page: Path) -> None:
    text = page.read_text(encoding="utf-8").partition("\n## Changes\n")[0]
    assert [line for line in text.splitlines() if len(line) > LONGEST] == []
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if ODD.search(line)] == []


def test_readme_is_short() -> None:
    """Its last section takes one line for each change, and is condensed with a release; the rest belongs to
    the pages.
    """
    assert len(README.read_text(encoding="utf-8").splitlines()) < 300


def test_the_glossary_lists_the_phases_of_a_job() -> None:
    entry = re.search(
        r"^- \*\*phase\*\*(.*?)^- \*\*",
        (DOCS / "glossary.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert entry is not None
    assert re.findall(r"`(\w+)`", entry[1]) == list(get_args(Phase))


HCL = [fence for page in WRITTEN for fence in fences(page) if fence.language == "hcl"]


@pytest.mark.parametrize("fence", HCL, ids=str)
def test_examples_parse_and_name_what_there_is(fence: Fence) -> None:
    text = re.sub(r"^\s*\.\.\.$", "", fence.text, flags=re.MULTILINE)
    diagnostics = Diagnostics()
    body = parse_file(Source("page.flare.hcl", text), diagnostics)
    assert [item.summary for item in diagnostics] == []
    if not (fence.argument and not fence.argument.endswith(".flare.hcl")):
        for block in body.blocks:
            name = f"data.{block.labels[0]}" if block.type == "data" else block.type
            kind = installed().registry.types.get(name)
            if kind is not None:
                assert list(_unknown(block.body, kind.schema, name)) == []
            else:
                assert block.type in OWN_BLOCKS, block.type


def _unknown(body: Body, schema: Block, path: str) -> Iterator[str]:
    top = path.count(".") == path.startswith("data.")
    for attribute in body.attributes:
        if attribute.name not in schema.attributes and not (top and attribute.name in META):
            yield f"{path}.{attribute.name}"
    for nested in body.blocks:
        if nested.type == "dynamic" and nested.labels[0] in schema.blocks:
            inner = schema.blocks[nested.labels[0]].block
            for content in nested.body.blocks_of("content"):
                yield from _unknown(content.body, inner, f"{path}.{nested.labels[0]}")
        elif nested.type in schema.blocks:
            yield from _unknown(nested.body, schema.blocks[nested.type].block, f"{path}.{nested.type}")
        elif not (top and nested.type == "lifecycle"):
            yield f"{path}.{nested.type}"


OUTPUTS = [fence for page in WRITTEN for fence in fences(page) if fence.language == "text"]


@pytest.mark.parametrize("fence", OUTPUTS, ids=str)
def test_outputs_are_those_of_golden_cases(fence: Fence) -> None:
    case = parse_txtar(
        (ROOT / "tests" / "golden" / "cases" / f"{fence.argument}.txtar").read_text(encoding="utf-8")
    )
    printed = case.files.get("why.txt", case.files["plan.txt"])
    assert missing(outline(fence.text), outline(printed)) is None


def test_a_name_that_is_not_there_is_found_out() -> None:
    with pytest.raises(Failure):
        explain("tabel")
