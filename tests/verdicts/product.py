"""The verdict of the product on a pair: nothing, a restart, or a word that a person must give first. Needs no
JVM.
"""

import copy
import functools
import re
import tempfile
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes, Reference, digest
from flareiac_spark.change.changes import (
    JobChange,
    MetadataOnly,
    NewGeneration,
    Restart,
    ResultsChange,
    TakenAsSame,
)
from flareiac_spark.change.diff import changes
from flareiac_spark.change.proofs import pair_digest
from flareiac_spark.change.query_text import same_texts
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sql.relations import columns_read
from flareiac_spark_runtime.control import Proof, StoredProof
from tests.spark.declared import LAKE, loaded, running
from tests.verdicts.inputs import INPUTS, STREAMS, WATERMARKED, place
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


def verdict(judged: Judged, proof: Proof | None = None) -> Verdict:
    """The verdict on a job that has committed batches, with the state that Spark keeps for the old
    version. ``proof``: the answer of Spark's plans, if they were asked.
    """
    found = _changes(judged, proof)
    if any(isinstance(change, ResultsChange | NewGeneration) for change in found):
        return Verdict.BLOCKED
    restarts = [change for change in found if isinstance(change, Restart)]
    if restarts:
        return Verdict.WARNED if any(change.warning for change in restarts) else Verdict.RESTART
    same = all(isinstance(change, MetadataOnly | TakenAsSame) for change in found)
    return Verdict.NONE if same else Verdict.RESTART


def in_words(judged: Judged, proof: Proof | None = None) -> tuple[str, ...]:
    """The changes in words, for a person who looks for the reason of a verdict."""
    return tuple(f"{type(change).__name__}: {change.text}" for change in _changes(judged, proof))


def is_one_text(judged: Judged) -> bool:
    """True where both versions are one text, token by token, so that the product asks for no proof."""
    return same_texts(*definitions(judged))


def back(judged: Judged) -> Judged:
    """The way back from the new version to the old one."""
    return replace(judged, pair=replace(judged.pair, old=judged.pair.new, new=judged.pair.old))


def _changes(judged: Judged, proof: Proof | None) -> tuple[JobChange, ...]:
    old, new = definitions(judged)
    facts = _facts(judged.pair.output, judged.operators)
    if proof is not None:
        stored = StoredProof(
            pair=pair_digest(old, new),
            at=0,
            verdict=proof.verdict,
            spark=proof.spark,
            parts=proof.parts,
            reason=proof.reason,
        )
        facts = replace(facts, proofs=(stored,))
    return changes(old, new, facts)


def definitions(judged: Judged) -> tuple[JobDefinition, JobDefinition]:
    """Both versions as the product records them, old and new."""
    pair = judged.pair
    old, new = (JobDefinition.of(_attributes(version, judged)) for version in (pair.old, pair.new))
    return old, new


def _facts(output: str, operators: tuple[str, ...]) -> JobFacts:
    if output == "batch":
        return JobFacts(state="running")
    facts = running(operators=operators)
    return JobFacts(state=facts.state, checkpoints={"out": facts.checkpoints["orders"]})


def _attributes(version: Version, judged: Judged) -> Attributes:
    output = judged.pair.output
    found = copy.deepcopy(_template())
    texts = list(version.steps.values())
    read = [name for name in INPUTS if any(re.search(rf"\b{name}\b", sql, re.IGNORECASE) for sql in texts)]
    found["inputs"] = {name: _input(name, version, judged.pair) for name in read}
    found["steps"] = {name: _step(version, name) for name in version.steps}
    found["step_order"] = list(version.steps)
    found["conf"] = {**found["conf"], **version.conf}
    found["application"]["conf"] = dict(version.engine)
    if version.engine:
        found["engine"] = Reference(f"engine.{digest(dict(version.engine))[:8]}")
    found["mode"] = "batch" if output == "batch" else "stream"
    found["outputs"]["out"] |= {
        "from": version.source,
        "mode": "overwrite" if output == "batch" else output,
        "columns": dict(judged.columns),
    }
    return found


def _input(name: str, version: Version, pair: Pair) -> Attributes:
    is_read = version.input(name)
    known = {**INPUTS[is_read], **version.gained.get(name, {})}
    read = columns_read(list(version.steps.values()), name, list(known))
    templates = _template()["inputs"]
    if is_read not in STREAMS or pair.output == "batch":
        return {
            **templates["regions"],
            "table": Reference(f"table.{is_read}"),
            "columns": {column: kind for column, kind in known.items() if column in read},
        }
    marked = pair.watermarked and is_read in WATERMARKED
    mark = {"column": WATERMARKED[is_read], "delay_ms": 600_000} if marked else None
    kept = {
        column: kind
        for column, kind in known.items()
        if column in read or (mark and column == mark["column"])
    }
    source = {**templates["orders"]["source"], "path": f"landing/{place(is_read)}"}
    return {
        **templates["orders"],
        "stream": Reference(f"stream.{is_read}"),
        "source": source,
        "columns": kept,
        "watermark": mark,
    }


def _step(version: Version, name: str) -> Attributes:
    keys = version.dedups.get(name)
    dedup = None if keys is None else {"keys": list(keys), "within_watermark": name in version.within}
    mark = {"column": "ts", "delay_ms": _milliseconds(version.marks[name])} if name in version.marks else None
    return {**_template()["steps"]["s"], "sql": version.steps[name], "dedup": dedup, "watermark": mark}


def _milliseconds(delay: str) -> int:
    """The milliseconds of a number of minutes."""
    return int(delay.removesuffix(" minutes")) * 60_000


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
