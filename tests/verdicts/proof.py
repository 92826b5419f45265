"""Asks the product's own proof about a pair, in the application that judges."""

import json
from collections.abc import Iterable, Iterator, Mapping

from flareiac_spark.control import (
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
from flareiac_spark.driver.proof import Prover
from flareiac_spark.sources.files.resolved import ResolvedFiles
from flareiac_spark.sources.resolved import SpecColumn
from tests.verdicts import pair as pairs
from tests.verdicts.inputs import COLUMNS, STREAMS, WATERMARKED


def proofs(prover: Prover, judged: Iterable[pairs.Judged]) -> Iterator[tuple[pairs.Judged, Proof]]:
    """Each pair with its proof."""
    for item in judged:
        before, after = (spec(version, item) for version in (item.pair.old, item.pair.new))
        yield (
            item,
            prover.prove(
                Pair(
                    address="job.x",
                    before=job_spec_to_json(before),
                    after=job_spec_to_json(after),
                    sources_before=_sources(item.pair.old),
                    sources_after=_sources(item.pair.new),
                )
            ),
        )


def spec(version: pairs.Version, judged: pairs.Judged) -> JobSpec:
    """One version of a pair as the application runs it."""
    streams = judged.pair.output != "batch"
    output = "overwrite" if not streams else judged.pair.output
    return JobSpec(
        address="job.x",
        mode="stream" if streams else "batch",
        inputs=tuple(_input(name, version, judged.pair, streams=streams) for name in COLUMNS),
        steps=tuple(
            Step(name=name, sql=sql, dedup=_dedup(version, name)) for name, sql in version.steps.items()
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
    )


def _sources(version: pairs.Version) -> dict[str, ProofSource]:
    return {
        name: ProofSource(identity=name, columns=_columns({**kinds, **version.gained.get(name, {})}))
        for name, kinds in COLUMNS.items()
    }


def _dedup(version: pairs.Version, name: str) -> Dedup | None:
    keys = version.dedups.get(name)
    return None if keys is None else Dedup(keys=keys, within_watermark=name in version.within)


def _input(name: str, version: pairs.Version, pair: pairs.Pair, *, streams: bool) -> Input:
    columns = _columns({**COLUMNS[name], **version.gained.get(name, {})})
    if name in STREAMS and streams:
        mark = Watermark(column=WATERMARKED[name], delay="600000 milliseconds") if pair.watermarked else None
        source = ResolvedFiles(path=f"/landing/{name}", format="json", columns=columns)
        return StreamInput(name=name, source=source, watermark=mark)
    return TableInput(name=name, identifier=("lake", "db", name), columns=columns)


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
