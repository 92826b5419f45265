"""The wheel without an extra plans and applies tables in SQLite; what needs an extra names it."""

import subprocess
from pathlib import Path

import pytest

from tests.examples.depends import ROOT
from tests.examples.play import as_user

_LAKE = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}

table "a" {
  namespace = "n"
  column "id" { type = "long" }
}
"""
_TOPIC = 'kafka "k" {\n  bootstrap_servers = "localhost:9092"\n}\ntopic "t" {\n  partitions = 1\n}\n'


@pytest.mark.slow
def test_the_bare_wheel_plans_and_applies(tmp_path: Path) -> None:
    venv, project = tmp_path / "venv", tmp_path / "project"
    project.mkdir()
    made = f'set -euo pipefail; source tests/setup/machine.sh; make_venv "$(find_python)" "{venv}"'
    _run("bash", "-c", made, cwd=ROOT)
    pip = (f"{venv}/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
    _run(*pip, "-c", "tests/constraints.txt", str(ROOT), cwd=ROOT)
    look = "import importlib.util as u; print([n for n in {names!r} if u.find_spec(n)])"
    optional = ["boto3", "confluent_kafka", "psycopg2", "pyarrow", "pyspark"]
    there = _run(f"{venv}/bin/python", "-c", look.replace("{names!r}", repr(optional)), cwd=project)
    assert there == "[]\n"
    flareiac = f"{venv}/bin/flareiac"
    (project / "main.flare.hcl").write_text(_LAKE)
    assert "1 to add" in _run(flareiac, "plan", cwd=project)
    assert "1 added" in _run(flareiac, "apply", "-auto-approve", cwd=project)
    assert "No changes" in _run(flareiac, "plan", cwd=project)
    assert "No drift" in _run(flareiac, "drift", cwd=project)
    (project / "topic.flare.hcl").write_text(_TOPIC)
    assert '"flareiac[kafka]"' in _run(flareiac, "plan", cwd=project, code=1)


def _run(*words: str, cwd: Path, code: int = 0) -> str:
    done = subprocess.run(words, cwd=cwd, env=as_user(), capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr
