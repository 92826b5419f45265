"""The planner of jobs. Pure: the observation carries everything that was read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flareiac.kernel.data import Data, digest
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.sdk.changes import (
    Action,
    Blocker,
    Effect,
    Proposal,
    Step,
)
from flareiac.sdk.classify import classify
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing
from flareiac_spark.change import blockers as blocking
from flareiac_spark.change.diff import changes
from flareiac_spark.change.drift import (
    at_rest,
    down,
    looked_at,
    stands,
)
from flareiac_spark.change.kept_reading import KEPT, with_kept_reading
from flareiac_spark.change.left_definition import last_user, left_definition
from flareiac_spark.change.proofs import (
    NO_PROOF,
    is_provable,
    needed_proof,
    pair_digest,
)
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation import generation_plan
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.generation.snapshot_holds import held_after
from flareiac_spark.job import written_schemas
from flareiac_spark.job.changed_job import ChangedJob, visible_changes
from flareiac_spark.job.contributions import PlannedJob, contributed
from flareiac_spark.job.job_definitions import begins_generation, checkpoint_move, facts_of, recorded_job
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.plan_steps import start_step
from flareiac_spark.job.refusals import NOT_KNOWN, refused_again, unreadable
from flareiac_spark.job.stages import JobUpdate, closing_of, stages_of
from flareiac_spark.observation.job import JobFacts


class JobPlanner:
    """Three-way: what is declared, what was recorded, what runs."""

    def plan(self, request: PlanRequest) -> Proposal:
        if request.desired is None:
            return _removed(request)
        recorded = recorded_job(request)
        declared = with_kept_reading(JobDefinition.of(request.desired), recorded)
        facts = facts_of(request)
        desired = written_schemas.with_schemas(declared, recorded, facts)
        case = JobCase(request=request, desired=desired, facts=facts)
        if recorded is None or isinstance(request.observed, Missing) or request.replace:
            return _staged(case, _created(case))
        return _staged(case, ChangedJob(case, recorded).proposal())

    def fingerprint(self, request: PlanRequest) -> Data:
        """The definitions, the queries and their checkpoints, for the comparison at apply. Never offsets or
        batches: they move all the time.
        """
        facts, recorded = facts_of(request), request.recorded
        schemas_written = written_schemas.fingerprint(request, facts)
        return {
            "recorded definition": digest(recorded.attributes) if recorded else None,
            "definition that should run": facts.digest,
            "queries": {name: checkpoint.query_id for name, checkpoint in sorted(facts.checkpoints.items())},
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
        recorded=recorded_job(case.request),
        facts=facts_of(case.request),
        changed=payload.analyse,
        live=payload.live,
        text_only=payload.text_only,
        moved=checkpoint_move(case) is not None,
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
    recorded, facts = recorded_job(request), facts_of(request)
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


def _created(case: JobCase) -> Proposal:
    facts, recorded = facts_of(case.request), recorded_job(case.request)
    drift: tuple[str, ...] = ()
    if recorded is not None and isinstance(case.request.observed, Missing):
        drift = (case.request.observed.reason or "it is no longer among what should run",)
    elif recorded is not None:
        drift = down(case.request, recorded, facts)
    own = [*(blocker for blocker in (blocking.misfit(case),) if blocker), *refused_again(case)]
    others = contributed(PlannedJob(case=case, recorded=None, blockers=own, restarts=False))
    blockers = [*own, *others.blockers]
    begun = generation_plan.steps(case) if begins_generation(case) else ()
    payload = _payload_of_new(case, blockers)
    return Proposal(
        action=Action.CREATE,
        planned=case.desired.attributes,
        keeps=KEPT,
        changes=visible_changes(classify(case.desired.attributes, None, None)),
        steps=(start_step(case), *others.steps, *begun),
        reasons=(*drift, *others.reasons),
        blockers=tuple(blockers),
        drift=drift,
        diagnostics=others.diagnostics,
        unknown=others.unknown,
        unproven="SQL",
        provable=payload.proof == NO_PROOF and bool(payload.pair),
        payload=payload.data,
    )


def _payload_of_new(case: JobCase, blockers: Sequence[Blocker]) -> JobPayload:
    """With the proof that a job needs which starts on a checkpoint that another definition left, or that
    would free one which is blocked.
    """
    left = left_definition(case)
    before = recorded_job(case.request) or (left.job if left is not None else None)
    plain = JobPayload(analyse=True, nonce=case.facts.nonce + 1 if case.facts.digest is not None else 0)
    if before is None or begins_generation(case):
        return plain
    job_changes = changes(before, case.desired, case.facts)
    needed = needed_proof(case.request.address, before, case.desired, case.facts, job_changes, is_new=True)
    if needed == NO_PROOF and not is_provable(
        job_changes, before, case.desired, case.facts, len(blockers), unrecorded=False
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


def _out_of_reach(request: PlanRequest, facts: JobFacts) -> list[str]:
    """The lines of blockers for records that streams cannot read any more; empty where tables were not looked
    at.
    """
    if request.desired is None or not looked_at(request):
        return []
    case = JobCase(request=request, desired=JobDefinition.of(request.desired), facts=facts)
    blockers = unreadable(case)
    return sorted(blocker.line for blocker in blockers if blocker.code not in NOT_KNOWN)
