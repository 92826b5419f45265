"""Another program commits to a table while a job merges into it: Iceberg refuses what may meet, and nothing
is lost or doubled.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyiceberg.exceptions import CommitFailedException

from tests.integration.project import Project, streaming

pytestmark = pytest.mark.jvm

MERGED = streaming(
    "merged",
    {"id": "long not null", "city": "string"},
    "SELECT id, city FROM rides",
    job='restart = { backoff = "1s" }',
    output="""mode  = "merge"
    merge = { on = ["id"] }""",
)


@contextmanager
def _other_writer(project: Project, written: list[int]) -> Iterator[None]:
    """Appends rows of its own, one commit each: fewer than the conflicts that a job survives."""
    import pyarrow as pa

    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("city", pa.string())])
    done = threading.Event()

    def write() -> None:
        number = 1_000_000
        while len(written) < 6 and not done.is_set():
            number += 1
            try:
                project.table("merged").append(
                    pa.table({"id": [number], "city": ["elsewhere"]}, schema=schema)
                )
            except CommitFailedException:  # the job was first
                continue
            written.append(number)
            done.wait(0.5)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_merge_beside_another_writer_is_exact(own_project: Project) -> None:
    own_project.land(10)
    own_project.write(merged=MERGED)
    own_project.apply()
    written: list[int] = []
    with _other_writer(own_project, written):
        for _ in range(8):
            own_project.land(10)
        wanted = {row["id"] for row in own_project.landed}
        own_project.until(
            lambda: wanted <= set(own_project.ids("merged")), "every ride beside the other writer's rows"
        )
    assert written
    assert own_project.ids("merged") == sorted([*wanted, *written])
    own_project.run("restart", "job.merged")
    own_project.land(10)
    wanted = {row["id"] for row in own_project.landed}
    own_project.until(lambda: wanted <= set(own_project.ids("merged")), "the rides after a restart")
    assert own_project.ids("merged") == sorted([*wanted, *written])
