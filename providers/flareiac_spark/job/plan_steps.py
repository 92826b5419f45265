"""The steps of a plan of a job: what starts, stops and goes on, and why. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from flareiac.kernel.elapsed import elapsed_text
from flareiac.sdk.changes import (
    Effect,
    Reaction,
    Relation,
    Step,
)
from flareiac.sdk.requests import PlanRequest
from flareiac_spark.change.changes import (
    JobChange,
    Live,
    MetadataOnly,
    NewGeneration,
    NoEffect,
    Restart,
    ResultsChange,
    TakenAsSame,
    rules_of,
)
from flareiac_spark.change.diff import SPARK, changes, quarantined
from flareiac_spark.change.left_definition import left_definition
from flareiac_spark.change.restart_reasons import restart_reason
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation import broker_positions, readable
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job.job_definitions import begins_generation
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.control.rhythm import rhythm_of

_STOPS: Final = "stops after its current batch"
_BESIDE: Final = "stops before the change and starts after it"
_STARTS: Final = "starts "
_AFTER: Final = f"{_STARTS}after the change"
"""The same of a job that stands."""


def start_step(case: JobCase) -> Step:
    if not case.desired.starts_by_itself:
        return Step(
            text="is declared and not started",
            effect=Effect.METADATA,
            why="stopped" if case.desired.stopped else 'run = "manual"',
        )
    if case.desired.mode == "batch":
        repeats = any(output.mode == "append" for output in case.desired.outputs.values())
        why = "an append that runs again adds its rows again" if repeats else "it overwrites what is there"
        return Step(text="runs once", effect=Effect.STARTS, why=why)
    if case.facts.started:
        return Step(
            text="starts where its checkpoint stands",
            effect=Effect.STARTS,
            why="; ".join([*before(case), *broker_positions.start_notes(case.desired, case.facts)]),
        )
    words = "" if begins_generation(case) else readable.start_words(case.desired, case.request.references)
    text = f"starts {words}" if words else "starts from the beginning of its streams"
    return Step(text=text, effect=Effect.STARTS, why="its checkpoint is empty")


def before(case: JobCase) -> Iterator[str]:
    """A sentence on the job that ran before on the checkpoint of a new one, with its differences."""
    left = left_definition(case)
    if left is None:
        yield "a query has run on this checkpoint before"
        return
    texts = [
        change.text
        for change in changes(left.job, case.desired, case.facts)
        if not isinstance(change, MetadataOnly | Live)
    ]
    if texts:
        yield f"{left.address} ran on this checkpoint before with another definition: {', '.join(texts)}"
    else:
        yield f"{left.address} ran on this checkpoint before with the same definition"


def quarantine_steps(desired: JobDefinition, recorded: JobDefinition | None) -> Iterator[Step]:
    """The queries that write bad records, where they are new."""
    for name, output in desired.outputs.items():
        if output.bad_records and (recorded is None or name not in recorded.outputs):
            why = f"a query of its own writes them; its name, and that of its folder, is {name}"
            yield Step(text=quarantined(desired, name), effect=Effect.STARTS, why=why)


def steps_of_changes(
    job_changes: Sequence[JobChange], desired: JobDefinition, *, fresh: bool, accepted: bool, stands: bool
) -> list[Step]:
    """One restart for all that asks for one, and a step for whatever else happens. ``stands``: the job does
    not run now.
    """
    restarts = [
        change
        for change in job_changes
        if isinstance(change, Restart) or (isinstance(change, ResultsChange) and accepted and not fresh)
    ]
    steps = [
        step
        for change in job_changes
        if (step := _single_step(change, fresh=fresh, accepted=accepted)) is not None
    ]
    if not restarts and not (fresh and steps):
        return steps
    what = restart_reason(restarts)
    why = "; ".join(dict.fromkeys(change.why for change in restarts if isinstance(change, Restart)))
    rules = rules_of(change for change in restarts if isinstance(change, Restart))
    if not desired.starts_by_itself:
        text = f"{what}, and it is not started"
        return [Step(text=text, effect=Effect.METADATA, why=why, rules=rules), *steps]
    if desired.is_finite:
        return [Step(text=f"runs again: {what}", effect=Effect.STARTS, why=why, rules=rules), *steps]
    where = "in a new folder" if fresh else "on the same checkpoint"
    stops = "" if stands else f"{_STOPS} and "
    text = f"{stops}starts {where}: {what}"
    warnings = [
        Step(text=change.warning, effect=Effect.RESULTS_CHANGE, why=change.why, rules=change.rules)
        for change in restarts
        if isinstance(change, Restart) and change.warning and not fresh
    ]
    return [Step(text=text, effect=Effect.RESTART, why=why, rules=rules), *steps, *warnings]


def in_flight(facts: JobFacts) -> list[Step]:
    """A batch that was begun, and will certainly be done again: while a query runs its current one may still
    be committed.
    """
    if facts.phase in ("running", "idle", "starting", "stopping") and facts.alive:
        return []
    why = (
        "its offsets are written and it is not committed; marks in the tables tell which of its rows are "
        "there already"
    )
    text = "batch {} was begun and is done again, with the same offsets, under the new definition"
    return [
        Step(text=text.format(batch), effect=Effect.RESTART, why=why, replays=(batch,))
        for batch in facts.in_flight
    ]


def _single_step(change: JobChange, *, fresh: bool, accepted: bool) -> Step | None:
    match change:
        case Live(text=text):
            return Step(text=text, effect=Effect.LIVE)
        case TakenAsSame(text=text, proven=spark) if spark and not fresh:
            return Step(
                text=text, effect=Effect.RECORDED, why=f"proven by Spark {spark} to be the same query"
            )
        case TakenAsSame(text=text) if not fresh:
            return Step(text=text, effect=Effect.TAKEN)
        case NoEffect(text=text) if not fresh:
            why = f"{SPARK} pins it in the checkpoint"
            return Step(text=text, effect=Effect.NO_EFFECT, why=why, rules=("pinned.conf",))
        case ResultsChange(text=text, why=why, rules=rules) if accepted and not fresh:
            text = f"results change with {text}"
            return Step(text=text, effect=Effect.RESULTS_CHANGE, why=why, rules=rules)
        case NewGeneration(text=text) | ResultsChange(text=text) if fresh:
            no_state = "the new generation has no state that it could contradict"
            why = change.why if change.path[0] == "outputs" else no_state
            quoted = change.rules if change.path[0] == "outputs" else ()
            return Step(text=f"{text} changed", effect=Effect.NEW_GENERATION, why=why, rules=quoted)
        case MetadataOnly() | TakenAsSame() | NoEffect() | Restart() | ResultsChange() | NewGeneration():
            return None


def state_steps(case: JobCase, recorded: JobDefinition, standing: bool) -> list[Step]:
    if case.desired.stopped and (case.facts.state == "running" or not recorded.stopped):
        why = "it was started by hand and stopped = true" if recorded.stopped else "stopped = true"
        if standing:
            return [Step(text="stays down", effect=Effect.METADATA, why=why)]
        kept = broker_positions.kept_text(case.desired, case.facts)
        return [
            Step(
                text=_STOPS,
                effect=Effect.STOPS,
                why=f"{why}; {kept}" if kept else why,
            )
        ]
    if recorded.stopped and not case.desired.stopped:
        why = "; ".join(["stopped = false", *broker_positions.start_notes(case.desired, case.facts)])
        return [Step(text="starts where its checkpoint stands", effect=Effect.STARTS, why=why)]
    return _disturbance_steps(case, standing)


def as_one_stop(steps: list[Step], others: list[Step], facts: JobFacts) -> list[Step]:
    """A job that changes and is stopped for the change of another stops once, and says so once. Says how long
    a batch of it takes, where one is waited for.
    """
    at = next((at for at, step in enumerate(steps) if step.text.startswith((_STOPS, _STARTS))), None)
    disturbed = [step for step in others if step.text in (_BESIDE, _AFTER)]
    if at is not None and disturbed:
        why = "; ".join(dict.fromkeys(step.why for step in (steps[at], *disturbed) if step.why))
        text = steps[at].text.replace(_STOPS, f"{_STOPS}, before the change, and starts after it", 1)
        text = text.replace("after it and starts ", "after it ", 1)
        if text.startswith(_STARTS):
            text = text.replace(_STARTS, f"{_AFTER} ", 1)
        steps[at] = replace(steps[at], text=text, why=why)
        others = [step for step in others if step not in disturbed]
    all_steps = [*steps, *others]
    if not facts.alive or not facts.batch_seconds:
        return all_steps
    took = f"its last batch took {elapsed_text(max(1.0, facts.batch_seconds))}"
    return [
        replace(step, why=f"{step.why}; {took}" if step.why else took, batch_seconds=facts.batch_seconds)
        if step.text.startswith(_STOPS) or step.text == _BESIDE
        else step
        for step in all_steps
    ]


def _disturbance_steps(case: JobCase, standing: bool) -> list[Step]:
    if case.desired.is_finite or case.desired.stopped:
        return []
    beside, after = (_AFTER, _AFTER) if standing else (_BESIDE, "restarts after the change")
    return [
        Step(
            text=after if disturbance.reaction is Reaction.RESTARTS else beside,
            effect=Effect.RESTART,
            why=disturbance.reason,
        )
        for disturbance in case.request.disturbances
        # That its checkpoint moves is a change of its own definition
        if disturbance.reaction is not Reaction.RUNS_ON
        and disturbance.relation is not Relation.KEEPS_STATE_IN
    ]


def is_disturbed(request: PlanRequest) -> bool:
    return any(disturbance.reaction is not Reaction.RUNS_ON for disturbance in request.disturbances)


def _term(job: JobDefinition) -> float:
    return rhythm_of(job.runs_in.runtime_location).term


def heal_steps(desired: JobDefinition, drift: Sequence[str], facts: JobFacts) -> list[Step]:
    if not drift or desired.stopped:
        return []
    text = "runs again" if desired.is_finite else "starts again where its checkpoint stands"
    if facts.elsewhere:
        text += f", if the lease of {facts.elsewhere} stays unchanged for {_term(desired):.0f} s"
    why = "; ".join([drift[0], *broker_positions.start_notes(desired, facts)])
    return [Step(text=text, effect=Effect.STARTS, why=why)]


def restarts_in(steps: Sequence[Step]) -> bool:
    return any(step.effect is Effect.RESTART for step in steps)
