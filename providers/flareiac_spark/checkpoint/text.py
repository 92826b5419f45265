"""The content of a checkpoint, as text for a person and as JSON. Pure; a None is unknown."""

from collections.abc import Iterator, Mapping, Sequence

from flareiac.kernel.data import Data
from flareiac.kernel.elapsed import elapsed_text
from flareiac.kernel.records import encode
from flareiac.sdk.run_status import RunStatus
from flareiac_spark.checkpoint.description import (
    DescribedCheckpoint,
    DescribedFolder,
    DescribedInput,
    DescribedQuery,
)
from flareiac_spark.checkpoint.sizes import size_text
from flareiac_spark.sources.findings_text import lag_text
from flareiac_spark_runtime.utc import utc_text

FORMAT_VERSION = "1.0"


def checkpoint_json(
    address: str,
    inside: DescribedCheckpoint,
    holders: Mapping[str, RunStatus],
    inputs: Sequence[DescribedInput] = (),
) -> dict[str, Data]:
    """Everything as it is, versioned."""
    return {
        "format_version": FORMAT_VERSION,
        "address": address,
        **encode(inside),
        "jobs": {job: encode(row) for job, row in holders.items()},
        **({"inputs": [encode(described) for described in inputs]} if inputs else {}),
    }


def checkpoint_text(
    address: str,
    inside: DescribedCheckpoint,
    holders: Mapping[str, RunStatus],
    inputs: Sequence[DescribedInput] = (),
    *,
    now: float,
) -> str:
    """``now`` in UTC seconds."""
    lines = [f"{address}: {inside.location}", f"generation {inside.generation} is in use"]
    lines += [_holder(name, row) for name, row in holders.items()] or ["no recorded job uses it"]
    if not inside.queries:
        lines.append("no query has run in this generation")
    for query in inside.queries:
        lines += ["", *_query(query, now)]
    for described in inputs:
        lines += ["", *_input(described)]
    lines += [
        "",
        "Generations:",
        *(f"  {line}" for each in inside.generations for line in _generation(each)),
    ]
    if not inside.generations:
        lines.append("  none on disk")
    for place in inside.left:
        lines += ["", f"{place} is an older copy that a move left: flareiac checkpoint gc removes it"]
    return "\n".join(lines) + "\n"


def _input(described_input: DescribedInput) -> Iterator[str]:
    output = f" of output {described_input.output}" if described_input.output not in ("", "all") else ""
    yield f"Input {described_input.input}{output} of {described_input.job}:"
    for each in described_input.lag:
        yield f"  topic {each.topic}, partition {each.partition}: {lag_text(each.records)} behind"
    yield from (f"  {text}" for text in described_input.problems)
    if not described_input.lag and not described_input.problems:
        yield "  nothing was read yet"


def _holder(name: str, row: RunStatus) -> str:
    lag = f'"{row.lag}"' if row.lag else "unknown"
    return f"{name} is {row.phase or 'unknown'}, lag {lag}"


def _query(query: DescribedQuery, now: float) -> Iterator[str]:
    title = f"Output {query.output}" if query.output not in ("", "all") else "Query"
    yield f"{title}: query {query.query_id}"
    if query.committed is None:
        yield "  no batch is committed yet"
    else:
        yield f"  batch {query.committed} is the last one committed"
    if query.in_flight is not None:
        yield (
            f"  batch {query.in_flight} was begun and is not committed: the next start does it again, "
            "with the same offsets"
        )
    for batch in query.last_batches:
        state = "committed" if batch.committed else "not committed"
        yield f"    batch {batch.batch:>6}  begun {_moment(batch.begun_ms, now)}  {state}"
    yield from _contents(query)


def _contents(query: DescribedQuery) -> Iterator[str]:
    for source in query.sources:
        yield f"  source {source.index} ({source.kind}): {source.text}"
    if not query.sources:
        yield "  sources: nothing was read yet"
    yield f"  watermark: {_moment(query.watermark_ms, None) if query.watermark_ms else 'none'}"
    for operator in query.operators:
        partitions = "an unknown number of" if operator.partitions is None else operator.partitions
        yield f"  state {operator.id}: {operator.name} in {partitions} partitions"
    if not query.operators:
        yield "  state: none"
    if query.pinned:
        yield "  pinned settings (a new generation takes others):"
        yield from (f"    {name} = {value}" for name, value in query.pinned.items())


def _generation(described_folder: DescribedFolder) -> Iterator[str]:
    name = (
        f"{described_folder.number} of output {described_folder.output}"
        if described_folder.output
        else f"{described_folder.number}"
    )
    if described_folder.in_use:
        words = "in use"
    elif described_folder.removable:
        words = "can be removed: flareiac checkpoint gc"
    else:
        words = {"prepared": "prepared, no query has begun in it", "unknown": "no note says what it is"}.get(
            described_folder.standing, "kept"
        )
    yield f"{name}: {words}, {size_text(described_folder.bytes)}"
    began = described_folder.began
    if began is not None:
        after = f" after batch {began.batch} of query {began.query_id}" if began.batch is not None else ""
        yield f"  began with start_from = {began.start_from}{after}"
    if described_folder.damage is not None:
        yield f"  damaged: {described_folder.damage}"


def _moment(milliseconds: int | None, now: float | None) -> str:
    if milliseconds is None:
        return "at an unknown time"
    text = f"{utc_text(milliseconds, timespec='seconds').replace('T', ' ').removesuffix('Z')} UTC"
    return text if now is None else f"{text} ({elapsed_text(max(0.0, now - milliseconds / 1000))} ago)"
