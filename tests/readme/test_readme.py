"""README stays true: its reference and its tables are those of the code. FLAREIAC_UPDATE_GOLDEN=1 writes them anew."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from flareiac.app.discovery import installed
from flareiac.cli.exit_codes import MEANINGS
from flareiac.kernel.types import STRING
from flareiac.render.reference import END, START, reference
from flareiac.sdk.schema import Block
from flareiac_spark.job.spark_rules import ABOVE_STATE, RULES, Verdict
from flareiac_spark.settings import INPUT_SETTINGS, OUTPUT_OPTIONS, READER_OPTIONS, SETTINGS

README = Path(__file__).parents[2] / "README.md"


def test_the_reference_is_generated_from_the_schemas() -> None:
    registry = installed().registry
    own = {name: kind for name, kind in registry.types.items() if registry.provider_of[name] in ("iceberg", "secrets", "spark")}
    _check(START, END, reference(own, registry.functions))


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    rows = "".join(f"| {code.value} | {text} |\n" for code, text in MEANINGS.items())
    _check(
        "<!-- exit codes -->",
        "<!-- end of exit codes -->",
        f"<!-- exit codes -->\n| code | meaning |\n|---|---|\n{rows}<!-- end of exit codes -->\n",
    )


def test_the_rules_of_spark_are_those_of_the_planner() -> None:
    words = {
        Verdict.TAKES: "restarts on its checkpoint",
        Verdict.MIXES: "blocked until `accept_result_change` holds the plan's token, or a new generation",
        Verdict.REFUSES: "blocked until a new generation",
        Verdict.IGNORES: "told: no effect",
    }
    above = f"{words[Verdict.TAKES]} where each batch replaces all rows (`complete`, `overwrite`); else {words[Verdict.MIXES]}"
    said = {rule.fact: above if rule.fact in ABOVE_STATE else words[rule.verdict] for rule in RULES}
    lines = (f"| {rule.what} | {said[rule.fact]} |\n" for verdict in Verdict for rule in RULES if rule.verdict is verdict)
    rows = "".join(dict.fromkeys(lines))  # several facts are one rule to a reader
    start, end = "<!-- rules of Spark -->", "<!-- end of rules of Spark -->"
    _check(start, end, f"{start}\n| Spark {RULES[0].spark} ... | and so the job is |\n|---|---|\n{rows}{end}\n")


def test_the_settings_that_restart_a_query_with_state_are_those_of_the_planner() -> None:
    tables = {
        "setting of an engine or a job": SETTINGS,
        "setting of a stream": INPUT_SETTINGS,
        "reader option": READER_OPTIONS,
        "output option": OUTPUT_OPTIONS,
    }
    rows = ""
    for kind, table in tables.items():
        for what in dict.fromkeys(item.what for item in table):
            names = ", ".join(f"`{item.name}{'*' if item.name.endswith('.') else ''}`" for item in table if item.what == what)
            rows += f"| {kind} | {what} | {names} |\n"
    start, end = "<!-- harmless settings -->", "<!-- end of harmless settings -->"
    _check(start, end, f"{start}\n| | decides only | names |\n|---|---|---|\n{rows}{end}\n")


def test_what_a_refused_value_could_be_is_in_the_reference() -> None:
    registry = installed().registry
    choices = [choice for name, kind in registry.types.items() if registry.provider_of[name] != "toy" for choice in _choices(kind.schema)]
    assert any("'merge'" in told for _description, told in choices)
    for description, told in choices:
        assert [name for name in re.findall(r"'(\w+)'", told) if not re.search(rf"\b{name}\b", description)] == []


def _choices(block: Block) -> Iterator[tuple[str, str]]:
    """Of each attribute that takes one of a few texts: its description, and what follows the refused value in the complaint."""
    for attribute in block.attributes.values():
        for validator in attribute.validators if attribute.type == STRING else ():
            told = validator("no such value") or ""
            if " is not one of " in told:
                yield attribute.description, told.partition(" is not one of ")[2]
    for nested in block.blocks.values():
        yield from _choices(nested.block)


def _check(start: str, end: str, wanted: str) -> None:
    text = README.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(start) + r".*?" + re.escape(end) + r"\n", re.DOTALL)
    found = pattern.search(text)
    assert found is not None, f"README has no section {start}"
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        README.write_text(text[: found.start()] + wanted + text[found.end() :], encoding="utf-8")
    else:
        assert found.group() == wanted
