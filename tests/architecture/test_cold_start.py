"""A command imports what it needs: the time until it starts is spent on imports."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import LazyCommand, command_tree
from flareiac.cli.invocation import Invocation
from tests.support.command_line import environment

LOOK: Final = """
import json, sys
from flareiac.cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]))
"""
HEAVY: Final = {
    *(
        "boto3",
        "botocore",
        "confluent_kafka",
        "cryptography",
        "deepdiff",
        "psycopg2",
        "pyarrow",
        "pydantic",
        "pyiceberg",
        "pyspark",
        "requests",
        "rich",
    ),
    *("sqlalchemy", "sqlglot"),
}
"""Libraries that cost more than the rest of a command that does without."""

COMMANDS: Final = [
    (("version",), HEAVY | {"typer", "flareiac.app", "flareiac.model", "flareiac.sdk"}),
    (
        ("--help",),
        HEAVY
        | {
            "flareiac.planning",
            "flareiac.applying",
            "flareiac.lang.parse",
            "flareiac.config.load",
        }
        | {
            f"flareiac_{name}.{name}_provider"
            for name in ("consumers", "iceberg", "kafka", "secrets", "spark", "toy")
        },
    ),
    (("validate",), HEAVY | {"flareiac.applying.apply", "flareiac.render.plan_text", "flareiac_state"}),
    (("state", "list"), HEAVY | {"flareiac.applying.apply", "flareiac_spark", "flareiac_iceberg"}),
    (("status",), HEAVY | {"flareiac.applying.apply", "flareiac_spark"}),
    (("plan",), HEAVY | {"flareiac.applying.apply"}),
]


@pytest.mark.parametrize(
    ("words", "unwanted"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_a_command_imports_no_more_than_it_needs(
    tmp_path: Path, words: tuple[str, ...], unwanted: set[str]
) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" { value = "1" }')
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done
    loaded = set(modules)
    assert sorted(unwanted & loaded) == []


def test_every_command_can_be_imported() -> None:
    """A place in the tree is a text: this finds the one that leads nowhere."""
    for name, item in command_tree(Invocation(), provided_commands()).commands.items():
        for command in [item] if isinstance(item, LazyCommand) else item.commands.values():  # type: ignore[attr-defined] # a group
            assert isinstance(command, LazyCommand)
            assert command.loaded().help, name


def test_one_module_of_commands_is_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, "state", "list"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    _code, modules = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in modules if name.startswith("flareiac.cli.commands.")] == [
        "flareiac.cli.commands.state"
    ]
