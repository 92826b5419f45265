"""A lake that Spark's DDL made is imported whole: transforms, orders, comments and nested types as Spark
wrote them.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import environment, flareiac

pytestmark = pytest.mark.jvm
SCRIPT = Path(__file__).with_name("spark_lake.py")


def test_what_spark_made_plans_empty_and_stays_writable(
    tmp_path: Path, jars: tuple[Path, ...], java_home: Path
) -> None:
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n')
    variables = environment(JAVA_HOME=str(java_home), PYSPARK_PYTHON=sys.executable)
    command = [sys.executable, "-W", "ignore", str(SCRIPT), str(tmp_path), *map(str, jars)]
    made = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=200)
    assert made.returncode == 0, made.stderr[-3000:]
    done = flareiac(tmp_path, "import", "-from-catalog=lake.shop.*", "-out=imported.flare.hcl")
    assert (done.code, done.err) == (0, ""), done.text
    text = (tmp_path / "imported.flare.hcl").read_text(encoding="utf-8")
    assert 'partition_by   = [day("ts"), bucket(8, "id"), truncate(3, "region")]' in text
    assert 'sort_by        = [asc("region"), desc("ts", "first")]' in text
    assert 'distribution   = "range"' in text
    assert 'comment        = "it\'s %%{not} a template"' in text
    assert "compression" not in text
    plan = flareiac(tmp_path, "plan")
    assert "Plan: 4 to import, 0 to add, 0 to change, 0 to destroy." in plan.out, plan.text
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "plan", "-detailed-exitcode", "-refresh=full").code == 0
    assert flareiac(tmp_path, "drift").code == 0
