"""Maintenance beside jobs: what they still need stays, because their holds say so; without those a batch is
doubled and a reader dies.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.maintenance import Hold
from flareiac.sdk.table_tasks import Performed
from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg_runtime.kinds.manifest_rewrite.perform import RewriteManifests
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import RemoveOrphans
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import ExpireSnapshots
from flareiac_spark.checkpoint_files.query_positions import read_positions
from flareiac_spark.generation.snapshot_holds import holds
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.checkpoint_log import batches
from tests.spark.declared import LAKE, loaded
from tests.spark.maintained import Kept

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

pytestmark = pytest.mark.jvm

COLUMNS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]
COMPACT = RewriteDataFiles(strategy="binpack", options={"min-input-files": "2"})
EVERYTHING = 4_102_444_800_000
"""A time (ms) that is later than every snapshot."""
STREAM = """
stream "flights" {
  table { table = table.flights }
}
table "flights" {
  namespace = "demo"
  column "delay" { type = "long" }
}
"""
WRITER = """
job "x" {
  checkpoint = checkpoint.x
  EACH
  input "orders" { stream = stream.orders }
  step "clean" { sql = "SELECT id FROM orders" }
  output "orders" { table = table.orders }
}
"""
READER = """
job "x" {
  checkpoint = checkpoint.x
  input "flights" { stream = stream.flights }
  step "clean" { sql = "SELECT delay AS id FROM flights" }
  output "orders" { table = table.orders }
}
"""


def maintain(lake: Lake, name: str, uuid: str, work: object, key: str) -> Performed:
    return Kept(lake=lake, name=name, uuid=uuid).maintain(work, key)


def floor(lake: Lake, name: str, found: Sequence[Hold]) -> int:
    """The time (ms) from which on snapshots must not expire."""
    times: dict[int, int] = {
        item.snapshot_id: item.timestamp_ms for item in lake.catalog.load_table(("demo", name)).snapshots()
    }
    bounds = [times[snapshot] for hold in found for snapshot in hold.snapshots]
    bounds += [0 if hold.unknown else hold.since_ms or EVERYTHING for hold in found]
    return min([EVERYTHING, *bounds])


def job_holds(root: Path, hcl: str, query: str, folder: Path) -> tuple[Hold, ...]:
    project, stand = loaded(LAKE + hcl, root), read_positions(folder)
    assert stand is not None
    facts = JobFacts(stands={query: stand})
    return holds("job.x", project.attributes(), project.references(), facts)


def flights(lake: Lake, folder: str, *numbers: int) -> None:
    for number in numbers:
        lake.drop_file(
            folder,
            f"{folder}{number:03d}",
            [{"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": number}],
        )


def stream(lake: Lake, name: str, uuid: str, **more: Any) -> dict[str, Any]:
    """One file in each batch."""
    return {
        "address": f"job.{name}",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 100},
        "inputs": [lake.flights_input(name, source={"max_files_per_trigger": 1})],
        "steps": [{"name": "clean", "sql": "SELECT * FROM raw"}],
        "outputs": [lake.output(name, "clean", uuid, COLUMNS, **more.pop("output", {}))],
        **more,
    }


def delays(lake: Lake, name: str) -> list[int]:
    return sorted(item["delay"] for item in lake.rows(name))


def run_until(lake: Lake, spec: dict[str, Any], name: str, reached: Callable[[list[int]], bool]) -> None:
    """Runs a job until its table is as wanted, and stops it."""
    address = spec["address"]
    lake.put(spec)
    lake.start()
    lake.wait(lambda _status: reached(delays(lake, name)))
    lake.until_phase(address, "idle")
    lake.put(spec, state="stopped")
    lake.until_phase(address, "stopped")


@pytest.mark.parametrize("each", [False, True], ids=["iceberg's sink", "micro-batches"])
@pytest.mark.parametrize("held", [True, False], ids=["held", "not held"])
def test_a_batch_in_flight_is_written_once_after_compaction_and_expiry(
    lake: Lake, tmp_path: Path, held: bool, each: bool
) -> None:
    name = f"w{int(held)}{int(each)}"
    uuid = lake.table(name, *COLUMNS)
    spec = stream(lake, name, uuid, foreach_batch=each)
    folder = Path(spec["outputs"][0]["checkpoint"])
    flights(lake, name, 0, 1, 2)
    run_until(lake, spec, name, lambda rows: rows == [0, 1, 2])
    last = batches(folder, "commits")[-1]
    for file in (f"{last}", f".{last}.crc"):  # as if the driver had died before it was written
        (folder / "commits" / file).unlink(missing_ok=True)

    found = job_holds(
        tmp_path,
        WRITER.replace("EACH", "foreach_batch = true" if each else ""),
        "all" if each else "orders",
        folder,
    )
    assert [hold.subject for hold in found] == ["table.orders"]
    maintain(lake, name, uuid, COMPACT, "k1")
    older_than = floor(lake, name, found) if held else EVERYTHING
    maintain(lake, name, uuid, ExpireSnapshots(older_than_ms=older_than, retain_last=1), "k2")

    flights(lake, name, 3)
    run_until(lake, spec, name, lambda rows: 3 in rows)
    assert delays(lake, name) == ([0, 1, 2, 3] if held else [0, 1, 2, 2, 3])


@pytest.mark.parametrize("held", [True, False], ids=["held", "not held"])
def test_a_stopped_reader_goes_on_after_an_expiry(lake: Lake, tmp_path: Path, held: bool) -> None:
    import pyarrow as pa

    name, origin = f"r{int(held)}", f"from{int(held)}"
    uuid, source_uuid = lake.table(name, *COLUMNS), lake.table(origin, *COLUMNS)

    def append(number: int) -> None:
        table = lake.catalog.load_table(("demo", origin))
        table.append(pa.Table.from_pylist([{"delay": number}], schema=table.schema().as_arrow()))

    columns = [{"name": column, "type": kind} for column, kind in COLUMNS]
    source = {
        "kind": "table",
        "identifier": ["lake", "demo", origin],
        "uuid": source_uuid,
        "start_from": "earliest",
        "columns": columns,
    }
    spec = stream(lake, name, uuid, inputs=[{"name": "raw", "kind": "stream", "source": source}])
    for number in (0, 1):
        append(number)
    run_until(lake, spec, name, lambda rows: rows == [0, 1])
    for number in (2, 3):
        append(number)

    found = job_holds(tmp_path, STREAM + READER, "orders", Path(spec["outputs"][0]["checkpoint"]))
    assert [hold.subject for hold in found] == ["table.flights"]
    older_than = floor(lake, origin, found) if held else EVERYTHING
    done = maintain(lake, origin, source_uuid, ExpireSnapshots(older_than_ms=older_than, retain_last=1), "k1")
    assert done.result["expired_snapshots"] == (1 if held else 3)

    if held:
        run_until(lake, spec, name, lambda rows: rows == [0, 1, 2, 3])
    else:
        lake.put(spec)
        failed = lake.until_phase(spec["address"], "failed")
        assert "Cannot load current offset at snapshot" in failed.last_error.message


def test_streams_that_append_and_merge_stay_exact_beside_maintenance(own_lake: Lake) -> None:
    lake = own_lake
    appended, merged = lake.table("numbers", *COLUMNS), lake.table("latest", *COLUMNS)
    for table in ("numbers", "latest"):
        with lake.catalog.load_table(("demo", table)).transaction() as change:
            change.set_properties({"commit.retry.num-retries": "20"})
    merge = {"mode": "merge", "merge": {"on": ["carrier"], "latest_by": "delay"}}
    first, second = stream(lake, "numbers", appended), stream(lake, "latest", merged, output=merge)
    lake.put(first, second)
    lake.start()
    landed = 0
    for turn in range(3):
        for _ in range(6):
            flights(lake, "numbers", landed)
            flights(lake, "latest", landed)
            landed += 1
        lake.until_rows("numbers", landed - 2)
        for table, uuid in (("numbers", appended), ("latest", merged)):
            maintain(lake, table, uuid, COMPACT, f"c{turn}")
            maintain(lake, table, uuid, RewriteManifests(), f"m{turn}")
            stand = read_positions(Path(lake.root / "checkpoints" / table / "g0001"))
            older_than = min(int(time.time() * 1000), (stand.begun_ms if stand else None) or EVERYTHING)
            maintain(lake, table, uuid, ExpireSnapshots(older_than_ms=older_than, retain_last=1), f"e{turn}")
            maintain(
                lake,
                table,
                uuid,
                RemoveOrphans(older_than_ms=int(time.time() * 1000) - 25 * 3_600_000),
                f"o{turn}",
            )
    lake.until_rows("numbers", landed)
    lake.wait(lambda _status: delays(lake, "latest") == [landed - 1])
    for spec in (first, second):
        lake.until_phase(spec["address"], "idle")
    assert delays(lake, "numbers") == list(range(landed))
    assert all(job.failures == 0 for job in lake.control.read_status().jobs.values())
