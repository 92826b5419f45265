"""The runner of a CI system dies while it applies; the job is run again, in another checkout."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from examples.ci.runner import github
from examples.ci.runner.machine import Machine
from examples.ci.runner.settings import BUCKETS
from examples.ci.servers import aws, prepare
from tests.examples.ci_repository import commit, merged
from tests.examples.depends import EXAMPLES
from tests.support.moto_server import aws_keys
from tests.support.postgres import postgres

pytestmark = pytest.mark.example("ci")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A lake, and a repository of which pull request 1 adds a table."""
    made = Machine(store=tmp_path / "store")
    made.store.mkdir()
    made.git("init", "-q", "--bare", "-b", "main", str(made.origin), folder=tmp_path)
    work = tmp_path / "work"
    made.git("clone", "-q", str(made.origin), str(work), folder=tmp_path)
    shutil.copytree(EXAMPLES / "ci" / "project", work, dirs_exist_ok=True)
    orders = (work / "orders.flare.hcl").rename(tmp_path / "orders.flare.hcl")
    commit(made, work, "first", "HEAD:refs/heads/main")
    orders.rename(work / "orders.flare.hcl")
    commit(made, work, "second", "HEAD:refs/pull/1/head")
    with aws_keys(), aws() as address, postgres(tmp_path / "postgres") as server:
        prepare(server)
        _empty(address)
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setenv("LAKE_CATALOG_URI", f"postgresql://127.0.0.1:{server.port}/lake")
        yield made


def _empty(address: str) -> None:
    """Moto's servers of one process share what they hold."""
    s3 = boto3.resource("s3", endpoint_url=address, region_name="us-east-1")
    for bucket in BUCKETS:
        s3.Bucket(bucket).objects.all().delete()


def test_an_apply_that_was_cut_off_goes_on_when_its_job_runs_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It dies after the table was made, and before that was recorded."""
    assert github.run_event(machine, github.pull_event(machine, 1)) == 0
    merged(machine)
    with monkeypatch.context() as patch:
        patch.setenv("FLAREIAC_KILL_AT", "apply.before-result:2")
        assert github.run_event(machine, github.main_event(machine, "push", approved=False)) == 137
    capfd.readouterr()
    again = github.run_event(machine, github.main_event(machine, "push", approved=False))
    said = capfd.readouterr().out
    assert again == 0, said
    assert "table.orders: the interrupted apply had done this (create); recorded." in said
    assert github.run_event(machine, github.pull_event(machine, 1)) == 0
    assert "No changes. Your resources match the configuration." in capfd.readouterr().out
