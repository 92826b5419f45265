"""Asks the product's own proof about a pair, in the application that judges."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from flareiac_spark.definition.proof_pair import _identity, _paired, _sources
from flareiac_spark_runtime.control import (
    Dedup,
    Input,
    JobSpec,
    Merge,
    Pair,
    Proof,
    ProofSource,
    Step,
    StreamInput,
    TableInput,
    TableOutput,
    Watermark,
    job_spec_to_json,
)
from flareiac_spark_runtime.driver.proof import NewSession, Prover
from flareiac_spark_runtime.sources.files.resolved import ResolvedFiles
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.verdicts import pair as pairs
from tests.verdicts.inputs import INPUTS, STREAMS, WATERMARKED, place
from tests.verdicts.product import definitions


def proofs(prover: Prover, judged: Iterable[pairs.Judged]) -> Iterator[tuple[pairs.Judged, Proof]]:
    """Each pair with its proof."""
    for item in judged:
        yield item, prover.prove(_asked(item))


class Remembering(Prover):
    """Has the plans of each definition made once for all pairs that share it: generated pairs often share the
    old one. Within one pair nothing is remembered, since two analyses of one text must be two.
    """

    _MOST: Final = 12

    def __init__(self, new_session: NewSession, scratch: Path) -> None:
        super().__init__(new_session, scratch)
        self._known: dict[str, dict[str, Any]] = {}
        self._asked: set[str] = set()

    def prove(self, pair: Pair) -> Proof:
        self._asked = set()
        return super().prove(pair)

    def _plans(self, spec: JobSpec, sources: Mapping[str, ProofSource]) -> dict[str, Any]:
        key = repr((spec, sorted(sources.items())))
        if key not in self._known or key in self._asked:
            self._known[key] = super()._plans(spec, sources)
            while len(self._known) > self._MOST:
                del self._known[next(iter(self._known))]
        self._asked.add(key)
        return self._known[key]


def _asked(item: pairs.Judged) -> Pair:
    """A pair as the product asks Spark about it."""
    # One session analyzes both: that of the engine into which the job moves
    before, after = (
        spec(replace(version, engine=item.pair.new.engine), item)
        for version in (item.pair.old, item.pair.new)
    )
    old, new = definitions(item)
    identities = {name: _identity(each) for name, each in old.inputs.items()}
    return Pair(
        address="job.x",
        before=job_spec_to_json(before),
        after=job_spec_to_json(after),
        sources_before=_sources(old, identities),
        sources_after=_sources(new, _paired(old, new, identities)),
    )


def spec(version: pairs.Version, judged: pairs.Judged) -> JobSpec:
    """One version of a pair as the application runs it."""
    streams = judged.pair.output != "batch"
    output = "overwrite" if not streams else judged.pair.output
    return JobSpec(
        address="job.x",
        mode="stream" if streams else "batch",
        inputs=tuple(_input(name, version, judged.pair, streams=streams) for name in inputs_named(version)),
        steps=tuple(
            Step(name=name, sql=sql, dedup=_dedup(version, name), watermark=_mark(version, name))
            for name, sql in version.steps.items()
        ),
        outputs=(
            TableOutput(
                name="out",
                source=version.source,
                identifier=("lake", "db", "out"),
                mode=output,  # type: ignore[arg-type] # one of the modes of pairs
                columns=_columns(judged.columns),
                checkpoint="/nowhere",
                merge=Merge(on=(next(iter(judged.columns)),)) if output == "merge" else None,
            ),
        ),
        conf=version.settings,
    )


def inputs_named(version: pairs.Version) -> list[str]:
    """The inputs that a version names, or may name where it makes names of texts."""
    texts = " ".join(version.steps.values())
    return [name for name in INPUTS if re.search(rf"\b{name}\b", texts, re.IGNORECASE)]


def _dedup(version: pairs.Version, name: str) -> Dedup | None:
    keys = version.dedups.get(name)
    return None if keys is None else Dedup(keys=keys, within_watermark=name in version.within)


def _mark(version: pairs.Version, name: str) -> Watermark | None:
    return Watermark(column="ts", delay=version.marks[name]) if name in version.marks else None


def _input(name: str, version: pairs.Version, pair: pairs.Pair, *, streams: bool) -> Input:
    read = version.input(name)
    columns = _columns({**INPUTS[read], **version.gained.get(name, {})})
    if read in STREAMS and streams:
        marked = pair.watermarked and read in WATERMARKED
        mark = Watermark(column=WATERMARKED[read], delay="600000 milliseconds") if marked else None
        source = ResolvedFiles(path=f"/landing/{place(read)}", format="json", columns=columns)
        return StreamInput(name=name, source=source, watermark=mark)
    return TableInput(name=name, identifier=("lake", "db", read), columns=columns)


def _columns(columns: Mapping[str, str]) -> tuple[SpecColumn, ...]:
    return tuple(SpecColumn(name=name, type=_iceberg(kind)) for name, kind in columns.items())


def _iceberg(kind: str) -> str:
    return {"bigint": "long", "tinyint": "int", "smallint": "int"}.get(kind, kind)


def is_false(item: pairs.Judged, proof: Proof) -> bool:
    """True where a proof calls equal what Spark gives other rows for, or keeps a state that rows or Spark itself
    refute.
    """
    if proof.verdict == "equal" and item.judgement is pairs.Judgement.DIFFERENT:
        return True
    return proof.verdict in ("equal", "state") and item.stop in (pairs.Stop.STATE_MIXED, pairs.Stop.REFUSED)


def shown(item: pairs.Judged, proof: Proof) -> str:
    """A line for a person who looks for the reason."""
    return json.dumps([item.pair.id, item.pair.edit, proof.verdict, proof.parts, proof.reason])
