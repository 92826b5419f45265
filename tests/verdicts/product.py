"""What does the product say of a pair: nothing, a restart, or a word that a person must give first? Needs no
JVM.
"""

import copy
import functools
import re
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes, Reference
from flareiac_spark.change.changes import Mixed, Noted, Refused, Restarted, Reworded
from flareiac_spark.change.diff import changes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sql.relations import columns_read
from tests.spark.declared import LAKE, loaded, running
from tests.verdicts.inputs import COLUMNS, STREAMS, WATERMARKED
from tests.verdicts.pair import Judged, Pair, Version

_JOB: Final = """
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  input "regions" { table = table.regions }
  step "s" { sql = "SELECT orders.region FROM orders JOIN regions ON orders.region = regions.region" }
  output "out" { table = table.regions }
}
"""


class Verdict(StrEnum):
    NONE = "none"
    """The same text, or one that is taken to mean the same."""
    RESTART = "restart"
    """Without a warning."""
    WARNED = "restart with a warning"
    BLOCKED = "blocked"


def verdict(judged: Judged) -> Verdict:
    """Of a job that has committed batches, with the state that Spark keeps for the old version."""
    pair = judged.pair
    old, new = (_attributes(version, judged) for version in (pair.old, pair.new))
    found = changes(JobDefinition.of(old), JobDefinition.of(new), _facts(pair.output, judged.operators))
    if any(isinstance(change, Mixed | Refused) for change in found):
        return Verdict.BLOCKED
    restarts = [change for change in found if isinstance(change, Restarted)]
    if restarts:
        return Verdict.WARNED if any(change.warning for change in restarts) else Verdict.RESTART
    same = all(isinstance(change, Noted | Reworded) for change in found)
    return Verdict.NONE if same else Verdict.RESTART


def told(judged: Judged) -> tuple[str, ...]:
    """The changes in words, for a person who looks for the reason of a verdict."""
    pair = judged.pair
    old, new = (_attributes(version, judged) for version in (pair.old, pair.new))
    return tuple(
        f"{type(change).__name__}: {change.text}"
        for change in changes(
            JobDefinition.of(old), JobDefinition.of(new), _facts(pair.output, judged.operators)
        )
    )


def _facts(output: str, operators: tuple[str, ...]) -> JobFacts:
    if output == "batch":
        return JobFacts(state="running")
    facts = running(operators=operators)
    return JobFacts(state=facts.state, checkpoints={"out": facts.checkpoints["orders"]})


def _attributes(version: Version, judged: Judged) -> Attributes:
    output = judged.pair.output
    found = copy.deepcopy(_template())
    texts = list(version.steps.values())
    read = [name for name in COLUMNS if any(re.search(rf"\b{name}\b", sql, re.IGNORECASE) for sql in texts)]
    found["inputs"] = {name: _input(name, version, judged.pair) for name in read}
    found["steps"] = {name: _step(version, name) for name in version.steps}
    found["step_order"] = list(version.steps)
    found["mode"] = "batch" if output == "batch" else "stream"
    found["outputs"]["out"] |= {
        "from": version.source,
        "mode": "overwrite" if output == "batch" else output,
        "columns": dict(judged.columns),
    }
    return found


def _input(name: str, version: Version, pair: Pair) -> Attributes:
    known = {**COLUMNS[name], **version.gained.get(name, {})}
    read = columns_read(list(version.steps.values()), name, list(known))
    templates = _template()["inputs"]
    if name not in STREAMS or pair.output == "batch":
        return {
            **templates["regions"],
            "table": Reference(f"table.{name}"),
            "columns": {column: kind for column, kind in known.items() if column in read},
        }
    mark = {"column": WATERMARKED[name], "delay_ms": 600_000} if pair.watermarked else None
    kept = {
        column: kind
        for column, kind in known.items()
        if column in read or (mark and column == mark["column"])
    }
    source = {**templates["orders"]["source"], "path": f"landing/{name}"}
    return {
        **templates["orders"],
        "stream": Reference(f"stream.{name}"),
        "source": source,
        "columns": kept,
        "watermark": mark,
    }


def _step(version: Version, name: str) -> Attributes:
    keys = version.dedups.get(name)
    dedup = None if keys is None else {"keys": list(keys), "within_watermark": name in version.within}
    return {**_template()["steps"]["s"], "sql": version.steps[name], "dedup": dedup}


@functools.cache
def _template() -> Attributes:
    """A job as the product's own configuration makes it. Its stream is read by the older rules, under which
    columns that no step reads do not count: what is tried here is the SQL.
    """
    files = LAKE.replace('format = "json"', 'format = "json"\n    reading = 1')
    with tempfile.TemporaryDirectory() as folder:
        project = loaded(files + _JOB, Path(folder) / "project")
    assert not project.diagnostics, project.diagnostics
    return project.attributes()
