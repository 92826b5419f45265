"""Figures of a lake: looking at many tables that nobody changed, deciding about a large one, creating some
beside Spark's own DDL.
"""

import json
import re
import resource
import sqlite3
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figure import Better, Figure, remark
from tests.bench.programs import flareiac
from tests.bench.work import write_tables

_ROUNDS = 5
_SNAPSHOTS, _MANIFESTS, _FILES = 20_000, 50, 2_000


def observing(directory: Path, blocks: int) -> Iterator[Figure]:
    """The time that a plan spends on asking the catalog about tables that are as they were."""
    write_tables(directory, blocks)
    remark(f"creating {blocks} Iceberg tables")
    flareiac(directory, "apply", "-auto-approve").run()
    plan = flareiac(directory, "plan", "-timings")
    plan.run()
    seconds = [_timing(plan.run().output, "observation") for _ in range(_ROUNDS)]
    [catalog] = (directory / ".flareiac" / "lake").rglob("catalog.db")
    with sqlite3.connect(catalog) as database:
        [count] = database.execute("SELECT count(*) FROM iceberg_tables").fetchone()
    yield Figure(
        name=f"observing {blocks} unchanged tables",
        value=statistics.median(seconds),
        unit="s",
        bar=0.3,
        detail={"tables": count},
    )


def _timing(output: str, name: str) -> float:
    found = re.search(rf"{name} ([\d.]+) s", output)
    if found is None:
        raise RuntimeError(f"no time of {name} in:\n{output}")
    return float(found[1])


def deciding(directory: Path, _blocks: int) -> Iterator[Figure]:
    """Measuring a table with 20,000 snapshots and 100,000 data files, for all kinds of maintenance at
    once.
    """
    from flareiac_iceberg.catalogs.metadata_files import load
    from flareiac_iceberg.maintenance.contents import Table
    from flareiac_iceberg.maintenance.measure import measure
    from tests.iceberg.lake import Lake
    from tests.iceberg.maintenance import large_table
    from tests.iceberg.maintenance.maintenance import declared

    lake = Lake(directory)
    path = str(large_table.write(directory / "table", _SNAPSHOTS, _MANIFESTS, _FILES))
    opened: list[str] = []

    def read(location: str) -> bytes:
        opened.append(location)
        return Path(location.removeprefix("file://")).read_bytes()

    everything: dict[str, dict[str, str]] = {
        "compaction": {},
        "snapshot_expiry": {},
        "manifest_rewrite": {},
        "delete_rewrite": {},
        "orphan_removal": {},
    }
    for name, body in (("expiry alone", {"snapshot_expiry": {}}), ("all kinds", everything)):
        attributes = declared(lake, body)
        opened.clear()
        started = time.perf_counter()
        measure(Table(metadata=load(path), metadata_location=path, attributes=attributes), read)
        seconds = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        detail = {"files opened beside the metadata": len(opened), "megabytes": round(memory)}
        yield Figure(
            name=f"deciding about 20,000 snapshots and 100,000 files, {name}",
            value=seconds,
            unit="s",
            detail=detail,
        )


def create_tables(directory: Path, blocks: int) -> Iterator[Figure]:
    """Tables by apply, beside the same DDL in a warm PySpark session."""
    from tests.bench.feeds import FLIGHTS, Files
    from tests.bench.spark_figures import Lake, Query

    ours = directory / "ours"
    ours.mkdir()
    write_tables(ours, blocks)
    run = flareiac(ours, "apply", "-auto-approve").run()
    (directory / "theirs").mkdir()
    lake = Lake(directory / "theirs", Files(directory / "theirs" / "files", rows=1, batches=1))
    query = Query(name="ddl", sql="SELECT 1", columns=FLIGHTS)
    lake.run_program(
        "ddl_handwritten.py", "ddl", query, {"tables": blocks, "warehouse": str(directory / "theirs" / "ddl")}
    )
    theirs = json.loads((lake.root / "ddl.result.json").read_text())
    detail = {"seconds": round(run.wall, 2), "Spark's seconds": round(theirs, 2)}
    name = f"apply creates {blocks} tables, Spark's time by ours"
    yield Figure(name=f"apply creates {blocks} tables", value=1000 * run.wall / blocks, unit="ms per table")
    yield Figure(
        name=name, value=theirs / run.wall, unit="times", bar=3.0, better=Better.HIGHER, detail=detail
    )
