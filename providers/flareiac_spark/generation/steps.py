"""Describes what a raised generation means for the running queries. Pure."""

from collections.abc import Iterator, Sequence

from flareiac.sdk.changes import Blocker, Effect, Step, blocker
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.folder_state import FolderState
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.observation.checkpoint import QueryFacts
from flareiac_spark.sources.source import offsets_of
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, LATEST, OLDEST_SNAPSHOT


def steps(desired: CheckpointDefinition, before: int, facts: Sequence[QueryFacts] | None) -> list[Step]:
    """The steps of a new generation: its beginning, its losses, and the records that are read again.
    ``facts``: the queries of the generation that is left; None: not looked at.
    """
    after, start = desired.generation, desired.start_from or CARRY_OVER
    what = f"begins generation {after}"
    left = f"generation {before} stays as it is, and is not used any more"
    if not facts:
        unused = "; no query has run in it" if facts is not None else ""
        return [Step(text=f"{what}: {_where(start)}", effect=Effect.NEW_GENERATION, why=f"{left}{unused}")]
    plan_steps = [Step(text=f"{what}: {_where(start)}", effect=Effect.NEW_GENERATION, why=left)]
    for query in facts:
        plan_steps.extend(_of_query(query, start))
    return plan_steps


def blockers(desired: CheckpointDefinition, facts: Sequence[QueryFacts]) -> Iterator[Blocker]:
    """Folders in the way; ``facts`` of all generations. Whether a query can begin so, its job knows."""
    for fact in facts:
        if fact.number == desired.generation and fact.standing in (FolderState.USED, FolderState.UNKNOWN):
            yield _in_the_way(desired, fact)


def _where(start: str) -> str:
    match start:
        case "carry_over":
            return "it goes on where the last one stands"
        case "earliest":
            return "everything is read again"
        case "oldest_snapshot":
            return "what is left is read again, tables from their oldest snapshot on"
        case "latest":
            return "only what comes from now on is read"
        case _:
            return f"what came from {start} on is read"


def _of_query(query: QueryFacts, start: str) -> Iterator[Step]:
    name = _named(query)
    if start in (EARLIEST, OLDEST_SNAPSHOT):
        for source in query.sources:
            text = offsets_of(source.kind).read_again.format(source.folders_shown)
            yield Step(text=f"{name}: {text}", effect=Effect.NEW_GENERATION)
        return
    yield Step(text=f"{name}: {_goes_on(query, start)}", effect=Effect.NEW_GENERATION, why=_settled(query))
    if query.operators:
        kept = ", ".join(
            f"{operator} in {partitions or '?'} partitions" for operator, partitions in query.operators
        )
        yield Step(
            text=f"{name}: its state is left behind ({kept})",
            effect=Effect.LOSES_DATA,
            why=(
                "open windows, aggregates, joins and seen keys begin empty; only start_from = earliest "
                "builds them again"
            ),
        )


def _settled(query: QueryFacts) -> str:
    if query.in_flight is None:
        return ""
    return (
        f"batch {query.in_flight} was begun and is not committed: the marks in the tables tell whether it "
        "was written; where only some outputs have it, the old definition finishes it first"
    )


def _goes_on(query: QueryFacts, start: str) -> str:
    reached = _reached(query)
    if start == LATEST:
        return f"what comes between {reached} and the start is skipped"
    if start != CARRY_OVER:
        return (
            f"starts at {start}: rows since then are read again, and what lies between {reached} and a "
            "later time is skipped"
        )
    places = [offsets_of(source.kind).goes_on(source) for source in query.sources]
    return f"goes on after {reached}: {', '.join(places) or 'its streams'}"


def _reached(query: QueryFacts) -> str:
    batch = query.committed if query.committed is not None else query.started
    return "the start" if batch is None else f"batch {batch}"


def _in_the_way(desired: CheckpointDefinition, query_facts: QueryFacts) -> Blocker:
    folder = f"{desired.location}/{query_facts.output}/g{query_facts.number:04d}"
    if query_facts.standing == FolderState.USED:
        why = (
            f"A query has run in {folder}, and the state does not know it. Its offsets would decide what "
            "is read."
        )
    else:
        why = (
            f"{folder} exists and has no note that says what it is. Spark would begin with whatever it holds."
        )
    return blocker(
        codes.GENERATION_EXISTS,
        why=why,
        ways_out=(f"move the folder away: {folder}", f"write generation = {query_facts.number + 1}"),
    )


def _named(query: QueryFacts) -> str:
    return "the query" if query.output in ("", "all") else f"output {query.output}"
