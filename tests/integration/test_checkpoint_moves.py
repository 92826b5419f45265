"""Jobs go on exactly where they stood after their checkpoints have moved, to a bucket and back, whatever was
killed on the way.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.integration.project import COUNTS, LAKE, Project, rides
from tests.support.object_storage import buckets

pytestmark = pytest.mark.jvm

ROCKSDB = '  state_store = { provider = "rocksdb", changelog = true, partitions = 2 }\n'
BUCKET, DISK = "s3://moves/app/counts", "disk/counts"
FIRST, OTHER_DISK = "s3://moves/app/first", "disk/first"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, java_home: object) -> Iterator[Project]:
    with buckets("moves"):
        made = Project(tmp_path_factory.mktemp("project"))
        counts = COUNTS.replace(
            'checkpoint "counts" {', f'checkpoint "counts" {{\n  location = "{DISK}"\n{ROCKSDB}'
        )
        # The jars for S3 are there from the start, so that no move restarts the application
        first = rides("first").replace(
            'checkpoint "first" {}', f'checkpoint "first" {{\n  location = "{FIRST}"\n}}'
        )
        made.write(lake=LAKE, first=first, counts=counts)
        (made.root / "landing" / "rides").mkdir(parents=True)
        made.run("init")
        made.land(10)
        made.apply()
        try:
            yield made
        finally:
            made.close()


def counted(project: Project) -> None:
    wanted = Counter(ride["city"] for ride in project.landed)

    def is_there() -> bool:
        return {row["city"]: row["rides"] for row in project.rows("counts")} == wanted

    project.until(is_there, f"the counts {wanted}")


def moved(project: Project, block: str, old: str, new: str) -> None:
    project.edit(block, (f'location = "{old}"', f'location = "{new}"'))


def test_a_stateful_job_goes_to_a_bucket_after_a_kill_in_the_middle(project: Project) -> None:
    project.land(5)
    counted(project)
    runs_on = project.run_id("job.first")
    moved(project, "counts", DISK, BUCKET)
    text = " ".join(project.plan(2).split())
    assert f"from {DISK} to {BUCKET}, and compares each with its copy [moves files]" in text
    assert "job.counts stops before this and starts after it: its checkpoint moves" in text
    project.killed("checkpoint-move.file:3", "apply", "-auto-approve")
    project.land(5)
    assert project.status()["job.counts"]["phase"] == "stopped"
    project.apply()
    counted(project)
    assert project.run_id("job.first") == runs_on, "nothing else stops"
    assert BUCKET in project.run("checkpoint", "show", "checkpoint.counts").out
    project.quiet()


def test_it_starts_nowhere_between_the_move_and_its_record(project: Project) -> None:
    moved(project, "counts", BUCKET, DISK)
    project.killed("checkpoint-move.arrived", "apply", "-auto-approve")
    # Its application still knows it under the old place
    refused = project.run("start", "job.counts", code=1)
    assert "was moved to" in refused.text.replace("\n", " ")
    project.land(5)
    project.apply()
    counted(project)
    project.quiet()


def test_it_goes_on_after_its_driver_was_killed_too(project: Project) -> None:
    project.run("checkpoint", "gc", "checkpoint.counts")
    project.kill_driver()
    project.land(5)
    moved(project, "counts", DISK, BUCKET)
    moved(project, "first", FIRST, OTHER_DISK)
    # Four results: both jobs have stopped, and both checkpoints are recorded where they are now
    project.killed("apply.result:4", "apply", "-auto-approve")
    assert "was not applied since the move" in project.run("checkpoint", "gc").out
    project.apply()
    counted(project)
    project.expect_rides("first")
    project.land(5)
    counted(project)
    project.expect_rides("first")
    project.quiet()


def test_a_stopped_job_moves_and_is_not_started(project: Project) -> None:
    project.edit("first", ("  restart    =", "  stopped    = true\n  restart    ="))
    project.apply()
    moved(project, "first", OTHER_DISK, "disk/again")
    project.apply()
    assert project.status()["job.first"]["phase"] == "stopped"
    project.land(5)
    project.edit("first", ("  stopped    = true\n", ""))
    project.apply()
    project.expect_rides("first")


def test_a_job_that_was_dropped_comes_back_to_the_place_that_its_checkpoint_moved_to(
    project: Project,
) -> None:
    text = (project.root / "first.flare.hcl").read_text()
    kept, _, job = text.partition('job "first"')
    project.write(first=kept.replace("disk/again", "disk/last"))
    project.apply()
    project.run("checkpoint", "gc", "checkpoint.first")
    project.land(5)
    project.write(first=kept.replace("disk/again", "disk/last") + 'job "first"' + job)
    project.apply()
    project.expect_rides("first")
    project.quiet()
