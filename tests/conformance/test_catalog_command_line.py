"""Secrets on their way through the command line and a Spark application: used where they are needed, and kept
nowhere.
"""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import boto3
import pytest

from tests.integration.project import Project, rides
from tests.support.catalog_kinds import Servers
from tests.support.command_line import flareiac
from tests.support.moto_server import aws_keys, make_bucket
from tests.support.postgres import PASSWORD

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
]

_KEY: Final = "a key that AWS keeps"
LAKE = """
secret "database" { file = "database.secret" }
secret "files"    { aws_secret = "ARN" }
catalog "lake" {
  type       = "sql"
  uri        = "URI"
  warehouse  = "s3://BUCKET/lake"
  credential = secret.database
  properties = {
    "s3.endpoint"          = "ENDPOINT"
    "s3.access-key-id"     = "testing"
    "s3.secret-access-key" = secret.files
  }
}
engine "local" {
  master           = "local[2]"
  runtime_location = "runtime"
  driver           = { memory = "768m" }
  idle_shutdown    = "60s"
  conf = {
    "spark.sql.shuffle.partitions" = "1"
    "spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  }
}
stream "rides" {
  files {
    path   = "landing/rides"
    format = "json"
  }
  column "id"    { type = "long" }
  column "ts"    { type = "timestamptz" }
  column "city"  { type = "string" }
  column "fare"  { type = "string" }
  column "rider" { type = "string" }
}
"""


@pytest.fixture
def project(tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    bucket = f"lake-{tmp_path.name[-20:].replace('_', '-').strip('-').lower()}"
    make_bucket(servers.aws(), bucket)
    made = Project(tmp_path)
    uri = servers.postgres().create(bucket)
    (tmp_path / "landing" / "rides").mkdir(parents=True)
    (tmp_path / "database.secret").write_text(PASSWORD + "\n")
    with aws_keys():
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", servers.aws())
        kept = boto3.client("secretsmanager", region_name="eu-central-1").create_secret(
            Name=bucket, SecretString=_KEY
        )
        lake = LAKE.replace("URI", uri).replace("ENDPOINT", servers.aws()).replace("BUCKET", bucket)
        made.write(lake=lake.replace("ARN", kept["ARN"]))
        try:
            yield made
        finally:
            made.close()


def shows_no_secret(project: Project) -> None:
    """No file of the project but the secret's own holds one."""
    for path in project.root.rglob("*"):
        if path.is_file() and path.suffix != ".secret":
            content = path.read_bytes()
            for secret in (PASSWORD, _KEY):
                assert secret.encode() not in content, path
                assert secret.encode("utf-16-be") not in content, path


def test_tables_are_made_and_nothing_keeps_a_secret(project: Project) -> None:
    project.write(rides=rides("rides", job=False))
    project.run("plan", "-out=made.plan")
    project.run("apply", "made.plan")
    assert project.plan(code=0)
    said = flareiac(project.root, "doctor").out
    assert "secret.database: can be had" in said
    assert "secret.files: can be had; a Spark driver needs boto3" in said
    for command in (["show"], ["state", "list"], ["plan", "-json"]):
        done = project.run(*command)
        assert PASSWORD not in done.text
        assert _KEY not in done.text
    shows_no_secret(project)


def test_a_secret_that_is_missing_is_told_and_changes_nothing(project: Project) -> None:
    project.write(rides=rides("rides", job=False))
    project.apply()
    (project.root / "database.secret").unlink()
    said = project.run("plan", "-refresh=full", code=1).err
    assert "FIX050" in said
    assert "database.secret cannot be read" in said
    (project.root / "database.secret").write_text(PASSWORD)
    project.quiet()


@pytest.mark.jvm
def test_an_application_has_the_secrets_of_its_catalogs_and_keeps_none(project: Project) -> None:
    project.write(rides=rides("rides"))
    project.run("init")
    project.land(5)
    project.apply()
    project.until(lambda: written(project) == 5, "the rides")
    shows_no_secret(project)
    driver = project.driver_pid()
    assert driver is not None
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes(driver)}
    java = [pid for pid, command in commands.items() if b"SparkSubmit" in command]
    assert len(java) == 1, commands
    for command in commands.values():
        assert PASSWORD.encode() not in command
        assert _KEY.encode() not in command
    project.quiet()

    # A JVM that crashes writes a report, with its command line and its environment.
    os.kill(java[0], signal.SIGSEGV)
    project.until(lambda: not Path(f"/proc/{java[0]}").exists(), "the end of the JVM")
    project.until(lambda: not Path(f"/proc/{driver}").exists(), "the end of the driver")
    shows_no_secret(project)


def processes(pid: int) -> list[int]:
    """The process and all that it started."""
    started = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [pid, *(below for child in started for below in processes(child))]


def written(project: Project) -> int:
    """The rows that the table has, as the newest snapshot counts them."""
    done = project.run("table", "snapshots", "table.rides", "-json")
    rows = [item for item in json.loads(done.out)["snapshots"] if item["current"]]
    return int(rows[0]["total"]) if rows else 0
