"""A project needs only the packages of the places that it names: a diagnostic says which one is missing, what
needs it, and what to install.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from flareiac.sdk.optional_packages import EXTRAS
from tests.support.command_line import environment

_HIDING: Final = """
import json, sys

hidden = frozenset(json.loads(sys.argv.pop(1)))

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hiding())
from flareiac.cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(hidden & set(sys.modules))]))
"""
_LAKE: Final = 'catalog "lake" {{\n  {place}\n}}\n'
_TABLE: Final = 'table "a" {\n  namespace = "n"\n  column "id" { type = "long" }\n}\n'
_SQLITE: Final = (
    _LAKE.format(place='uri = "sqlite:///lake/catalog.db"\n  warehouse = "lake/warehouse"') + _TABLE
)
_WITHOUT: Final = tuple(EXTRAS)
_SECRET: Final = (
    'secret "p" {\n  aws_secret = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:p-AbCdEf"\n}\n'
)


def _run(folder: Path, *words: str, without: tuple[str, ...] = _WITHOUT) -> tuple[int, list[str], str]:
    """The exit code, the hidden modules that were imported all the same, and everything that was printed."""
    command = [sys.executable, "-W", "ignore", "-c", _HIDING, json.dumps(without), *words]
    done = subprocess.run(
        command, cwd=folder, env=environment(COLUMNS="200"), capture_output=True, text=True, timeout=300
    )
    lines = done.stdout.splitlines()
    code, imported = json.loads(lines.pop())
    return code, imported, " ".join("\n".join([*lines, done.stderr]).replace("│", " ").split())


def test_tables_in_sqlite_need_no_optional_package(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(_SQLITE)
    for words in (("plan", "-out=p.json"), ("apply", "p.json"), ("drift",), ("state", "list"), ("doctor",)):
        code, imported, text = _run(tmp_path, *words)
        assert (code, imported) == (0, []), text
    (tmp_path / "main.flare.hcl").write_text(_SQLITE.replace('"long"', '"long"\n    doc = "d"'))


_CASES: Final = {
    "topic": (
        'kafka "k" {\n  bootstrap_servers = "localhost:9092"\n}\ntopic "t" {\n  partitions = 1\n}\n',
        ("topic.t", "kafka.k (Kafka at localhost:9092)", "confluent-kafka", "flareiac[kafka]"),
    ),
    "PostgreSQL catalog": (
        _LAKE.format(place='uri = "postgresql://u@localhost:1/d"\n  warehouse = "lake/warehouse"') + _TABLE,
        ("table.a", "catalog.lake (postgresql://u@localhost:1/d)", "psycopg2-binary", "flareiac[postgres]"),
    ),
    "PostgreSQL state": (
        'flareiac {\n  backend "postgresql" {\n    connection = "postgresql://u@localhost/d"\n  }\n}\n'
        + _SQLITE,
        ('backend "postgresql" {', "psycopg2-binary", "flareiac[postgres]"),
    ),
    "S3 state": (
        'flareiac {\n  backend "s3" {\n    bucket = "bucket"\n  }\n}\n' + _SQLITE,
        ('backend "s3" {', "(bucket bucket)", "boto3", "flareiac[aws]"),
    ),
    "Glue catalog": (
        _LAKE.format(place='type = "glue"\n  warehouse = "s3://bucket/lake"') + _TABLE,
        ("table.a", "catalog.lake (glue", "boto", "flareiac[aws]"),
    ),
}


@pytest.mark.parametrize("case", _CASES)
def test_a_plan_says_what_is_missing_for_which_block(tmp_path: Path, case: str) -> None:
    text, said = _CASES[case]
    (tmp_path / "main.flare.hcl").write_text(text)
    code, _imported, printed = _run(tmp_path, "plan")
    assert code == 1
    _is_said(printed, said)
    code, _imported, printed = _run(tmp_path, "doctor")
    assert code == 1
    assert said[-1] in printed


def test_an_apply_says_what_a_warehouse_in_s3_needs(tmp_path: Path) -> None:
    place = 'uri = "sqlite:///lake/catalog.db"\n  warehouse = "s3://bucket/lake"'
    (tmp_path / "main.flare.hcl").write_text(_LAKE.format(place=place) + _TABLE)
    code, _imported, printed = _run(tmp_path, "apply", "-auto-approve")
    assert code == 1
    _is_said(printed, ("table.a", "catalog.lake (files in S3)", "boto", "flareiac[aws]"))


def test_a_secret_of_aws_says_what_it_needs(tmp_path: Path) -> None:
    place = 'uri = "postgresql://u@localhost:1/d"\n  credential = secret.p\n  warehouse = "lake/warehouse"'
    (tmp_path / "main.flare.hcl").write_text(_SECRET + _LAKE.format(place=place) + _TABLE)
    without = tuple(name for name in _WITHOUT if name != "psycopg2")
    code, _imported, printed = _run(tmp_path, "plan", without=without)
    assert code == 1
    _is_said(printed, ("table.a", "boto3", "flareiac[aws]"))


def _is_said(printed: str, texts: tuple[str, ...]) -> None:
    assert "Traceback" not in printed
    assert "bug of the provider" not in printed
    assert [text for text in texts if text not in printed] == [], printed
