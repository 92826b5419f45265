"""The time of ``plan -prove`` of many changed jobs, beside a bare start of the same JVM.

Each round writes every text again with another literal, so that no answer is kept from the round before.
"""

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from flareiac.sdk.versions import ICEBERG_RUNTIME
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog
from flareiac_spark.runtime.launch import prepare
from tests.bench.feeds import Files
from tests.bench.figure import Better, Figure, remark
from tests.bench.first_stream_figures import PLACES
from tests.bench.programs import Command, flareiac
from tests.bench.spark_figures import QUERIES, Lake

_ROUNDS: Final = 5


def _job(name: str, files: Path, number: int) -> str:
    """A job that counts by key over state; ``number`` is a literal that decides nothing."""
    return f"""
stream "{name}" {{
  files {{
    path   = "{files}"
    format = "json"
  }}
  column "ts"      {{ type = "timestamptz" }}
  column "carrier" {{ type = "string" }}
  column "delay"   {{ type = "long" }}
}}

table "{name}" {{
  namespace = "bench"
  column "carrier" {{ type = "string" }}
  column "n"       {{ type = "long" }}
}}

checkpoint "{name}" {{ location = "checkpoints/{name}" }}

job "{name}" {{
  engine     = engine.local
  checkpoint = checkpoint.{name}
  trigger    = {{ available_now = true }}
  input "raw" {{ stream = stream.{name} }}
  step "late" {{ sql = "SELECT carrier FROM raw WHERE delay > 10 AND {number} = {number}" }}
  step "result" {{ sql = "SELECT carrier, count(*) AS n FROM late GROUP BY carrier" }}
  output "out" {{
    table = table.{name}
    mode  = "complete"
  }}
}}
"""


def prove(directory: Path, jobs: int) -> Iterator[Figure]:
    """So many jobs with state, whose text changes in each round; five rounds each, in turns."""
    files = Files(directory / "files", 10, 3)
    project = directory / "project"
    project.mkdir()

    def write(number: int) -> None:
        blocks = (_job(f"q{job}", files.folder, number) for job in range(jobs))
        (project / "main.flare.hcl").write_text(PLACES + "".join(blocks))

    write(1)
    flareiac(project, "init").run()
    flareiac(project, "apply", "-auto-approve").run()
    flareiac(project, "stop", "engine.local").run()
    bare = _bare(directory / "bare", files)
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(_ROUNDS + 1):
        remark(f"prove: round {number} of {_ROUNDS}")
        write(2 + number)
        run, start = flareiac(project, "plan", "-prove").run(), bare.run()
        if number:
            ours.append(run.wall)
            theirs.append(start.wall)
    yield Figure(
        name=f"plan -prove of {jobs} changed jobs, by a bare start of the JVM",
        value=statistics.median(ours) / statistics.median(theirs),
        unit="times",
        bar=2,
        better=Better.LOWER,
        detail={
            "seconds": round(statistics.median(ours), 2),
            "bare seconds": round(statistics.median(theirs), 2),
            "by round": [round(mine / other, 3) for mine, other in zip(ours, theirs, strict=True)],
        },
    )


def _bare(place: Path, files: Files) -> Command:
    """A program with the jars and the class-data archive of a project, which starts an empty session."""
    place.mkdir()
    (place / "main.flare.hcl").write_text(PLACES)
    flareiac(place, "init").run()
    runtime, lake = prepare(place, (ICEBERG_RUNTIME, *SqliteCatalog.spark_packages)), Lake(place, files)
    lake.launch = replace(lake.launch, jars=runtime.jars, java_options=runtime.java_options)
    return lake.program("bare_session.py", "bare", QUERIES[0])
