"""A step in Python from its folder to the table: declared, planned, applied, changed, broken and mended
through the command line.
"""

import pytest

from tests.integration.project import Project

pytestmark = pytest.mark.jvm

SCORED = """
table "scored" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"    { type = "long" }
  column "city"  { type = "string" }
}
checkpoint "scored" {}
job "scored" {
  checkpoint = checkpoint.scored
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  code       = "jobs/"
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id, city FROM rides" }
  step "scored" {
    python = "score:score"
    params = { suffix = "!", times = 2 }
  }
  output "scored" { table = table.scored }
}
"""
SCORE = """
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

import texts


def score(spark, inputs, params):
    marked = F.udf(lambda city: texts.mark(city, params["suffix"] * params["times"]), StringType())
    return inputs["clean"].withColumn("city", marked("city"))
"""
TEXTS = "def mark(text, suffix):\n    return text + suffix\n"


def marks(project: Project) -> set[str]:
    return {row["city"].lstrip("RomeOslBrn") for row in project.rows("scored")}


def write(project: Project, **modules: str) -> None:
    for name, text in modules.items():
        path = project.root / "jobs" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def test_code_goes_from_its_folder_to_the_rows(project: Project) -> None:
    write(project, score=SCORE, texts=TEXTS)
    project.write(scored=SCORED)
    project.land(3)
    project.apply()
    project.expect_rides("scored")
    assert marks(project) == {"!!"}
    project.plan(code=0)

    # A module that a step only imports is part of the definition; the stream goes on where it was.
    write(project, texts=TEXTS.replace("text + suffix", "text + '?'"))
    assert "code" in project.plan(code=2)
    project.apply()
    project.land(3)
    project.expect_rides("scored")
    assert marks(project) == {"!!", "?"}
    project.plan(code=0)
    assert len(list((project.control / "code").iterdir())) == 2


def test_bad_code_never_replaces_what_runs(project: Project) -> None:
    before = project.run_id("job.scored")
    write(project, score=SCORE + "    return (\n")
    assert "jobs/score.py" in project.run("validate", code=1).err
    # Spark is asked with empty frames before anything changes.
    write(project, score=SCORE.replace('withColumn("city", marked("city"))', 'select("cty")'))
    told = project.apply(code=1)
    assert "score.py:10" in told.text
    write(project, score=SCORE.replace("import texts", "import texts\nraise RuntimeError('no licence')"))
    assert "score.py:6: RuntimeError: no licence" in project.apply(code=1).err
    write(project, score=SCORE)
    project.plan(code=0)
    assert project.run_id("job.scored") == before


def test_code_that_changes_after_its_plan_is_not_applied(project: Project) -> None:
    write(project, texts=TEXTS.replace("suffix\n", "'1'\n"))
    project.run("plan", "-out=later.plan")
    write(project, texts=TEXTS.replace("suffix\n", "'2'\n"))
    told = project.run("apply", "later.plan", code=1)
    assert "changed after the plan was made" in told.err
    project.apply()
    project.land(3)
    project.expect_rides("scored")
    assert "2" in marks(project)
    assert "1" not in marks(project)
