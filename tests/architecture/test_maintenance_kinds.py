"""A kind of maintenance touches one package: no other module names it, and one that nothing knows goes all
the way from its block to what is said of its result.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from flareiac_iceberg.maintenance.registry import KINDS
from tests.iceberg.discovery.shapes import catalog_of
from tests.support.command_line import environment

_ROOT: Final = Path(__file__).parents[2]
_ROOM: Final = _ROOT / "providers/flareiac_iceberg/maintenance/kinds"
_CARRIED_OUT: Final = _ROOT / "providers/flareiac_iceberg_runtime/kinds"
_REGISTRIES: Final = {_ROOM.parent / "registry.py", _ROOM.parent / "declarations.py"}
_PROSE: Final = {
    "flareiac/sdk/brokers.py",
    "providers/flareiac_iceberg/codes.py",
    "providers/flareiac_iceberg_runtime/codes.py",
    "providers/flareiac_iceberg/maintenance/statistics_text.py",
    "providers/flareiac_iceberg/table/earlier_layout.py",
    "providers/flareiac_spark_runtime/driver/earlier_layouts.py",
    "providers/flareiac_spark/generation/broker_positions.py",
    "providers/flareiac_spark/maintenance/errors.py",
    "providers/flareiac_spark/sources/findings.py",
    "providers/flareiac_spark/sources/findings_text.py",
    "providers/flareiac_spark/sources/kafka/definition.py",
    "providers/flareiac_spark/sources/reachable.py",
}
"""Titles, a legend and an advice speak of kinds to people; brokers, too, have what they call retention."""

PROJECT: Final = """
catalog "lake" {}
table "orders" {
  namespace = "sales"
  column "id" { type = "long" }
  polish { COATS }
}
"""
PROGRAM: Final = """
import sys
from flareiac_iceberg.maintenance import declarations, registry
from polish import POLISH
declarations.DECLARATIONS = (*declarations.DECLARATIONS, POLISH.declaration)
registry.KINDS = (*registry.KINDS, POLISH)
from flareiac.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
CARRIED_OUT: Final = """
import json, logging, sys
from types import SimpleNamespace as Double
from unittest.mock import MagicMock
from flareiac_iceberg.maintenance import declarations, registry
from polish import POLISH
declarations.DECLARATIONS = (*declarations.DECLARATIONS, POLISH.declaration)
registry.KINDS = (*registry.KINDS, POLISH)
from flareiac_iceberg.maintenance.plan import TableMaintainer
from flareiac.sdk.maintenance import TasksRequest
from flareiac_spark_runtime.control import Maintain
from flareiac_spark_runtime.driver.maintenance import TableLocks, maintain
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark.maintenance.errors import doing, not_done

figures, attributes = json.loads(sys.argv[1]), {"polish": {"coats": int(sys.argv[2])}}
(task,) = TableMaintainer().tasks(TasksRequest(
    address="table.orders", attributes=attributes, identity={}, figures=figures, references={}, now_ms=0))
table, session = MagicMock(), MagicMock()
table.uuid().toString.return_value = "u"
table.snapshot.return_value = table.currentSnapshot.return_value = None
session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable.return_value = table
request = Double(work=task.work, subject=Double(address="table.orders"))
try:
    asked = Maintain(key=task.id, identifier=("c", "n", "t"), uuid="u", task=task.work)
    done = maintain(lambda: session, asked, TableLocks(), lambda _seconds: None, logging.getLogger("t"))
    judged = TableMaintainer().judge(task, done.result)
    said = [*judged.messages, *(item.detail for item in judged.diagnostics)]
except Refusal as refusal:
    diagnostic = not_done(request, f"{refusal.error_class}: {refusal}")
    said = [diagnostic.code, diagnostic.detail]
print(json.dumps([doing(request), dict(task.work.data), said]))
"""


def _names(tree: ast.AST) -> Iterator[str]:
    """Every identifier, and every text as a whole."""
    for node in ast.walk(tree):
        for part in ("id", "attr", "arg", "name", "value", "module"):
            value = getattr(node, part, None)
            if isinstance(value, str):
                yield value


def test_no_module_outside_its_package_names_a_kind() -> None:
    kinds = {kind.name for kind in KINDS} | {kind.performer.kind for kind in KINDS}
    found = set()
    for path in [*_ROOT.glob("flareiac/**/*.py"), *_ROOT.glob("providers/**/*.py")]:
        if {_ROOM, _CARRIED_OUT} & set(path.parents) or path in _REGISTRIES:
            continue
        place = str(path.relative_to(_ROOT))
        for text in _names(ast.parse(path.read_text("utf-8"))):
            words = {word.strip(".,") for word in text.split()}
            if text in kinds or (words & kinds and place not in _PROSE):
                found.add(f"{place}: {text:.60}")
    assert found == set()


def test_each_kind_has_a_package_of_its_name_with_the_same_files() -> None:
    packages = {path.name for path in _ROOM.iterdir() if (path / "__init__.py").exists()}
    assert packages == {kind.name for kind in KINDS}
    for name in packages:
        files = {path.stem for path in (_ROOM / name).glob("*.py")}
        assert {"kind", "declaration", "schema", "settings", "plan"} <= files
        assert (_CARRIED_OUT / name / "perform.py").exists()


def _python(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(_ROOT / "tests/support/polish_dist"), environment().get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env=environment() | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def _polished(folder: Path, coats: str) -> None:
    (folder / "main.flare.hcl").write_text(PROJECT.replace("COATS", coats))


def test_a_kind_that_nothing_knows_is_declared_planned_and_shown(tmp_path: Path) -> None:
    _polished(tmp_path, "coat = 2")
    assert "coat" in _python(tmp_path, PROGRAM, "validate").stderr
    _polished(tmp_path, "coats = 2")
    made = _python(tmp_path, PROGRAM, "apply", "-auto-approve")
    assert made.returncode == 0, made.stderr
    catalog = catalog_of(tmp_path)
    for number in range(2):
        catalog.load_table("sales.orders").append(pa.table({"id": [number]}))
    catalog.close()
    planned = _python(tmp_path, PROGRAM, "plan", "-maintenance=only")
    assert "table.orders: polish: polish 2 files" in planned.stdout, planned.stderr
    assert "polish: never ran, next when it is due" in _python(tmp_path, PROGRAM, "show").stdout
    _polished(tmp_path, "coats = 3")
    assert "coats" in _python(tmp_path, PROGRAM, "plan", "-maintenance=exclude").stdout


FIGURES: Final[Mapping[str, Any]] = {
    "uuid": "u",
    "location": "/t",
    "metadata_location": "/t/metadata/1.json",
    "snapshot_id": 7,
    "format_version": 2,
    "sorted": False,
    "collects": True,
    "measured_ms": 0,
    "settings": "s",
    "totals": {"files": 2},
    "ids": "i",
    "kinds": {"polish": {"files": 2}},
}


@pytest.mark.parametrize(
    ("coats", "said"),
    [
        (1, ["polish: 2 files polished", "polish: as forecast"]),
        (2, ["polish: 2 files polished", "polish: as forecast", "polish must dry."]),
        (
            10,
            [
                "FIK117",
                "table.orders, polishing files: 10 coats do not hold.\nWrite fewer coats.",
            ],
        ),
    ],
)
def test_its_work_is_carried_out_and_weighed(tmp_path: Path, coats: int, said: list[str]) -> None:
    done = _python(tmp_path, CARRIED_OUT, json.dumps(FIGURES), str(coats))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["polishing files", {"coats": coats, "kind": "polish_files"}, said]
