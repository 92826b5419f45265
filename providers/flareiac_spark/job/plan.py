"""The planner of jobs. Pure: the observation carries everything that was read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from flareiac.kernel.data import Attributes, Data, canonical, digest
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.elapsed import elapsed_text
from flareiac.kernel.paths import Path
from flareiac.sdk.changes import (
    Action,
    AttributeChange,
    Blocker,
    Effect,
    Proposal,
    Reaction,
    Relation,
    Step,
    blocker,
)
from flareiac.sdk.classify import classify
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Present
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
from flareiac_spark.change.diff import SPARK, changes, is_fresh, quarantined
from flareiac_spark.change.drift import (
    at_rest,
    down,
    foreign,
    looked_at,
    pinned_otherwise,
    rolled_back,
    running,
    stands,
)
from flareiac_spark.change.kept_reading import KEPT, with_kept_reading
from flareiac_spark.change.left_definition import last_user, left_definition
from flareiac_spark.change.proofs import (
    IS_EQUAL,
    KEEPS_STATE,
    NO_PROOF,
    Needed,
    is_accepted_unproven,
    is_provable,
    is_proven_to_go_on,
    needed_proof,
    pair_digest,
    start_needs,
    unproven_change,
)
from flareiac_spark.change.query_text import same_texts
from flareiac_spark.change.recorded_definition import QUERY, recorded_definition, reworded_definition
from flareiac_spark.change.restart_reasons import restart_reason
from flareiac_spark.change.running_definition import running_definition
from flareiac_spark.column_types import table_columns
from flareiac_spark.definition.checkpoint_definition import start_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity, recorded_identity
from flareiac_spark.definition.moved_checkpoint import follows_move, relocated
from flareiac_spark.generation import broker_positions, carry_over_blockers, generation_plan, readable
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.generation.snapshot_holds import held_after
from flareiac_spark.job import file_folders, health, samples, schemas, topic_limits, written_schemas
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.stages import JobUpdate, closing_of, stages_of
from flareiac_spark.observation.job import JobFacts, OutputFacts, observed_facts, reach_complaints
from flareiac_spark.start_from import CARRY_OVER
from flareiac_spark_runtime.control.rhythm import rhythm_of

_STOPS: Final = "stops after its current batch"
_BESIDE: Final = "stops before the change and starts after it"
_STARTS: Final = "starts "
_AFTER: Final = f"{_STARTS}after the change"
"""The same of a job that stands."""
_HIDDEN: Final = ("step_order", "column_order")
_NO_POSITION: Final = (codes.OFFSET_EXPIRED.id, *broker_positions.LOST_CODES)
_NOT_KNOWN: Final = (codes.STREAMABLE_ROWS_UNKNOWN.id, codes.POSITION_UNKNOWN.id)


_OF_THE_TEXT: Final = (Effect.NO_EFFECT, Effect.TAKEN, Effect.RECORDED)
_WHILE_IT_RUNS: Final = (Effect.LIVE, *_OF_THE_TEXT)


class JobPlanner:
    """Three-way: what is declared, what was recorded, what runs."""

    def plan(self, request: PlanRequest) -> Proposal:
        if request.desired is None:
            return _removed(request)
        recorded = _recorded(request)
        declared = with_kept_reading(JobDefinition.of(request.desired), recorded)
        facts = _facts(request)
        desired = written_schemas.with_schemas(declared, recorded, facts)
        case = JobCase(request=request, desired=desired, facts=facts)
        if recorded is None or isinstance(request.observed, Missing) or request.replace:
            return _staged(case, _created(case))
        return _staged(case, _ChangedJob(case, recorded).proposal())

    def fingerprint(self, request: PlanRequest) -> Data:
        """The definitions, the queries and their checkpoints, for the comparison at apply. Never offsets or
        batches: they move all the time.
        """
        facts, recorded = _facts(request), request.recorded
        schemas_written = written_schemas.fingerprint(request, facts)
        return {
            "recorded definition": digest(recorded.attributes) if recorded else None,
            "definition that should run": facts.digest,
            "queries": {name: item.query_id for name, item in sorted(facts.checkpoints.items())},
            "stateful operators": sorted(facts.operators),
            "pinned settings": {key: facts.pinned[key] for key in sorted(facts.pinned)},
            "out of reach": _out_of_reach(request, facts),
            **({"schemas": schemas_written} if schemas_written else {}),
            **({"absent folders": sorted(facts.absent)} if facts.absent else {}),
        }


def _staged(case: JobCase, proposal: Proposal) -> Proposal:
    """With the operations that carry it out, where anything is to be carried out."""
    if proposal.action not in (Action.CREATE, Action.UPDATE) or proposal.blockers:
        return proposal
    payload = JobPayload.of(proposal.payload)
    update = JobUpdate(
        request=case.request,
        desired=case.desired,
        recorded=_recorded(case.request),
        facts=_facts(case.request),
        changed=payload.analyse,
        live=payload.live,
        text_only=payload.text_only,
        moved=_moved(case) is not None,
    )
    return replace(
        proposal,
        stages=stages_of(update),
        closing=closing_of(update),
        diagnostics=(*proposal.diagnostics, *_others_restart(case)),
    )


def _others_restart(case: JobCase) -> Iterator[Diagnostic]:
    """The warning about the jobs beside which it runs, where their application must be started again for
    it.
    """
    if case.facts.restarts is None:
        return
    way_out = "An engine of its own for this job leaves them running."
    yield case.facts.restarts.warning(case.request.address, str(case.desired.engine), way_out)


def _removed(request: PlanRequest) -> Proposal:
    if isinstance(request.observed, Missing):
        return Proposal(
            action=Action.FORGET,
            planned=None,
            steps=held_after(request),
            drift=("it is no longer among what should run",),
        )
    recorded, facts = _recorded(request), _facts(request)
    is_down = down(request, recorded, facts) if recorded is not None else ()
    stops = "is not started again" if stands(request, facts) else "stops"
    step = Step(
        text=f"the job {stops}; no table and no checkpoint goes with it",
        effect=Effect.STOPS,
        why="it is no longer declared; to pause it, keep its block and write stopped = true",
    )
    return Proposal(
        action=Action.DELETE,
        planned=None,
        steps=(step, *held_after(request)),
        reasons=("it is no longer declared", *is_down),
        at_rest=recorded is not None and at_rest(request, recorded, facts),
    )


def _recorded(request: PlanRequest) -> JobDefinition | None:
    """The recorded definition; where its checkpoint moves to the declared place, as if it were there."""
    if request.recorded is None:
        return None
    recorded = JobDefinition.of(request.recorded.attributes)
    if request.desired is None:
        return recorded
    return relocated(recorded, JobDefinition.of(request.desired), request.references)


def _moved(case: JobCase) -> Restart | None:
    """The change of the place of its checkpoint, where that moves."""
    if case.request.recorded is None:
        return None
    recorded = JobDefinition.of(case.request.recorded.attributes)
    if not follows_move(recorded, case.desired, case.request.references):
        return None
    old, new = recorded.checkpoint_location, case.desired.checkpoint_location
    why = f"its files are moved from {old} to {new} meanwhile, and it goes on there where it stood"
    return Restart(path=("checkpoint_location",), text="the place of its checkpoint", why=why)


def _moved_and_raised(case: JobCase, recorded: JobDefinition) -> list[Blocker]:
    if _moved(case) is None or case.desired.generation == recorded.generation:
        return []
    was = (
        JobDefinition.of(case.request.recorded.attributes).checkpoint_location
        if case.request.recorded
        else ""
    )
    why = (
        f"{case.desired.checkpoint} moves to {case.desired.checkpoint_location}, and its generation goes "
        f"from {recorded.generation} to {case.desired.generation}. A new generation goes on after the "
        "last one, "
        "which must stay where it is until then."
    )
    ways = (
        f"apply the new location first, with generation = {recorded.generation}, and raise it afterwards",
        f'apply the new generation first, with location = "{was}", and move it afterwards',
    )
    return [blocker(codes.MOVE_WITH_GENERATION, why=why, ways_out=ways)]


def _created(case: JobCase) -> Proposal:
    facts, recorded = _facts(case.request), _recorded(case.request)
    drift: tuple[str, ...] = ()
    if recorded is not None and isinstance(case.request.observed, Missing):
        drift = (case.request.observed.reason or "it is no longer among what should run",)
    elif recorded is not None:
        drift = down(case.request, recorded, facts)
    blockers = [blocker for blocker in (blocking.misfit(case),) if blocker]
    blockers += _refused_again(case)
    blockers += written_schemas.blockers(case.request, facts)
    begun = generation_plan.steps(case) if _begins_one(case) else ()
    payload = _payload_of_new(case, blockers)
    return Proposal(
        action=Action.CREATE,
        planned=case.desired.attributes,
        keeps=KEPT,
        changes=_visible(classify(case.desired.attributes, None, None)),
        steps=(
            _start(case),
            *written_schemas.steps(case, None),
            *_quarantines(case.desired, None),
            *begun,
        ),
        reasons=(
            *drift,
            *_left_null(case, None),
            *_at_least_once(case.desired, None),
            *written_schemas.reasons(case, None),
            *schemas.later_versions(facts),
        ),
        blockers=tuple(blockers),
        drift=drift,
        diagnostics=(
            *_absent_folders(case.request, facts),
            *file_folders.warnings(case),
            *_of_brokers(case, blockers),
        ),
        unknown=_unknown(case),
        unproven="SQL",
        provable=payload.proof == NO_PROOF and bool(payload.pair),
        payload=payload.data,
    )


def _payload_of_new(case: JobCase, blockers: Sequence[Blocker]) -> JobPayload:
    """With the proof that a job needs which starts on a checkpoint that another definition left, or that
    would free one which is blocked.
    """
    left = left_definition(case)
    before = _recorded(case.request) or (left.job if left is not None else None)
    plain = JobPayload(analyse=True, nonce=case.facts.nonce + 1 if case.facts.digest is not None else 0)
    if before is None or _begins_one(case):
        return plain
    found = changes(before, case.desired, case.facts)
    needed = needed_proof(case.request.address, before, case.desired, case.facts, found, is_new=True)
    if needed == NO_PROOF and not is_provable(
        found, before, case.desired, case.facts, len(blockers), unrecorded=False
    ):
        return plain
    user = last_user(case.request, case.desired) if case.request.recorded is None else None
    return replace(
        plain,
        proof=needed,
        pair=pair_digest(before, case.desired),
        before=before.attributes,
        kept_by=case.desired.checkpoint.address
        if user is not None and case.desired.checkpoint is not None
        else "",
        left=user.identity if user is not None else None,
    )


def _quarantines(desired: JobDefinition, recorded: JobDefinition | None) -> Iterator[Step]:
    """The queries that write bad records, where they are new."""
    for name, output in desired.outputs.items():
        if output.bad_records and (recorded is None or name not in recorded.outputs):
            why = f"a query of its own writes them; its name, and that of its folder, is {name}"
            yield Step(text=quarantined(desired, name), effect=Effect.STARTS, why=why)


def _refused_again(case: JobCase) -> list[Blocker]:
    """The blockers by which a checkpoint that exists refuses a job that is new, or recorded and gone from the
    desired state.
    """
    recorded, left = _recorded(case.request), left_definition(case)
    if recorded is None and left is not None:
        return _blockers(
            case,
            left.job,
            changes(left.job, case.desired, case.facts),
            starts=case.desired.starts_by_itself,
        )
    if recorded is None:
        found = [
            blocking.unknown_state(case),
            blocking.moved_back(case),
        ]
        emptied = generation_plan.blockers(case) if _begins_one(case) else []
        return [
            *(blocker for blocker in found if blocker),
            *emptied,
            *_unreadable(case),
        ]
    return _blockers(case, recorded, changes(recorded, case.desired, case.facts), starts=True)


def _unreadable(case: JobCase) -> list[Blocker]:
    """The blockers of records and rows that streams cannot read any more, of those that they begin with or go
    on after.
    """
    if _begins_one(case):
        return _unreadable_by_generation(case)
    return _unreadable_by_start(case)


def _unreadable_by_start(case: JobCase) -> list[Blocker]:
    return [
        *readable.of_start(case),
        *broker_positions.of_start(case),
        *schemas.blockers(case.request, case.facts),
        *topic_limits.blockers(case),
        *file_folders.blockers(case.desired, case.facts),
    ]


def _unreadable_by_generation(case: JobCase) -> list[Blocker]:
    start = start_of(case.desired, case.request.references)
    return [
        *readable.of_generation(case),
        *broker_positions.of_generation(case, start),
        *schemas.blockers(case.request, case.facts),
        *topic_limits.blockers(case),
        *file_folders.blockers(case.desired, case.facts),
    ]


def _blockers(
    case: JobCase,
    recorded: JobDefinition,
    found: Sequence[JobChange],
    *,
    starts: bool,
) -> list[Blocker]:
    if is_fresh(recorded, case.desired):
        elsewhere = blocking.may_run_elsewhere(case, recorded)
        start = start_of(case.desired, case.request.references)
        lost = blocking.of_carry_over(case, found, recorded) if start == CARRY_OVER else []
        reads = [] if lost else _unreadable_by_generation(case)
        again = generation_plan.start_again(case)[0]
        return [
            *([elsewhere] if elsewhere else []),
            *lost,
            *carry_over_blockers.blockers(case, start, again),
            *generation_plan.blockers(case),
            *reads,
        ]
    there = [
        blocking.may_run_elsewhere(case, recorded),
        blocking.lost_checkpoint(case),
        blocking.moved_back(case),
    ]
    # Another folder was declared: that is refused by itself
    if not any(isinstance(change, NewGeneration) for change in found):
        there.append(blocking.other_folder(case))
        if starts and looked_at(case.request):
            there.append(blocking.other_positions(case))
    if not any(isinstance(change, ResultsChange) for change in found):
        runs = running_definition(case, recorded)
        others = changes(runs, case.desired, case.facts) if runs is not recorded else ()
        proven = is_proven_to_go_on(others, runs, case.desired, case.facts)
        there.append(blocking.unrecorded(case, recorded, others, proven=proven))
    checked = starts and looked_at(case.request) and not any(there)
    reads = _unreadable_by_start(case) if checked else []
    carries = not any(blocker.code in _NO_POSITION for blocker in reads)
    return [
        *blocking.of_changes(case, found, recorded, carries=carries),
        *blocking.used_folders(case, recorded),
        *blocking.used_checkpoint(case),
        *blocking.cut_off(case, recorded),
        *(blocker for blocker in there if blocker),
        *reads,
    ]


def _stopped_for_nothing(facts: JobFacts) -> list[Blocker]:
    """Blocks the restart of a job that runs, and the next generation of any, where the start is known to
    fail: the job would be down, or its tables emptied, for nothing.
    """
    return [
        blocker(
            codes.SOURCE_FOLDER_MISSING,
            why=f"The job reads {path}, which does not exist, so that it could not start"
            + (" again once it is stopped." if _runs(facts) else "."),
            ways_out=(f"create {path}", "correct the path of the stream"),
        )
        for path in facts.absent
    ]


def _absent_folders(request: PlanRequest, facts: JobFacts) -> Iterator[Diagnostic]:
    for path in facts.absent:
        yield warning(
            codes.SOURCE_FOLDER_MISSING,
            f"{request.address} reads {path}. It cannot start until that folder is there: create it before "
            "the apply, or correct the path.",
            address=request.address,
        )


def _of_brokers(case: JobCase, blockers: Sequence[Blocker]) -> Iterator[Diagnostic]:
    """The reports of brokers and registries on the records that are yet to be read, which are no reason to
    block.
    """
    blocked = any(blocker.code == codes.AVRO_COLUMN_DIFFERS.id for blocker in blockers)
    yield from schemas.warnings(case.request, case.facts, blocked=blocked)
    yield from samples.warnings(case.request, case.facts)
    yield from written_schemas.warnings(case)
    if any(blocker.code in (*_NO_POSITION, *_NOT_KNOWN) for blocker in blockers):
        return
    yield from broker_positions.warnings(case)
    if _runs(case.facts):
        yield from broker_positions.lost_warnings(case)


def _unknown(case: JobCase) -> tuple[str, ...]:
    return (
        *broker_positions.unknown(case.desired, case.facts),
        *written_schemas.unknown(case.request, case.facts),
    )


def _runs(facts: JobFacts) -> bool:
    return facts.state == "running"


def _stops(steps: Sequence[Step]) -> bool:
    return any(step.effect is Effect.RESTART for step in steps)


def _undone(request: PlanRequest, texts: Sequence[str]) -> Iterator[Diagnostic]:
    for text in texts:
        yield warning(
            codes.TABLE_ROLLED_BACK,
            f"{text}. Set the table to its newest snapshot again, or have a new generation write "
            "everything again "
            '(start_from = "earliest", rebuild = "truncate").',
            address=request.address,
        )


def _left_null(case: JobCase, recorded: JobDefinition | None) -> Iterator[str]:
    """Optional columns that an output does not give, where that is news: Spark fills them with null without a
    word.
    """
    for name, output in case.desired.table_outputs.items():
        before = recorded.table_outputs.get(name) if recorded is not None else None
        names = [
            column.name
            for column in table_columns(output.table, case.request.references)
            if not column.required
        ]
        left = [column for column in names if column not in output.columns]
        news = [column for column in left if before is None or column in before.columns]
        if news and len(left) < len(names):
            yield (
                f"output {name} gives no {', '.join(news)}: null in the rows that it writes to {output.table}"
            )


def _at_least_once(desired: JobDefinition, recorded: JobDefinition | None) -> Iterator[str]:
    """The promise of an output to a topic, where it is new."""
    before = recorded.kafka_outputs if recorded is not None else {}
    for name, output in desired.kafka_outputs.items():
        if name not in before:
            yield (
                f"output {name} writes to {output.place} at least once: a batch that is done again writes "
                "its records again"
            )


def _begins_one(case: JobCase) -> bool:
    """Returns True if apply prepares a generation for a job that is made: one that was raised, or later than
    the first and not begun.
    """
    recorded = _recorded(case.request)
    if recorded is not None:
        return is_fresh(recorded, case.desired)
    return (case.desired.generation or 1) > 1 and not case.facts.started


def _start(case: JobCase) -> Step:
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
            why="; ".join([*_before(case), *broker_positions.start_notes(case.desired, case.facts)]),
        )
    words = "" if _begins_one(case) else readable.start_words(case.desired, case.request.references)
    text = f"starts {words}" if words else "starts from the beginning of its streams"
    return Step(text=text, effect=Effect.STARTS, why="its checkpoint is empty")


def _before(case: JobCase) -> Iterator[str]:
    """A sentence on the job that ran before on the checkpoint of a new one, with its differences."""
    left = left_definition(case)
    if left is None:
        yield "a query has run on this checkpoint before"
        return
    texts = [
        item.text
        for item in changes(left.job, case.desired, case.facts)
        if not isinstance(item, MetadataOnly | Live)
    ]
    if texts:
        yield f"{left.address} ran on this checkpoint before with another definition: {', '.join(texts)}"
    else:
        yield f"{left.address} ran on this checkpoint before with the same definition"


class _ChangedJob:
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
        self._undone = rolled_back(case.request, recorded, case.facts)
        self._absent = self._stopped_for_nothing()
        self._blockers = self._all_blockers()
        self._steps = self._all_steps()
        self._stays = self._runs is recorded and not self._has(Restart, ResultsChange, NewGeneration)
        self._rewords = self._has(TakenAsSame)

    def _has(self, *classes: type[JobChange]) -> bool:
        return any(isinstance(change, classes) for change in self._changes)

    def _judged(self) -> tuple[Sequence[JobChange], Needed]:
        """The changes, and the proof that the start on this checkpoint needs."""
        moved, before, address = _moved(self._case), self._before, self._request.address
        found = [
            *([moved] if moved is not None else []),
            *_found_of_both(
                changes(self._recorded, self._desired, self._facts),
                self._recorded,
                self._runs,
                self._desired,
                self._facts,
            ),
        ]
        if self._fresh:
            return found, NO_PROOF
        needed = needed_proof(address, before, self._desired, self._facts, found)
        if needed == KEEPS_STATE and is_accepted_unproven(address, before, self._desired):
            found, needed = [*found, unproven_change(before, self._desired)], NO_PROOF
        if needed == NO_PROOF and self._other_text and self._runs is not self._recorded and not blocks(found):
            needed = start_needs(before, self._facts)
        return found, needed

    @cached_property
    def _starts(self) -> bool:
        return _starts_again(self._request, self._recorded, self._changes, self._healable)

    @cached_property
    def _refusals(self) -> list[Blocker]:
        return _blockers(self._case, self._recorded, self._changes, starts=self._starts)

    def _stopped_for_nothing(self) -> list[Blocker]:
        certain = (self._starts and _runs(self._facts)) or (self._fresh and self._desired.starts_by_itself)
        return _stopped_for_nothing(self._facts) if certain and not self._refusals else []

    def _all_blockers(self) -> list[Blocker]:
        return [
            *self._refusals,
            *self._absent,
            *_moved_and_raised(self._case, self._recorded),
            *written_schemas.blockers(self._request, self._facts),
        ]

    @cached_property
    def _accepted(self) -> bool:
        mixed = [change for change in self._changes if isinstance(change, ResultsChange)]
        return blocking.is_accepted(self._request.address, mixed, self._desired, self._recorded)

    def _all_steps(self) -> list[Step]:
        """In the order of the plan. Queries of bad records and batches in flight are mentioned with a restart
        above them. One stop is made of all that stops the job, before it is asked whether the job is to be
        healed beside that.
        """
        case, recorded, facts = self._case, self._recorded, self._facts
        standing = (recorded.stopped and facts.state != "running") or stands(case.request, facts)
        steps = [
            *_steps(self._changes, case.desired, fresh=self._fresh, accepted=self._accepted, stands=standing),
            *written_schemas.steps(case, recorded),
        ]
        if _stops(steps):
            steps += _quarantines(case.desired, recorded)
        if not self._fresh and _stops(steps):
            steps += _in_flight(facts)
        steps += generation_plan.steps(case) if self._fresh else []
        steps = _as_one_stop(steps, _state_steps(case, recorded, standing), facts)
        if not any(step.effect in (Effect.RESTART, Effect.STARTS) for step in steps):
            steps += _heal_steps(case.desired, self._healable, facts)
        return steps

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
            *self._undone,
            *pinned_otherwise(self._case, self._recorded),
            *written_schemas.drift(self._case, self._recorded),
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
                request, self._planned, self._changes, fresh=self._fresh, accepted=self._accepted
            ),
            steps=tuple(self._steps),
            reasons=(
                *dict.fromkeys(
                    (
                        *_reasons(self._changes, self._drift, self._case),
                        *down(request, self._recorded, facts),
                    )
                ),
                *_left_null(self._case, self._recorded),
                *_at_least_once(self._desired, self._recorded),
                *written_schemas.reasons(self._case, self._recorded),
                *schemas.later_versions(facts),
            ),
            blockers=tuple(self._blockers),
            drift=self._drift,
            diagnostics=(
                *health.warnings(request, besides=reach_complaints(facts.reach)),
                *(() if self._absent else _absent_folders(request, facts)),
                *file_folders.warnings(self._case),
                *_undone(request, self._undone),
                *_of_brokers(self._case, self._blockers),
                *(broker_positions.short_retention(self._case) if _stops(self._steps) else ()),
            ),
            unknown=() if self._blockers else _unknown(self._case),
            unproven="SQL" if self._analyse else "",
            provable=self._provable,
            payload=self._payload.data,
        )

    @property
    def _payload(self) -> JobPayload:
        facts, text_only = self._facts, self._proof == IS_EQUAL and self._stays
        again = facts.phase == "failed" or _disturbed(self._request) or facts.runs_another
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


def _found_of_both(
    found: Sequence[JobChange],
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
        return tuple(found)
    others = [item for item in changes(runs, desired, facts) if not isinstance(item, ResultsChange)]
    return (*found, *(item for item in others if item not in found))


def _starts_again(
    request: PlanRequest, recorded: JobDefinition, found: Sequence[JobChange], healable: Sequence[str]
) -> bool:
    """Returns True if the plan starts queries that ran before, for whatever reason."""
    restarts = any(isinstance(change, Restart | ResultsChange | NewGeneration) for change in found)
    return restarts or recorded.stopped or bool(healable) or _disturbed(request)


def _action(
    request: PlanRequest, steps: Sequence[Step], planned: Attributes, blockers: Sequence[Blocker]
) -> Action:
    if blockers or any(step.effect is not Effect.NO_EFFECT for step in steps):
        return Action.UPDATE
    recorded = request.recorded.attributes if request.recorded else None
    return Action.NO_OP if canonical(planned) == canonical(recorded) else Action.RECORD


def _changed(
    request: PlanRequest, planned: Attributes, found: Sequence[JobChange], *, fresh: bool, accepted: bool
) -> tuple[AttributeChange, ...]:
    observed = request.observed.attributes if isinstance(request.observed, Present) else None
    recorded = request.recorded.attributes if request.recorded else None
    # Of several changes at one place the gravest is reported.
    by_gravity = sorted(found, key=gravity)
    notes = {change.path: _note(change, fresh=fresh, accepted=accepted) for change in by_gravity}
    return tuple(
        AttributeChange(
            path=change.path,
            origin=change.origin,
            old=change.old,
            new=change.new,
            live=change.live,
            note=_note_at(change.path, notes),
        )
        for change in _visible(classify(planned, recorded, observed))
    )


def _visible(changes_found: Sequence[AttributeChange]) -> tuple[AttributeChange, ...]:
    """Without what only repeats the order of something that is shown."""
    return tuple(
        change
        for change in changes_found
        if change.path[-1] not in _HIDDEN and not (change.path[0] == "avro" and change.path[-1] == "schema")
    )


def _note_at(path: Path, notes: dict[Path, str]) -> str:
    return next((notes[path[:end]] for end in range(len(path), 0, -1) if path[:end] in notes), "")


def _note(change: JobChange, *, fresh: bool, accepted: bool) -> str:
    match change:
        case MetadataOnly(path=("outputs", *_, "rebuild")):
            return "used when this generation starts" if fresh else "used when the next generation starts"
        case MetadataOnly():
            return "not part of what runs"
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


def _steps(
    found: Sequence[JobChange], desired: JobDefinition, *, fresh: bool, accepted: bool, stands: bool
) -> list[Step]:
    """One restart for all that asks for one, and a step for whatever else happens. ``stands``: the job does
    not run now.
    """
    restarts = [
        change
        for change in found
        if isinstance(change, Restart) or (isinstance(change, ResultsChange) and accepted and not fresh)
    ]
    steps = [
        step for change in found if (step := _single_step(change, fresh=fresh, accepted=accepted)) is not None
    ]
    if not restarts and not (fresh and steps):
        return steps
    what = restart_reason(restarts)
    why = "; ".join(dict.fromkeys(change.why for change in restarts if isinstance(change, Restart)))
    if not desired.starts_by_itself:
        return [Step(text=f"{what}, and it is not started", effect=Effect.METADATA, why=why), *steps]
    if desired.is_finite:
        return [Step(text=f"runs again: {what}", effect=Effect.STARTS, why=why), *steps]
    where = "in a new folder" if fresh else "on the same checkpoint"
    stops = "" if stands else f"{_STOPS} and "
    text = f"{stops}starts {where}: {what}"
    warnings = [
        Step(text=change.warning, effect=Effect.RESULTS_CHANGE, why=change.why)
        for change in restarts
        if isinstance(change, Restart) and change.warning and not fresh
    ]
    return [Step(text=text, effect=Effect.RESTART, why=why), *steps, *warnings]


def _in_flight(facts: JobFacts) -> list[Step]:
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
    return [Step(text=text.format(batch), effect=Effect.RESTART, why=why) for batch in facts.in_flight]


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
            return Step(text=text, effect=Effect.NO_EFFECT, why=f"{SPARK} pins it in the checkpoint")
        case ResultsChange(text=text, why=why) if accepted and not fresh:
            return Step(text=f"results change with {text}", effect=Effect.RESULTS_CHANGE, why=why)
        case NewGeneration(text=text) | ResultsChange(text=text) if fresh:
            no_state = "the new generation has no state that it could contradict"
            why = change.why if change.path[0] == "outputs" else no_state
            return Step(text=f"{text} changed", effect=Effect.NEW_GENERATION, why=why)
        case MetadataOnly() | TakenAsSame() | NoEffect() | Restart() | ResultsChange() | NewGeneration():
            return None


def _state_steps(case: JobCase, recorded: JobDefinition, standing: bool) -> list[Step]:
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


def _as_one_stop(steps: list[Step], others: list[Step], facts: JobFacts) -> list[Step]:
    """A job that changes and is stopped for the change of another stops once, and says so once. Says how long
    a batch of it takes, where one is waited for.
    """
    at = next((at for at, step in enumerate(steps) if step.text.startswith((_STOPS, _STARTS))), None)
    disturbed = [step for step in others if step.text in (_BESIDE, _AFTER)]
    if at is not None and disturbed:
        why = "; ".join(dict.fromkeys(item.why for item in (steps[at], *disturbed) if item.why))
        text = steps[at].text.replace(_STOPS, f"{_STOPS}, before the change, and starts after it", 1)
        text = text.replace("after it and starts ", "after it ", 1)
        if text.startswith(_STARTS):
            text = text.replace(_STARTS, f"{_AFTER} ", 1)
        steps[at] = replace(steps[at], text=text, why=why)
        others = [step for step in others if step not in disturbed]
    found = [*steps, *others]
    if not facts.alive or not facts.batch_seconds:
        return found
    took = f"its last batch took {elapsed_text(max(1.0, facts.batch_seconds))}"
    return [
        replace(step, why=f"{step.why}; {took}" if step.why else took)
        if step.text.startswith(_STOPS) or step.text == _BESIDE
        else step
        for step in found
    ]


def _disturbance_steps(case: JobCase, standing: bool) -> list[Step]:
    if case.desired.is_finite or case.desired.stopped:
        return []
    beside, after = (_AFTER, _AFTER) if standing else (_BESIDE, "restarts after the change")
    return [
        Step(
            text=after if item.reaction is Reaction.RESTARTS else beside,
            effect=Effect.RESTART,
            why=item.reason,
        )
        for item in case.request.disturbances
        # That its checkpoint moves is a change of its own definition
        if item.reaction is not Reaction.RUNS_ON and item.relation is not Relation.KEEPS_STATE_IN
    ]


def _disturbed(request: PlanRequest) -> bool:
    return any(item.reaction is not Reaction.RUNS_ON for item in request.disturbances)


def _term(job: JobDefinition) -> float:
    return rhythm_of(job.runs_in.runtime_location).term


def _heal_steps(desired: JobDefinition, drift: Sequence[str], facts: JobFacts) -> list[Step]:
    if not drift or desired.stopped:
        return []
    text = "runs again" if desired.is_finite else "starts again where its checkpoint stands"
    if facts.elsewhere:
        text += f", if the lease of {facts.elsewhere} stays unchanged for {_term(desired):.0f} s"
    why = "; ".join([drift[0], *broker_positions.start_notes(desired, facts)])
    return [Step(text=text, effect=Effect.STARTS, why=why)]


def _reasons(found: Sequence[JobChange], drift: Sequence[str], case: JobCase) -> tuple[str, ...]:
    words = [change.text for change in found if isinstance(change, MetadataOnly)]
    words += [
        item.reason
        for item in case.request.disturbances
        if item.reaction is Reaction.RUNS_ON and not case.desired.is_finite
    ]
    return (*drift, *dict.fromkeys(words))


def _facts(request: PlanRequest) -> JobFacts:
    facts = observed_facts(request.observed)
    if facts is None:
        facts = _assumed(request) if isinstance(request.observed, Present) else JobFacts()
    identity = request.recorded.identity if request.recorded is not None else _left_identity(request)
    if "proofs" not in identity:
        return facts  # as nearly always: an identity is not decoded for it
    return replace(facts, proofs=JobIdentity.of(identity).proofs)


def _left_identity(request: PlanRequest) -> Attributes:
    """The identity of the job that left the checkpoint of a new one; empty where none did."""
    user = last_user(request, JobDefinition.of(request.desired)) if request.desired is not None else None
    return user.identity if user is not None else {}


def _assumed(request: PlanRequest) -> JobFacts:
    """The facts where nothing was looked at (-refresh=none): queries that are recorded count as having run,
    since a refusal must not get lost.
    """
    queries = recorded_identity(request.recorded).queries
    return JobFacts(
        checkpoints={
            name: OutputFacts(query_id=query.id or "", started=0, committed=0)
            for name, query in queries.items()
        }
    )


def _out_of_reach(request: PlanRequest, facts: JobFacts) -> list[str]:
    """The lines of blockers for records that streams cannot read any more; empty where tables were not looked
    at.
    """
    if request.desired is None or not looked_at(request):
        return []
    case = JobCase(request=request, desired=JobDefinition.of(request.desired), facts=facts)
    found = _unreadable(case)
    return sorted(blocker.line for blocker in found if blocker.code not in _NOT_KNOWN)
