"""The reasons that a job cannot be applied as written, and the lines to paste for each way out. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.paths import render_path
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Blocker, Reaction, blocker
from flareiac.sdk.lakehouse import writers_of
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.change.acceptance_token import token, token_of
from flareiac_spark.change.changes import OLD_SQL, JobChange, NewGeneration, ResultsChange, rules_of
from flareiac_spark.change.drift import looked_at
from flareiac_spark.change.left_definition import left_generation
from flareiac_spark.change.query_changes import holds_state
from flareiac_spark.change.source_folders import declared_paths, left_behind
from flareiac_spark.definition.build import query_digest, spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import recorded_identity
from flareiac_spark.definition.moved_checkpoint import standing_location
from flareiac_spark.definition.queries import declares_state
from flareiac_spark.definition.stream_positions import read_in_order
from flareiac_spark.generation.generation_plan import carries_over, lines, start_again
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.instance_lines import line
from flareiac_spark.observation.job import OutputFacts
from flareiac_spark.sources.source import UNKNOWN
from flareiac_spark.start_from import CARRY_OVER
from flareiac_spark_runtime.control.checkpoint_identity import lost_checkpoint as lost_by

_NEW_JOB = "declare a new job for it, with a checkpoint and tables of its own"


def of_changes(
    case: JobCase,
    changes: Sequence[JobChange],
    recorded: JobDefinition,
    *,
    carries: bool = True,
) -> list[Blocker]:
    """A blocker for each refused change, and one for all changes of results unless they are accepted.

    ``carries``: offsets can be taken over.
    """
    refused = [change for change in changes if isinstance(change, NewGeneration)]
    mixed = [change for change in changes if isinstance(change, ResultsChange)]
    blocked = [_refused(change, case, recorded, carries=carries) for change in refused]
    if mixed and not is_accepted(case.request.address, mixed, case.desired, recorded):
        ways = new_generation(case, recorded, carries=carries)
        blocked.append(
            _mixed(case.request.address, mixed, case.desired, recorded, ways, acceptable=not refused)
        )
    return blocked


def is_accepted(
    address: str, mixed: Sequence[ResultsChange], desired: JobDefinition, recorded: JobDefinition
) -> bool:
    """Returns True if someone gave their word for exactly these changes."""
    return bool(mixed) and desired.accept_result_change == token_of(
        address, mixed, recorded.accept_result_change
    )


def of_carry_over(
    case: JobCase,
    changes: Sequence[JobChange],
    recorded: JobDefinition,
) -> list[Blocker]:
    """The reasons that a raised generation cannot go on where the last one stands: its offsets are not those
    of the rows that the tables hold.
    """
    so_far = replace(case, desired=replace(case.desired, generation=(case.desired.generation or 1) - 1))
    moved = [
        change
        for change in changes
        if isinstance(change, NewGeneration) and change.rereadable and not change.carries
    ]
    there = [
        lost_checkpoint(so_far),
        moved_back(so_far),
        other_folder(so_far),
    ]
    return [
        *(_refused(change, so_far, recorded) for change in moved),
        *(blocker for blocker in there if blocker),
    ]


def _refused(
    change: NewGeneration,
    case: JobCase,
    recorded: JobDefinition,
    *,
    carries: bool = True,
) -> Blocker:
    rereadable = (
        new_generation(case, recorded, carries=carries and change.carries)
        if change.rereadable
        else (_NEW_JOB,)
    )
    return blocker(
        codes.CHANGE_NOT_ON_CHECKPOINT,
        why=f"{_begun(change.text)} ({render_path(change.path)}): {change.why}",
        ways_out=(f"undo: {change.undo}", *rereadable),
        rules=change.rules,
    )


def _mixed(
    address: str,
    mixed: Sequence[ResultsChange],
    desired: JobDefinition,
    recorded: JobDefinition,
    ways: Sequence[str],
    *,
    acceptable: bool,
) -> Blocker:
    known = all(change.known for change in mixed)
    texts = [f"{_begun(change.text)}: {_old_and_new(change)}{change.why}" for change in mixed]
    if not known:
        texts.insert(0, "Results may change their meaning halfway.")
    word = token_of(address, mixed, recorded.accept_result_change)
    accept = (
        f"accept that results mean something else from then on, in this job:\n  {_accepting(address, word)}"
    )
    stale = desired.accept_result_change
    if stale:
        texts.append(f'The value "{stale}" of accept_result_change was given for another change.')
    whole = {change.path for change in mixed if change.undo == OLD_SQL}
    undo = "; ".join(dict.fromkeys(OLD_SQL if change.path in whole else change.undo for change in mixed))
    return blocker(
        codes.RESULTS_MIX,
        why="\n".join(texts),
        ways_out=(f"undo: {undo}", *((accept,) if acceptable else ()), *ways),
        rules=rules_of(mixed),
    )


def _begun(text: str) -> str:
    """As the beginning of a sentence; a setting's name stays as it is written."""
    return text if text.startswith("spark.") else f"{text[:1].upper()}{text[1:]}"


def _old_and_new(change: ResultsChange) -> str:
    """Old and new where they are short texts, and not said yet."""
    if " -> " in change.text:
        return ""
    match change.before, change.after:
        case [_, str() as before, *_], [_, str() as after, *_] if before or after:
            return f"{before or 'nothing'} -> {after or 'nothing'}. "
        case _:
            return ""


def _accepting(address: str, token: str) -> str:
    return line(address, "accept_result_change", token)


def new_generation(
    case: JobCase,
    recorded: JobDefinition | None,
    *,
    carries: bool = True,
) -> tuple[str, ...]:
    """The lines of a new generation, from the beginning and, where offsets can be taken over, from the last
    batch on.
    """
    if case.desired.generation is None:
        return ()
    place, before = case.desired.checkpoint, _newest_generation(case)
    start, rebuild, words = start_again(case)
    texts = [f"{words}, in {place}:\n{lines(case.desired, start, before, rebuild=rebuild)}"]
    if carries and recorded is not None and carries_over(case.desired, recorded):
        state = ", and leave the state behind" if declares_state(recorded) else ""
        what = f"keep the offsets and the rows{state}"
        texts.append(f"{what}, in {place}:\n{lines(case.desired, CARRY_OVER, before, rebuild=False)}")
    return tuple(texts)


def _newest_generation(case: JobCase) -> int:
    """The number of the last generation that is known, also where an older one is declared."""
    numbers = [
        case.desired.generation,
        case.facts.given_generation,
        left_generation(case.request, case.desired),
    ]
    if case.request.recorded is not None:
        numbers.append(JobDefinition.of(case.request.recorded.attributes).generation)
    return max((number for number in numbers if number is not None), default=1)


def lost_checkpoint(case: JobCase) -> Blocker | None:
    """The query that was recorded must still be the one on disk: an empty folder would read everything
    again.
    """
    recorded = case.request.recorded
    if recorded is None or not looked_at(case.request):
        return None
    for name, query in sorted(recorded_identity(recorded).queries.items()):
        on_disk = case.facts.checkpoints.get(name)
        used = {case.desired.query_of(output) for output in case.desired.outputs}
        if name not in used or not query.id:
            continue
        place = standing_location(JobDefinition.of(recorded.attributes), case.request.references) or ""
        id_on_disk = on_disk.query_id if on_disk is not None else None
        lost = lost_by(place, name, known=query.id, id_on_disk=id_on_disk)
        if lost is None:
            continue
        return blocker(
            codes.CHECKPOINT_LOST,
            why=f"{lost.what}. {lost.why}",
            ways_out=(
                "put the folder back where it was",
                *new_generation(case, None)[:1],
            ),
        )
    return None


def moved_back(case: JobCase) -> Blocker | None:
    """A checkpoint older than what its query has written: Iceberg passes over the batches that it knows,
    whatever is in them now.
    """
    if not looked_at(case.request):
        return None  # no one looked where it stands
    for name, output in sorted(case.desired.table_outputs.items()):
        on_disk = case.facts.checkpoints.get(case.desired.query_of(name))
        table = case.request.references.get(output.table.address)
        if on_disk is None or table is None:
            continue
        written = writers_of(table.identity).queries.get(on_disk.query_id)
        epoch = written.batch_of(name) if written is not None else None
        if epoch is not None and epoch > (-1 if on_disk.started is None else on_disk.started):
            stands = "before its first batch" if on_disk.started is None else f"at batch {on_disk.started}"
            return blocker(
                codes.CHECKPOINT_OLDER_THAN_TABLE,
                why=(
                    f"The checkpoint of output {name} stands {stands}, and {output.table} holds its batch "
                    f"{epoch}. It was set back, as by a backup. Query {on_disk.query_id} would number its "
                    "next batches like some that are in the table, and Iceberg would silently skip these: "
                    "rows would be lost."
                ),
                ways_out=(
                    "put back the newest folder of the checkpoint",
                    *new_generation(case, None),
                ),
            )
    return None


def may_run_elsewhere(case: JobCase, recorded: JobDefinition) -> Blocker | None:
    """A job that moves must have ended in its old application. Of one on another host the lease tells, which
    only an apply can watch.
    """
    if not recorded.moves_to(case.desired) or not looked_at(case.request) or case.facts.elsewhere:
        return None
    has_run = bool(recorded_identity(case.request.recorded).queries)
    if case.facts.silent:
        why, way = case.facts.silent, "let it continue, or end its process if it hangs; then plan again"
    elif has_run and case.facts.heard_ms is None:
        why = f"its control directory {recorded.runs_in.runtime_location} says nothing of an application"
        way = f"apply once with the old engine ({recorded.engine}) and move the job then"
    else:
        return None
    return blocker(
        codes.MOVE_UNCERTAIN,
        why=f"It moves to another application, and whether the old one still runs it is not known: {why}.",
        ways_out=(way,),
    )


def misfit(case: JobCase) -> Blocker | None:
    """A new job on a checkpoint that has been used must read the same sources."""
    for name, on_disk in sorted(case.facts.checkpoints.items()):
        kinds = sorted(stream.source.kind for stream in case.desired.streams.values())
        disk_kinds = sorted(kind for kind, _folders in on_disk.sources)
        if not on_disk.sources or UNKNOWN in disk_kinds:
            continue
        if kinds != disk_kinds:
            why = (
                f"Query {on_disk.query_id} read {_counted(disk_kinds)}; this job reads "
                f"{_counted(kinds)}. Spark cannot continue from there."
            )
        elif (elsewhere := _left_behind(case, on_disk)) is not None:
            why = (
                f"Query {on_disk.query_id} read files in {elsewhere}; this job reads others. Spark "
                "cannot continue from there."
            )
        elif (positions := _other_positions(case.desired, name, on_disk)) is not None:
            why = positions
        else:
            continue
        return blocker(
            codes.CHECKPOINT_OF_OTHER_SOURCES,
            why=f"Output {name}: {why[:1].lower()}{why[1:]}",
            ways_out=("use a checkpoint of its own", *new_generation(case, None)[:1]),
        )
    return None


def other_positions(case: JobCase) -> Blocker | None:
    """The same definition on a checkpoint that was edited, or put back from another query: its offsets would
    be those of other streams.
    """
    for name, on_disk in sorted(case.facts.checkpoints.items()):
        why = _other_positions(case.desired, name, on_disk)
        if why is not None:
            return blocker(
                codes.CHECKPOINT_OF_OTHER_SOURCES,
                why=f"Output {name}: {why[:1].lower()}{why[1:]}",
                ways_out=(
                    "put back the newest folder of the checkpoint",
                    *new_generation(case, None)[:1],
                ),
            )
    return None


def _other_positions(desired: JobDefinition, query: str, on_disk: OutputFacts) -> str | None:
    """Says why the offsets of a query are not those of the streams that a job reads; None where they may
    be.
    """
    output = next((name for name in desired.outputs if desired.query_of(name) == query), None)
    read = read_in_order(desired, output) if output is not None else None
    if read is None or not on_disk.positions or UNKNOWN in on_disk.positions:
        return None
    kinds = [desired.streams[name].source.kind for name in read]
    if kinds == list(on_disk.positions):
        return None
    return (
        f"Query {on_disk.query_id} has the positions of {_counted(on_disk.positions)} in its offsets, and "
        f"this job reads {_counted(kinds)}, each time that its steps name a stream counted. Spark cannot "
        "continue from there."
    )


def other_folder(case: JobCase) -> Blocker | None:
    """The folders that a checkpoint has read are not those that the job reads: the project was copied or
    moved, or is reached by another path, or the stream declares another folder.
    """
    for name, on_disk in sorted(case.facts.checkpoints.items()):
        folder = _left_behind(case, on_disk)
        if folder is not None:
            read = declared_paths(case.desired, case.request.project)
            recorded = case.request.recorded
            before = (
                declared_paths(JobDefinition.of(recorded.attributes), case.request.project)
                if recorded
                else read
            )
            cause, undo = (
                (
                    " The project was copied or moved, or its folder is reached by another path.",
                    "run flareiac where the project was, or move the folder of files back",
                )
                if before == read
                else ("", f"read files in {folder} again")
            )
            return blocker(
                codes.FILES_HAVE_OTHER_PATH,
                why=(
                    f"The checkpoint of output {name} has read files in {folder}, and this job reads "
                    f"{' and '.join(read) or 'no files'}.\n"
                    "Spark remembers files by their absolute paths: under another path it reads all of them "
                    f"again, and repeats their rows.{cause}"
                ),
                ways_out=(undo, *new_generation(case, None)),
            )
    return None


def _left_behind(case: JobCase, on_disk: OutputFacts) -> str | None:
    folders = (folder for _kind, source_folders in on_disk.sources for folder in source_folders)
    return left_behind(folders, declared_paths(case.desired, case.request.project))


def unknown_state(case: JobCase) -> Blocker | None:
    """A new job on a checkpoint with state, made by a query that is not known here: whether it fits no one
    can tell.
    """
    if case.facts.digest is not None:
        return None  # it is among what should run: an apply that was cut short had started it
    held = {
        name: checkpoint
        for name, checkpoint in sorted(case.facts.checkpoints.items())
        if checkpoint.operators
    }
    word = unknown_state_token(case.request.address, case.desired, held)
    if not held or case.desired.accept_result_change == word:
        return None
    operators = ", ".join(
        dict.fromkeys(operator for checkpoint in held.values() for operator in checkpoint.operators)
    )
    queries = ", ".join(checkpoint.query_id for checkpoint in held.values())
    return blocker(
        codes.STATE_OF_UNKNOWN_DEFINITION,
        why=(
            f"Query {queries} left state ({operators}). If this job's steps differ from those that made it, "
            "Spark refuses some differences and silently accepts others, and results mix."
        ),
        ways_out=(
            f"the steps are the same as before: in this job:\n  {_accepting(case.request.address, word)}",
            *new_generation(case, None)[:1],
        ),
    )


def unknown_state_token(address: str, desired: JobDefinition, held: dict[str, OutputFacts]) -> str:
    """A word for these steps on the state of these queries."""
    return token(
        address,
        [
            sorted(checkpoint.query_id for checkpoint in held.values()),
            encode(desired.step_order),
            encode(desired.steps),
            encode(desired.outputs),
        ],
    )


def unrecorded(
    case: JobCase,
    recorded: JobDefinition,
    others: Sequence[JobChange],
    *,
    proven: bool,
) -> Blocker | None:
    """State that a definition made which an apply could not record: the recorded one says nothing of it.
    ``others``: the changes from what is set to run; ``proven``: Spark proves that it goes on with that state.
    """
    was = recorded_identity(case.request.recorded).digest
    if (
        case.facts.digest in (None, was)
        or case.facts.query is None
        or not any(holds_state(recorded, checkpoint) for checkpoint in case.facts.checkpoints.values())
    ):
        return None
    wanted = _query_of(case.request, case.desired)
    if wanted is None:
        return None  # tables are missing, which is reported in its own place
    # After such a change the same records give other values
    read = [other for other in others if isinstance(other, ResultsChange) and other.path[0] == "inputs"]
    reads = [[list(change.path), change.before, change.after] for change in read]
    word = token(case.request.address, [case.facts.query, wanted, *reads])
    same = proven or case.facts.query in (wanted, _query_of(case.request, recorded))
    if (same and not reads) or case.desired.accept_result_change == word:
        return None
    accept = _accepting(case.request.address, word)
    return blocker(
        codes.UNRECORDED_DEFINITION_RAN,
        why=(
            "An apply set another definition than the recorded one to run and could not call it stable, so "
            "that the state may hold its values. With the declared steps results may "
            "mean something else from then on."
        ),
        ways_out=(
            "apply that definition again, until it is stable",
            f"go on with the declared one all the same, in this job:\n  {accept}",
            *new_generation(case, recorded)[:1],
        ),
    )


def _query_of(request: PlanRequest, job: JobDefinition) -> str | None:
    """See ``query_digest``. None where what it refers to is missing."""
    try:
        spec = spec_of(request.address, job.attributes, request.references, request.project, analysis=True)
    except (Failure, KeyError):
        return None
    return query_digest(spec)


def cut_off(case: JobCase, recorded: JobDefinition) -> list[Blocker]:
    """The blockers of changes in this plan that take from a query its source or table, without which it
    cannot go on.
    """
    return [
        blocker(
            codes.SOURCE_CHANGE_ENDS_JOB,
            why=f"{disturbance.reason[:1].upper()}{disturbance.reason[1:]}.",
            ways_out=(
                *new_generation(case, recorded, carries=False),
                "leave what it reads as it is",
            ),
        )
        for disturbance in case.request.disturbances
        if disturbance.reaction is Reaction.CAN_NOT and not case.desired.stopped
    ]


def used_folders(case: JobCase, recorded: JobDefinition) -> list[Blocker]:
    """An output that is new has no past: a folder of its name that a query has used would be gone on from."""
    if case.request.recorded is not None and case.facts.digest not in (
        None,
        recorded_identity(case.request.recorded).digest,
    ):
        return []  # an apply that was cut short has started it
    # Of bad records, what came meanwhile is missing in the quarantine: going on is what is wanted.
    names = {
        case.desired.query_of(output): output
        for output in case.desired.declared_outputs
        if output not in recorded.outputs
    }
    known = {recorded.query_of(output) for output in recorded.outputs}
    return [
        blocker(
            codes.NEW_OUTPUT_FOLDER_USED,
            why=(
                f"Query {case.facts.checkpoints[name].query_id} has run in "
                f"{case.desired.checkpoint_location} "
                f"under the name {output}. Started there, the output would continue where that query "
                "stopped, and "
                "not from the beginning."
            ),
            ways_out=(
                "give the output another name",
                "move that folder away, if its offsets are of no use any more",
            ),
        )
        for name, output in names.items()
        if name in case.facts.checkpoints and name not in known
    ]


def used_checkpoint(case: JobCase) -> list[Blocker]:
    """A checkpoint in place of another one, in which a query has run: what is recorded of this job says
    nothing of that query, whatever has become of the recorded definition.
    """
    if case.facts.started or case.facts.given_generation is not None:
        return []  # that is refused by itself, or was begun by an apply that was cut short
    if not case.facts.used:
        return []
    queries = ", ".join(dict.fromkeys(checkpoint.query_id for checkpoint in case.facts.used.values()))
    return [
        blocker(
            codes.CHECKPOINT_OF_ANOTHER_QUERY,
            why=(
                f"Query {queries} has run in {case.desired.checkpoint_location}. Started there, the "
                "job would "
                "go on from its offsets and its state, and the definition that is recorded of "
                f"{case.request.address} is not the one that made them."
            ),
            ways_out=(
                "use a checkpoint in which nothing has run",
                "remove the block of the job, apply, and write it again: what left it is compared",
            ),
        )
    ]


def _counted(kinds: Sequence[str]) -> str:
    return ", ".join(f"{kinds.count(kind)} of kind {kind}" for kind in dict.fromkeys(kinds)) or "no stream"
