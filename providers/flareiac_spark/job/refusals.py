"""The blockers of a job that is made, changed or started again. Pure."""

from collections.abc import Sequence
from typing import Final

from flareiac.sdk.changes import (
    Blocker,
    blocker,
)
from flareiac_spark import codes
from flareiac_spark.change import blockers as blocking
from flareiac_spark.change.changes import (
    JobChange,
    NewGeneration,
    ResultsChange,
)
from flareiac_spark.change.diff import changes, is_fresh
from flareiac_spark.change.drift import (
    looked_at,
)
from flareiac_spark.change.left_definition import left_definition
from flareiac_spark.change.proofs import (
    is_proven_to_go_on,
)
from flareiac_spark.change.running_definition import running_definition
from flareiac_spark.definition.checkpoint_definition import start_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation import broker_positions, carry_over_blockers, generation_plan, readable
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job import file_folders, schemas, topic_limits
from flareiac_spark.job.job_definitions import begins_generation, checkpoint_move, recorded_job
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.start_from import CARRY_OVER

NO_POSITION: Final = (codes.OFFSET_EXPIRED.id, *broker_positions.LOST_CODES)
NOT_KNOWN: Final = (codes.STREAMABLE_ROWS_UNKNOWN.id, codes.POSITION_UNKNOWN.id)


def moved_and_raised(case: JobCase, recorded: JobDefinition) -> list[Blocker]:
    if checkpoint_move(case) is None or case.desired.generation == recorded.generation:
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


def refused_again(case: JobCase) -> list[Blocker]:
    """The blockers by which a checkpoint that exists refuses a job that is new, or recorded and gone from the
    desired state.
    """
    recorded, left = recorded_job(case.request), left_definition(case)
    if recorded is None and left is not None:
        return refusals_of_changes(
            case,
            left.job,
            changes(left.job, case.desired, case.facts),
            starts=case.desired.starts_by_itself,
        )
    if recorded is None:
        refusals = [
            blocking.unknown_state(case),
            blocking.moved_back(case),
        ]
        emptied = generation_plan.blockers(case) if begins_generation(case) else []
        return [
            *(blocker for blocker in refusals if blocker),
            *emptied,
            *unreadable(case),
        ]
    return refusals_of_changes(case, recorded, changes(recorded, case.desired, case.facts), starts=True)


def unreadable(case: JobCase) -> list[Blocker]:
    """The blockers of records and rows that streams cannot read any more, of those that they begin with or go
    on after.
    """
    if begins_generation(case):
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


def refusals_of_changes(
    case: JobCase,
    recorded: JobDefinition,
    job_changes: Sequence[JobChange],
    *,
    starts: bool,
) -> list[Blocker]:
    if is_fresh(recorded, case.desired):
        elsewhere = blocking.may_run_elsewhere(case, recorded)
        start = start_of(case.desired, case.request.references)
        lost = blocking.of_carry_over(case, job_changes, recorded) if start == CARRY_OVER else []
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
    elsewhere = blocking.other_folder(case)
    if not any(isinstance(change, NewGeneration) for change in job_changes):
        there.append(elsewhere)
        if starts and looked_at(case.request):
            there.append(blocking.other_positions(case))
    if not any(isinstance(change, ResultsChange) for change in job_changes):
        runs = running_definition(case, recorded)
        others = changes(runs, case.desired, case.facts) if runs is not recorded else ()
        proven = is_proven_to_go_on(others, runs, case.desired, case.facts)
        there.append(blocking.unrecorded(case, recorded, others, proven=proven))
    checked = starts and looked_at(case.request) and not any(there)
    reads = _unreadable_by_start(case) if checked else []
    carries = elsewhere is None and not any(blocker.code in NO_POSITION for blocker in reads)
    return [
        *blocking.of_changes(case, job_changes, recorded, carries=carries),
        *blocking.used_folders(case, recorded),
        *blocking.used_checkpoint(case),
        *blocking.cut_off(case, recorded),
        *(blocker for blocker in there if blocker),
        *reads,
    ]


def stopped_for_nothing(facts: JobFacts) -> list[Blocker]:
    """Blocks the restart of a job that runs, and the next generation of any, where the start is known to
    fail: the job would be down, or its tables emptied, for nothing.
    """
    return [
        blocker(
            codes.SOURCE_FOLDER_MISSING,
            why=f"The job reads {path}, which does not exist, so that it could not start"
            + (" again once it is stopped." if is_running(facts) else "."),
            ways_out=(f"create {path}", "correct the path of the stream"),
        )
        for path in facts.absent
    ]


def is_running(facts: JobFacts) -> bool:
    return facts.state == "running"
