"""Generated parts of the documentation are those of the code. FLAREIAC_UPDATE_GOLDEN=1 writes them."""

import os
import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.cli.exit_codes import MEANINGS
from flareiac.config.policy_names import names_page
from flareiac.config.rule_library import rules_page
from flareiac.kernel.types import STRING
from flareiac.render.reference import functions_page, reference_page
from flareiac.sdk.documents import Topic
from flareiac.sdk.schema import Block
from flareiac_spark.documents import topics
from flareiac_spark_runtime.driver.metrics import METRICS
from tests.docs.pages import DOCS, ROOT, pages
from tests.docs.picture import PICTURE, picture


def exit_codes() -> str:
    """The table of the command line."""
    return "| code | meaning |\n|---|---|\n" + "".join(
        f"| {code.value} | {text} |\n" for code, text in MEANINGS.items()
    )


def rules() -> str:
    """The rules of Spark by the part of a definition that changes; what several facts say in the same words
    is one item.
    """
    parts = []
    for subject, items in _by_subject("rule"):
        parts.append(f"### {subject}\n")
        rows = groupby(items, key=lambda item: (item.title, item.consequence, item.text))
        parts.append("".join(_item(*words, ", ".join(item.name for item in same)) for words, same in rows))
    return "\n".join(parts)


def _item(title: str, consequence: str, text: str, names: str) -> str:
    words = f"{title}: *{consequence}*. {text} [{names}]"
    return (
        textwrap.fill(words, 118, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) + "\n"
    )


def settings() -> str:
    """The settings that leave every value as it is, by where they are written and by what they decide."""
    parts = []
    for subject, items in _by_subject("setting"):
        parts.append(f"## {subject}\n")
        for title, same in groupby(items, key=lambda item: item.title):
            parts.append(f"They decide only {title}:\n\n" + "".join(f"- `{item.name}`\n" for item in same))
    return "\n".join(parts)


def metrics() -> str:
    """The metrics of the driver for Prometheus, as a table."""
    return "| metric | type | meaning |\n|---|---|---|\n" + "".join(
        f"| `{name}` | {metric.kind} | {metric.help} |\n" for name, metric in METRICS.items()
    )


GENERATED = {
    "policy names": names_page,
    "policy rules": rules_page,
    "rules": rules,
    "settings": settings,
    "exit codes": exit_codes,
    "metrics": metrics,
}


def _by_subject(kind: str) -> Iterator[tuple[str, list[Topic]]]:
    for subject, items in groupby(
        (item for item in topics() if item.kind == kind), key=lambda item: item.subject
    ):
        yield subject, list(items)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_generated_sections_are_those_of_the_code(page: Path) -> None:
    def fresh(match: re.Match[str]) -> str:
        return f"{match[1]}\n{GENERATED[match[2]]()}{match[4]}"

    text = page.read_text(encoding="utf-8")
    _check(page, re.sub(r"(<!-- generated: ([\w ]+) -->)\n(.*?)(<!-- end -->)", fresh, text, flags=re.DOTALL))


def test_each_generated_section_has_one_place() -> None:
    found = [
        name
        for page in pages()
        for name in re.findall(r"<!-- generated: ([\w ]+) -->", page.read_text(encoding="utf-8"))
    ]
    assert sorted(found) == sorted(GENERATED)


@pytest.mark.parametrize("provider", ["consumers", "iceberg", "kafka", "secrets", "spark"])
def test_the_reference_of_a_provider_is_generated_from_its_schemas(provider: str) -> None:
    registry = installed().registry
    types = {name: kind for name, kind in registry.types.items() if registry.provider_of[name] == provider}
    functions = installed().providers[provider].functions()
    _check(
        ROOT / "providers" / f"flareiac_{provider}" / "REFERENCE.md",
        reference_page(provider, types, functions),
    )


def test_the_page_of_functions_is_generated_from_the_functions() -> None:
    _check(DOCS / "functions.md", functions_page())


def test_the_picture_of_a_plan_is_what_the_program_prints() -> None:
    _check(PICTURE, picture())


def test_what_a_refused_value_could_be_is_in_the_reference() -> None:
    registry = installed().registry
    choices = [
        choice
        for name, kind in registry.types.items()
        if registry.provider_of[name] != "toy"
        for choice in _choices(kind.schema)
    ]
    assert any("'merge'" in told for _description, told in choices)
    for description, told in choices:
        assert [
            name for name in re.findall(r"'(\w+)'", told) if not re.search(rf"\b{name}\b", description)
        ] == []


def _choices(block: Block) -> Iterator[tuple[str, str]]:
    """The description of each attribute that takes one of a few texts, and the end of the complaint about a
    refused value.
    """
    for attribute in block.attributes.values():
        for validator in attribute.validators if attribute.type == STRING else ():
            told = validator("no such value") or ""
            if " is not one of " in told:
                yield attribute.description, told.partition(" is not one of ")[2]
    for nested in block.blocks.values():
        yield from _choices(nested.block)


def _check(page: Path, wanted: str) -> None:
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        page.write_text(wanted, encoding="utf-8")
    else:
        assert page.read_text(encoding="utf-8") == wanted
