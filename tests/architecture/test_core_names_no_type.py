"""The core knows no resource type: what is defined in it, and what it says, names none of a provider's.

Left aside are docstrings and comments, which explain with examples, and names of local variables.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flareiac.app.discovery import installed

_CORE: Final = Path(__file__).parents[2] / "flareiac"
_GENERAL: Final = {"data", "secret", "state"}
"""Words of the core too: data blocks and states are its own, and references to secrets belong to the sdk."""
_INNER: Final = {"compaction", "orphan", "rebuild"}
"""Words for what is inside of their resources."""
_TOY: Final = {"broom", "bureau", "tray", "shine", "polish", "dust"}
"""Words of the toy provider in the tests."""

EXCEPTIONS: Final[dict[str, dict[str, set[str]]]] = {
    "the word has another meaning": {
        "app/codes.py": {"table"},
        "app/explain.py": {"topic"},
        "cli/exit_codes.py": {"table"},
        "cli/provider_command.py": {"table"},
        "kernel/codes.py": {"table"},
        "kernel/host.py": {"namespace"},
        "lang/functions/encoding.py": {"namespace"},
        "lang/grammar.py": {"table"},
        "render/lock_text.py": {"job"},
        "render/markdown.py": {"table"},
        "render/report/html.py": {"table"},
        "render/report/state_html.py": {"table"},
        "render/table_text.py": {"table"},
        "sdk/command_line.py": {"table"},
        "sdk/documents.py": {"topic"},
        "sdk/state.py": {"job"},
        "sdk/text_table.py": {"table"},
    },
    "help and status call what runs a job, and what runs it an engine, whichever provider brings them": {
        "cli/command_tree.py": {"job", "engine"},
        "cli/commands/driver.py": {"engine"},
        "cli/commands/logs.py": {"job"},
        "cli/commands/run_control.py": {"job", "engine"},
        "render/report/state_content.py": {"job"},
        "render/status_text.py": {"job"},
    },
    "help and the first project show what comes with the program": {
        "cli/command_tree.py": {"catalog", "checkpoint", "iceberg", "spark", "stream", "table"},
        "cli/commands/importing.py": {"catalog", "namespace", "table"},
        "cli/commands/new.py": {
            *("catalog", "checkpoint", "engine", "iceberg", "job", "namespace", "stream", "table"),
        },
    },
    "advice for users of other tools says what their words are called among what comes with the program": {
        "cli/other_tools.py": {"job", "spark", "table"},
        "config/blocks.py": {
            *("engine", "job", "kafka", "namespace", "spark", "stream", "table"),
        },
    },
    "rules of a team are asked about consumers, whichever provider brings them": {
        "config/policies.py": {"consumer"},
        "policy/values.py": {"consumer"},
    },
    "the names that rules read are documented with examples": {
        "config/policy_names.py": {"checkpoint", "consumer", "job", "table"},
    },
    "messages show addresses as examples": {
        "app/importing.py": {"table"},
        "config/blocks.py": {"table"},
        "config/meta.py": {"table"},
        "config/moves.py": {"table"},
        "planning/make_plan.py": {"table"},
        "render/explain_text.py": {"table"},
    },
    "titles and texts of FIP013 and FIP014 are a contract": {
        "kernel/codes.py": {"table"},
        "planning/rival_writers.py": {"table"},
    },
    "the form of a finding is a contract: it calls what wrote a table an engine, as Iceberg does": {
        "render/drift.py": {"engine"}
    },
    "the extras of the distribution have these names": {"sdk/optional_packages.py": {"kafka", "spark"}},
    "to stream is a relation, as to write is": {"sdk/changes.py": {"stream"}},
    "these are words of OpenLineage, and names of systems there": {
        "model/lineage.py": {"job", "namespace"},
        "planning/lineage.py": {"job"},
        "render/openlineage.py": {"job", "namespace"},
        "sdk/dataset_names.py": {"catalog", "kafka", "namespace", "spark", "table", "topic"},
        "sdk/lineage.py": {"job", "namespace"},
        "sdk/openlineage.py": {"engine", "job", "namespace", "spark", "table"},
        "sdk/type_roles.py": {"job"},
    },
    "two providers that never import each other share this": {
        "sdk/brokers.py": {"topic"},
        "sdk/lakehouse.py": {"engine", "table"},
        "sdk/lakehouse_views.py": {"catalog", "namespace", "spark", "table", "topic"},
        "sdk/versions.py": {"iceberg", "kafka", "spark"},
        "kernel/column_types.py": {"iceberg", "spark"},
        "kernel/type_names.py": {"iceberg"},
        "sdk/table_tasks.py": {"table"},
        "sdk/secret_settings.py": {"catalog", "engine", "iceberg", "job", "spark"},
    },
}


def names() -> set[str]:
    """The words that belong to providers."""
    found = installed()
    words = {word for name in found.registry.types for word in name.split(".")}
    return (words | {"iceberg", "spark"} | _INNER | _TOY) - _GENERAL


def words_in(text: str) -> set[str]:
    """The words of a sentence or of an identifier, in the singular."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return {word.lower().removesuffix("s") for word in re.findall(r"[A-Za-z]+", apart)}


def defined(path: Path) -> Iterator[str]:
    """The name of a module, what it defines, and its texts."""
    yield path.stem
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case _:
                pass
    yield from _constants(tree)
    yield from _texts(tree)


def _constants(tree: ast.Module) -> Iterator[str]:
    """Module constants, fields and members of enumerations."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for statement in (item for body in bodies for item in body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


def _texts(tree: ast.Module) -> Iterator[str]:
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def test_the_core_names_no_type_of_a_provider() -> None:
    """Each exception is needed, and nothing else is one."""
    wanted = names()
    found: dict[str, set[str]] = {}
    for path in sorted(_CORE.rglob("*.py")):
        words = {word for text in defined(path) for word in words_in(text)} & wanted
        if words:
            found[str(path.relative_to(_CORE))] = words
    allowed: dict[str, set[str]] = {}
    for places in EXCEPTIONS.values():
        for place, words in places.items():
            allowed.setdefault(place, set()).update(words)
    assert found == allowed
