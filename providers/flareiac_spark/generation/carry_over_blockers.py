"""The reasons that a query cannot begin a raised generation where ``start_from`` says, and the lines to
paste. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from flareiac.kernel.articles import with_article
from flareiac.sdk.changes import Blocker, blocker
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.carry_over import Refusal, decide
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.instance_lines import line
from flareiac_spark.sources.source import kinds, offsets_of
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, OLDEST_SNAPSHOT
from flareiac_spark_runtime.control import ALL


def blockers(case: JobCase, start: str, again: str) -> Iterator[Blocker]:
    """The reasons that queries of this job cannot begin a raised generation with ``start_from = start``.

    ``again``: how all that is left can be read.
    """
    recorded = JobDefinition.of(case.request.recorded.attributes) if case.request.recorded else None
    if recorded is None or start == EARLIEST:
        return
    if start != CARRY_OVER:
        read = {stream.source.kind for stream in case.desired.streams.values()}
        others = without_times(read)
        if others and not (start == OLDEST_SNAPSHOT and len(others) < len(read)):
            yield begins_at_no_time(case.desired, start, others, again)
        return
    for name in case.desired.query_names:
        new = query_streams(case.desired, name)
        on_disk = case.facts.checkpoints.get(name)
        if on_disk is None or not (name == ALL or name in recorded.outputs):
            decision = decide(new, new, [])
        else:
            old = replace(query_streams(recorded, name), stateful=bool(on_disk.operators))
            decision = decide(old, new, [kind for kind, _folders in on_disk.sources])
        if isinstance(decision, Refusal):
            yield cannot_carry_over(case.desired, name, decision, again)


def without_times(names: Iterable[str]) -> list[str]:
    """The kinds of sources for which a moment is no beginning."""
    return sorted(kind for kind in names if not offsets_of(kind).begins_at_times)


def cannot_carry_over(desired: JobDefinition, name: str, refusal: Refusal, again: str = EARLIEST) -> Blocker:
    """``carry_over`` is not possible."""
    return blocker(
        codes.CANNOT_CARRY_OVER,
        why=f"{'The query' if name == ALL else f'Output {name}'}: {refusal.why}.",
        ways_out=(
            _read_again(desired, again),
            "undo the change, or give the new query a job and a checkpoint of its own",
        ),
    )


def begins_at_no_time(
    desired: JobDefinition, start: str, others: Sequence[str], again: str = EARLIEST
) -> Blocker:
    """A moment is no beginning for these kinds of sources."""
    place = desired.checkpoint
    carry = f"go on where the last generation stands, in {place}:\n  {line(place, 'start_from', CARRY_OVER)}"
    read = " and ".join(offsets_of(kind).named.format(with_article(kind)) for kind in others)
    able = " and ".join(
        kind.offsets.named.format(with_article(name))
        for name, kind in kinds()
        if kind.offsets.begins_at_times
    )
    return blocker(
        codes.START_DOES_NOT_FIT,
        why=(
            f"{place} cannot start from {start}, since the job reads {read}. Only {able} know which rows "
            "came when."
        ),
        ways_out=(carry, _read_again(desired, again)),
    )


def _read_again(desired: JobDefinition, again: str) -> str:
    place = desired.checkpoint
    return f"read again all that can be read, in {place}:\n  {line(place, 'start_from', again)}"
