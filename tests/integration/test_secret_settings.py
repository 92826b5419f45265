"""A secret in the settings of an engine, a job, a stream and an output: Spark has it, and no file below the
project does.
"""

from hashlib import md5

import pytest

from tests.integration.project import LAKE, Project, rides

pytestmark = pytest.mark.jvm

HIDDEN = "hush-c3-4711"
PROBE = """
from hashlib import md5


def probe(spark, inputs, params):
    found = spark.sparkContext.getConf().get("spark.flareiac.of.engine") + spark.conf.get("flareiac.of.job")
    return inputs["rides"].selectExpr("id", f"'{md5(found.encode()).hexdigest()}' AS city")
"""


def test_the_driver_has_the_secret_and_no_file_does(project: Project) -> None:
    lake = LAKE.replace('"spark.sql.shuffle.partitions" = "1"', '"spark.flareiac.of.engine" = secret.k')
    lake = lake.replace(
        'format                = "json"', 'format = "json"\n    options = { "flareiac.password" = secret.k }'
    )
    job = (
        rides("rides")
        .replace(
            "  trigger ", '  code       = "code"\n  conf       = { "flareiac.of.job" = secret.k }\n  trigger '
        )
        .replace('sql = "SELECT id, city FROM rides"', 'python = "probe:probe"')
        .replace(
            "{ table = table.rides }",
            '{\n    table   = table.rides\n    options = { "flareiac.token" = secret.k }\n  }',
        )
    )
    (project.root / "code").mkdir()
    (project.root / "code" / "probe.py").write_text(PROBE)
    project.land(3)
    project.write(lake=lake, rides=job, secret='secret "k" { env = "LANGUAGE_TEST_KEY" }\n')
    project.apply(LANGUAGE_TEST_KEY=HIDDEN)
    project.expect_rides("rides")
    assert {row["city"] for row in project.rows("rides")} == {
        md5((HIDDEN * 2).encode(), usedforsecurity=False).hexdigest()
    }
    files = [item for item in project.root.rglob("*") if item.is_file()]
    assert not [item for item in files if HIDDEN.encode() in item.read_bytes()]
