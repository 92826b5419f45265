"""Texts are proven where apply has no JVM of its own and meets the application in a bucket alone."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from flareiac.sdk.changes import Effect
from flareiac_spark_runtime.storage import Place, place_at
from tests.integration.project import COUNTS, Project
from tests.integration.test_external_driver import EXTERNAL, Supervisor
from tests.integration.test_proofs import assert_refuted
from tests.integration.test_without_java import Bare, bare
from tests.support.command_line import Ended, flareiac
from tests.support.object_storage import buckets

pytestmark = pytest.mark.jvm
__all__ = ["bare"]

CONTROL = "s3://lake/proofs/control"
FILTERED = COUNTS.replace("FROM rides", "FROM rides WHERE city IN ('Rome', 'Oslo') AND id >= 0")


class Elsewhere(Project):
    """The command line and the driver share a bucket."""

    @property
    def control(self) -> Place:  # type: ignore[override]  # what both kinds can be asked
        return place_at(CONTROL)

    def told(self) -> str:
        files = (self.control / name for name in ("status.json", "desired.json"))
        return "\n".join(f"--- {item}\n{item.read_text()[-3000:]}" for item in files if item.exists())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Elsewhere, Supervisor]]:
    """A project that counts what landed, in an application that another host may run."""
    root = tmp_path_factory.mktemp("elsewhere")
    for folder in ("project", "host"):
        (root / folder).mkdir()
    project = Elsewhere(root / "project")
    with buckets("lake"):
        project.write(lake=EXTERNAL.replace('"runtime"', f'"{CONTROL}"'), counts=FILTERED)
        project.land(30)
        project.run("init")
        supervisor = Supervisor(project, root / "host")
        with supervisor.running():
            project.apply()
            expect_counts(project)
            yield project, supervisor


def test_a_text_is_proven_and_refuted_through_the_bucket(
    served: tuple[Elsewhere, Supervisor], bare: Bare
) -> None:
    """The command line has no Java."""
    project, _supervisor = served
    run = project.run_id("job.counts")
    project.edit("counts", ("FROM rides WHERE", "FROM rides AS r WHERE"))
    assert f'step "result": text [{Effect.TAKEN}]' in project.plan(2)
    assert "proves that it is the same query" in project.apply(**bare).out
    assert "No changes." in project.plan(0)
    turned = ("city IN ('Rome', 'Oslo') AND id >= 0", "id >= 0 AND city IN ('Rome', 'Oslo')")
    with project.edited("counts", turned):
        assert_refuted(project.apply(code=4, **bare).out)
        assert_refuted(project.plan(4))
    assert project.run_id("job.counts") == run


def test_an_apply_that_dies_amid_a_proof_leaves_all_as_it_was(served: tuple[Elsewhere, Supervisor]) -> None:
    project, _supervisor = served
    run, planned = project.run_id("job.counts"), project.plan(0)
    for point in ("analysis.held", "analysis.done"):
        with project.edited("counts", ("SELECT city", "SELECT rides.city"), ("AS r WHERE", "WHERE")):
            project.killed(point, "apply", "-auto-approve")
        assert project.plan(0) == planned
        assert project.run_id("job.counts") == run


def test_a_driver_that_dies_amid_a_proof_and_two_applies_at_once(
    served: tuple[Elsewhere, Supervisor],
) -> None:
    """Nothing comes of the first apply; of two at once one changes the text, and the other has nothing to do
    or finds the state locked.
    """
    project, supervisor = served
    project.edit("counts", ("FROM rides AS r", "FROM rides AS s"))
    with ThreadPoolExecutor() as threads:
        first = threads.submit(apply_of, project)
        project.until(lambda: first.done() or is_asked(project), "a question")
        supervisor.kill()
        assert (first.result().code, "FIK803" in first.result().err) == (1, True), first.result().text
        assert "its supervisor has to start" in " ".join(first.result().err.replace("│", " ").split())
        both: list[Future[Ended]] = [threads.submit(apply_of, project) for _ in range(2)]
        ended = [item.result() for item in both]
    assert 0 in {item.code for item in ended}, ended
    assert all(item.code == 0 or "FIS010" in item.err for item in ended), ended
    project.land(5)
    expect_counts(project)
    assert "No changes." in project.plan(0)


def apply_of(project: Project) -> Ended:
    return flareiac(project.root, "apply", "-auto-approve")


def is_asked(project: Project) -> bool:
    """True where a question waits for the application."""
    operations = project.control / "operations"
    return operations.exists() and any(operations.iterdir())


def expect_counts(project: Project) -> None:
    wanted = {city: len([row for row in project.landed if row["city"] == city]) for city in ("Rome", "Oslo")}
    project.until(
        lambda: {row["city"]: row["rides"] for row in project.rows("counts")} == wanted,
        f"the counts {wanted}",
    )
