"""The plan of a job that is recorded and among what should run. Pure."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Final

from flareiac.kernel.data import Attributes, canonical
from flareiac.kernel.paths import Path
from flareiac.sdk.changes import (
    Action,
    AttributeChange,
    Blocker,
    Effect,
    Proposal,
    Reaction,
    Step,
)
from flareiac.sdk.classify import classify
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present
from flareiac_spark import codes
from flareiac_spark.change import blockers as blocking
from flareiac_spark.change.changes import (
    JobChange,
    Live,
    MetadataOnly,
    NewGeneration,
    NoEffect,
    Restart,
    ResultsChange,
    TakenAsSame,
    blocks,
    gravity,
)
from flareiac_spark.change.diff import changes, is_fresh
from flareiac_spark.change.drift import (
    at_rest,
    down,
    foreign,
    pinned_otherwise,
    running,
    stands,
)
from flareiac_spark.change.kept_reading import KEPT
from flareiac_spark.change.proofs import (
    IS_EQUAL,
    KEEPS_STATE,
    NO_PROOF,
    Needed,
    is_accepted_unproven,
    is_provable,
    needed_proof,
    pair_digest,
    start_needs,
    unproven_change,
)
from flareiac_spark.change.query_text import same_texts
from flareiac_spark.change.recorded_definition import QUERY, recorded_definition, reworded_definition
from flareiac_spark.change.running_definition import running_definition
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation import generation_plan
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job.contributions import PlannedJob, contributed
from flareiac_spark.job.job_definitions import checkpoint_move
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.plan_steps import (
    as_one_stop,
    heal_steps,
    in_flight,
    is_disturbed,
    restarts_in,
    state_steps,
    steps_of_changes,
)
from flareiac_spark.job.refusals import is_running, moved_and_raised, refusals_of_changes, stopped_for_nothing
from flareiac_spark.observation.job import JobFacts

_HIDDEN: Final = ("step_order", "column_order")
_OF_THE_TEXT: Final = (Effect.NO_EFFECT, Effect.TAKEN, Effect.RECORDED)
_WHILE_IT_RUNS: Final = (Effect.LIVE, *_OF_THE_TEXT)


class ChangedJob:
    """The plan of a job that is recorded and among what should run. Each part is made once, from the parts
    above it.
    """

    def __init__(self, case: JobCase, recorded: JobDefinition) -> None:
        self._case, self._recorded = case, recorded
        self._request, self._desired, self._facts = case.request, case.desired, case.facts
        self._fresh = is_fresh(recorded, case.desired)
        self._runs = running_definition(case, recorded)
        # The text that runs is the one that goes on in the new one, whatever was recorded.
        self._before = recorded if same_texts(self._runs, case.desired) else self._runs
        self._other_text = not same_texts(self._before, case.desired)
        self._changes, self._proof = self._judged()
        self._healable = running(case.request, recorded, case.facts)
        own = [*self._refusals, *self._stopped_for_nothing(), *moved_and_raised(case, recorded)]
        starting = self._own_steps()
        planned = PlannedJob(case=case, recorded=recorded, blockers=own, restarts=restarts_in(starting))
        self._others = contributed(planned)
        self._blockers = [*own, *self._others.blockers]
        self._steps = self._all_steps(starting)
        self._stays = self._runs is recorded and not self._has(Restart, ResultsChange, NewGeneration)
        self._rewords = self._has(TakenAsSame)

    def _has(self, *classes: type[JobChange]) -> bool:
        return any(isinstance(change, classes) for change in self._changes)

    def _judged(self) -> tuple[Sequence[JobChange], Needed]:
        """The changes, and the proof that the start on this checkpoint needs."""
        moved, before, address = checkpoint_move(self._case), self._before, self._request.address
        job_changes = [
            *([moved] if moved is not None else []),
            *_outdated(self._recorded, self._facts),
            *_changes_of_both(
                changes(self._recorded, self._desired, self._facts),
                self._recorded,
                self._runs,
                self._desired,
                self._facts,
            ),
        ]
        if self._fresh:
            return job_changes, NO_PROOF
        needed = needed_proof(address, before, self._desired, self._facts, job_changes)
        if needed == KEEPS_STATE and is_accepted_unproven(address, before, self._desired):
            job_changes, needed = [*job_changes, unproven_change(before, self._desired)], NO_PROOF
        if (
            needed == NO_PROOF
            and self._other_text
            and self._runs is not self._recorded
            and not blocks(job_changes)
        ):
            needed = start_needs(before, self._facts)
        return job_changes, needed

    @cached_property
    def _starts(self) -> bool:
        return _starts_again(self._request, self._recorded, self._changes, self._healable)

    @cached_property
    def _refusals(self) -> list[Blocker]:
        return refusals_of_changes(self._case, self._recorded, self._changes, starts=self._starts)

    def _stopped_for_nothing(self) -> list[Blocker]:
        certain = (self._starts and is_running(self._facts)) or (
            self._fresh and self._desired.starts_by_itself
        )
        return stopped_for_nothing(self._facts) if certain and not self._refusals else []

    @cached_property
    def _accepted(self) -> bool:
        mixed = [change for change in self._changes if isinstance(change, ResultsChange)]
        return blocking.is_accepted(self._request.address, mixed, self._desired, self._recorded)

    @property
    def _standing(self) -> bool:
        return (self._recorded.stopped and self._facts.state != "running") or stands(
            self._request, self._facts
        )

    def _own_steps(self) -> list[Step]:
        return steps_of_changes(
            self._changes, self._desired, fresh=self._fresh, accepted=self._accepted, stands=self._standing
        )

    def _all_steps(self, own: Sequence[Step]) -> list[Step]:
        """In the order of the plan. Batches in flight are mentioned with a restart above them. One stop is
        made of all that stops the job, before it is asked whether the job is to be healed beside that.
        """
        case, facts = self._case, self._facts
        steps = [*own, *self._others.steps]
        if not self._fresh and restarts_in(own):
            steps += in_flight(facts)
        steps += generation_plan.steps(case) if self._fresh else []
        steps = as_one_stop(steps, state_steps(case, self._recorded, self._standing), facts)
        if not any(step.effect in (Effect.RESTART, Effect.STARTS) for step in steps):
            steps += heal_steps(case.desired, self._healable, facts)
        return steps

    @property
    def _empties(self) -> Collection[Path]:
        """The attributes with which tables lose the rows that they have."""
        emptied = generation_plan.emptied_outputs(self._case) if self._fresh else ()
        return {("outputs", name, "rebuild") for name in emptied}

    @cached_property
    def _pair(self) -> str:
        """The digest of the texts that a proof would compare; empty where none is of use."""
        if self._fresh or not self._other_text:
            return ""
        return pair_digest(self._before, self._desired)

    @cached_property
    def _provable(self) -> bool:
        unrecorded = any(each.code == codes.UNRECORDED_DEFINITION_RAN.id for each in self._blockers)
        return bool(self._pair) and is_provable(
            self._changes,
            self._before,
            self._desired,
            self._facts,
            len(self._blockers),
            unrecorded=unrecorded and self._before is not self._recorded,
        )

    @cached_property
    def _drift(self) -> tuple[str, ...]:
        return (
            *self._healable,
            *foreign(self._request, self._recorded),
            *pinned_otherwise(self._case, self._recorded),
            *self._others.drift,
        )

    @cached_property
    def _planned(self) -> Attributes:
        if not self._stays:
            return self._desired.attributes
        runs_on = reworded_definition if self._rewords else recorded_definition
        return runs_on(self._recorded, self._desired).attributes

    @cached_property
    def _analyse(self) -> bool:
        return self._rewords or self._provable or self._has(Restart, ResultsChange, NewGeneration)

    def proposal(self) -> Proposal:
        request, facts = self._request, self._facts
        return Proposal(
            action=_action(request, self._steps, self._planned, self._blockers),
            planned=self._planned,
            keeps=QUERY if self._stays else KEPT,
            at_rest=at_rest(request, self._recorded, facts),
            changes=_changed(
                request,
                self._planned,
                self._changes,
                fresh=self._fresh,
                accepted=self._accepted,
                empties=self._empties,
            ),
            steps=tuple(self._steps),
            reasons=(
                *dict.fromkeys(
                    (
                        *_reasons(self._changes, self._drift, self._case),
                        *down(request, self._recorded, facts),
                    )
                ),
                *self._others.reasons,
            ),
            blockers=tuple(self._blockers),
            drift=self._drift,
            diagnostics=self._others.diagnostics,
            unknown=() if self._blockers else self._others.unknown,
            unproven="SQL" if self._analyse else "",
            provable=self._provable,
            payload=self._payload.data,
        )

    @property
    def _payload(self) -> JobPayload:
        facts, text_only = self._facts, self._proof == IS_EQUAL and self._stays
        again = facts.phase == "failed" or is_disturbed(self._request) or facts.runs_another
        return JobPayload(
            analyse=self._analyse,
            live=self._stays and all(step.effect in _WHILE_IT_RUNS for step in self._steps),
            text_only=text_only and all(step.effect in _OF_THE_TEXT for step in self._steps),
            nonce=facts.nonce + again,
            proof=self._proof,
            pair=self._pair,
            before=self._before.attributes if self._pair and self._before is not self._recorded else None,
            start_needs=start_needs(self._recorded, facts) if self._proof == IS_EQUAL else NO_PROOF,
        )


def _outdated(recorded: JobDefinition, facts: JobFacts) -> Iterator[Restart]:
    """The restart for jars that are locked in another version than the one that runs."""
    if facts.outdated and not recorded.stopped:
        yield Restart(
            path=("application", "jars"),
            text="what its application starts with",
            why=f"{'; '.join(facts.outdated)}: all jobs of the application restart in a new JVM",
        )


def _changes_of_both(
    job_changes: Sequence[JobChange],
    recorded: JobDefinition,
    runs: JobDefinition,
    desired: JobDefinition,
    facts: JobFacts,
) -> tuple[JobChange, ...]:
    """The differences from the recorded definition, and those from the one that runs in its place. Which of
    the two has made the state is not known, so that what would mix its results is asked for the recorded one,
    and the other one by itself.
    """
    if runs is recorded:
        return tuple(job_changes)
    others = [change for change in changes(runs, desired, facts) if not isinstance(change, ResultsChange)]
    return (*job_changes, *(other for other in others if other not in job_changes))


def _starts_again(
    request: PlanRequest, recorded: JobDefinition, job_changes: Sequence[JobChange], healable: Sequence[str]
) -> bool:
    """Returns True if the plan starts queries that ran before, for whatever reason."""
    restarts = any(isinstance(change, Restart | ResultsChange | NewGeneration) for change in job_changes)
    return restarts or recorded.stopped or bool(healable) or is_disturbed(request)


def _action(
    request: PlanRequest, steps: Sequence[Step], planned: Attributes, blockers: Sequence[Blocker]
) -> Action:
    if blockers or any(step.effect is not Effect.NO_EFFECT for step in steps):
        return Action.UPDATE
    recorded = request.recorded.attributes if request.recorded else None
    return Action.NO_OP if canonical(planned) == canonical(recorded) else Action.RECORD


def _changed(
    request: PlanRequest,
    planned: Attributes,
    job_changes: Sequence[JobChange],
    *,
    fresh: bool,
    accepted: bool,
    empties: Collection[Path],
) -> tuple[AttributeChange, ...]:
    """``empties``: the places of changes with which a table loses the rows that it has."""
    observed = request.observed.attributes if isinstance(request.observed, Present) else None
    recorded = request.recorded.attributes if request.recorded else None
    # Of several changes at one place the gravest is reported.
    by_gravity = sorted(job_changes, key=gravity)
    notes = {
        change.path: _note(change, fresh=fresh, accepted=accepted, empties=change.path in empties)
        for change in by_gravity
    }
    return tuple(
        AttributeChange(
            path=change.path,
            origin=change.origin,
            old=change.old,
            new=change.new,
            live=change.live,
            note=_note_at(change.path, notes),
        )
        for change in visible_changes(classify(planned, recorded, observed))
    )


def visible_changes(attribute_changes: Sequence[AttributeChange]) -> tuple[AttributeChange, ...]:
    """Without what only repeats the order of something that is shown."""
    return tuple(
        change
        for change in attribute_changes
        if change.path[-1] not in _HIDDEN and not (change.path[0] == "avro" and change.path[-1] == "schema")
    )


def _note_at(path: Path, notes: dict[Path, str]) -> str:
    return next((notes[path[:end]] for end in range(len(path), 0, -1) if path[:end] in notes), "")


def _note(change: JobChange, *, fresh: bool, accepted: bool, empties: bool) -> str:
    match change:
        case MetadataOnly(path=("outputs", *_, "rebuild")):
            used = f"used when {'this' if fresh else 'the next'} generation starts"
            return f"{Effect.LOSES_DATA.value}, {used}" if empties else used
        case MetadataOnly():
            return Effect.RECORDED
        case Live():
            return "live"
        case TakenAsSame(proven=spark):
            return f"proven by Spark {spark}" if spark else "taken to mean the same"
        case Restart():
            return "restart"
        case NoEffect() | ResultsChange() | NewGeneration() if fresh:
            return "new generation"
        case NoEffect():
            return "no effect"
        case ResultsChange() if accepted:
            return "restart, results change"
        case ResultsChange() | NewGeneration():
            return "blocked"


def _reasons(job_changes: Sequence[JobChange], drift: Sequence[str], case: JobCase) -> tuple[str, ...]:
    words = [change.text for change in job_changes if isinstance(change, MetadataOnly)]
    words += [
        disturbance.reason
        for disturbance in case.request.disturbances
        if disturbance.reaction is Reaction.RUNS_ON and not case.desired.is_finite
    ]
    return (*drift, *dict.fromkeys(words))
