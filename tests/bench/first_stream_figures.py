"""The time from Enter to the first committed batch of a first stream, beside a hand-tuned program, and the
time of ``status`` in a project whose jobs run.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from flareiac.sdk.versions import ICEBERG_RUNTIME
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog
from flareiac_spark.runtime.launch import prepare
from tests.bench.feeds import Files
from tests.bench.figure import Better, Figure, remark
from tests.bench.programs import flareiac, in_turns, median_processor, median_wall, spread
from tests.bench.spark_figures import QUERIES, Lake

_ROUNDS: Final = 5
_QUERY: Final = QUERIES[0]
PLACES: Final = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}

engine "local" {
  type             = "local"
  master           = "local[2]"
  runtime_location = "runtime"
  driver           = { memory = "1g" }
  conf             = { "spark.sql.shuffle.partitions" = "2" }
}
"""


def _job(name: str, files: Path) -> str:
    return f"""
stream "{name}" {{
  files {{
    path                  = "{files}"
    format                = "json"
    max_files_per_trigger = 1
  }}
  column "ts"      {{ type = "timestamptz" }}
  column "carrier" {{ type = "string" }}
  column "delay"   {{ type = "long" }}
}}

table "{name}" {{
  namespace = "bench"
  column "ts"      {{ type = "timestamptz" }}
  column "carrier" {{ type = "string" }}
  column "delay"   {{ type = "long" }}
}}

checkpoint "{name}" {{ location = "checkpoints/{name}" }}

job "{name}" {{
  engine     = engine.local
  checkpoint = checkpoint.{name}
  trigger    = {{ processing_time = "1s" }}
  input "raw" {{ stream = stream.{name} }}
  step "result" {{ sql = "{_QUERY.sql}" }}
  output "out" {{ table = table.{name} }}
}}
"""


def first_stream(directory: Path, rows: int) -> Iterator[Figure]:
    """``rows`` per file; five first streams each, in turns, after one that warms the caches up."""
    files = Files(directory / "files", rows, 3)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(_ROUNDS + 1):
        remark(f"first stream: {number} of {_ROUNDS}")
        mine, other = (
            _flareiac(directory / f"ours_{number}", files),
            _by_hand(directory / f"hand_{number}", files),
        )
        if number:
            ours.append(mine)
            theirs.append(other)
    yield Figure(
        name="first stream, Enter to first committed batch, by hand-tuned",
        value=statistics.median(ours) / statistics.median(theirs),
        unit="times",
        bar=1.2,
        better=Better.LOWER,
        detail={
            "seconds": round(statistics.median(ours), 2),
            "hand-tuned seconds": round(statistics.median(theirs), 2),
            "by round": [round(mine / other, 3) for mine, other in zip(ours, theirs, strict=True)],
        },
    )


def status(directory: Path, jobs: int) -> Iterator[Figure]:
    """The time of ``status`` in a project with so many jobs that run, each with its table and its
    checkpoint.
    """
    files = Files(directory / "files", 10, 3)
    blocks = "".join(_job(f"q{number}", files.folder) for number in range(jobs))
    with _project(directory / "project", blocks) as project:
        flareiac(project, "apply", "-auto-approve").run()
        for number in range(jobs):
            _first_commit(project / "checkpoints" / f"q{number}")
        command = flareiac(project, "status")
        command.run()
        [runs] = in_turns(2 * _ROUNDS, [command])
    detail = {"seconds": round(median_wall(runs), 3), **spread(runs)}
    yield Figure(
        name=f"status of {3 * jobs + 3} resources, {jobs} running",
        value=median_processor(runs),
        unit="s of CPU",
        bar=0.4,
        detail=detail,
    )


def _flareiac(place: Path, files: Files) -> float:
    with _project(place, _job("first", files.folder)) as project:
        began = time.time()
        flareiac(project, "apply", "-auto-approve").run()
        return _first_commit(project / "checkpoints" / "first") - began


@contextmanager
def _project(place: Path, blocks: str) -> Iterator[Path]:
    """A project whose engine is stopped at the end."""
    place.mkdir(parents=True)
    (place / "main.flare.hcl").write_text(PLACES + blocks)
    flareiac(place, "init").run()
    try:
        yield place
    finally:
        flareiac(place, "stop", "engine.local").run()


def _by_hand(place: Path, files: Files) -> float:
    """A program with the jars on its class path and the class-data archive, as a project has them."""
    place.mkdir()
    (place / "main.flare.hcl").write_text(PLACES)
    flareiac(place, "init").run()
    runtime, lake = prepare(place, (ICEBERG_RUNTIME, *SqliteCatalog.spark_packages)), Lake(place, files)
    lake.launch = replace(lake.launch, jars=runtime.jars, java_options=runtime.java_options)
    began = time.time()
    lake.run_program("first_stream_handwritten.py", "first", _QUERY)
    return _first_commit(lake.checkpoint("first")) - began


def _first_commit(checkpoint: Path) -> float:
    """The time at which the first batch was committed, in seconds since 1970."""
    deadline = time.monotonic() + 120
    while not (first := next(checkpoint.glob("**/commits/0"), None)):
        if time.monotonic() > deadline:
            raise RuntimeError(f"no batch was committed in {checkpoint}")
        time.sleep(0.05)
    return first.stat().st_mtime
