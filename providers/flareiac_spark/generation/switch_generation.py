"""Moves a job to a new generation of its checkpoint: finishes the last batch of the old one, empties what is
rebuilt, prepares the new folders.

Called once the old query has stopped and before the new one is among what should run. Whatever point it is
interrupted at, doing it again gives the same result: only the new definition in ``desired.json`` makes a
prepared folder the one in use.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.kill_points import reach
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest
from flareiac_spark import codes
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.application.liveness import jvm_of
from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.layout import ALL
from flareiac_spark.checkpoint_files.reader import (
    CheckpointOnDisk,
    Damaged,
    is_begun,
    note_of,
    preparation_note,
    read_checkpoint,
)
from flareiac_spark.control import (
    ControlError,
    Finish,
    JobSpec,
    Marks,
    Output,
    StreamInput,
    TableSource,
    Target,
    Truncate,
    Truncated,
    is_running,
    job_spec_from_json,
    job_spec_to_json,
)
from flareiac_spark.control.atomic_files import write_json
from flareiac_spark.control.timestamps import start_timestamp
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.generation.carry_over import Copied, Decision, Positions, Refusal, decide
from flareiac_spark.generation.carry_over_blockers import cannot_carry_over, only_tables
from flareiac_spark.generation.operation_client import A_BATCH, A_WHILE, OperationClient, cancelled
from flareiac_spark.generation.prepare import LastBatch, StartPositions, positions_at, prepare, times_at
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.instance_lines import line
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, LATEST, OLDEST_SNAPSHOT

_JVM_ENDS: Final = 60.0
_FROM_START: Final = (EARLIEST, OLDEST_SNAPSHOT)
_WORDS: Final = {
    EARLIEST: "the beginning",
    OLDEST_SNAPSHOT: "the oldest snapshot that is left",
    LATEST: "what comes from now on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSwitch:
    """``rebuilds`` is to be recorded of the job: by output, the table, the snapshot before it was emptied,
    and the generation.
    """

    messages: tuple[str, ...] = ()
    rebuilds: Mapping[str, Attributes] = field(default_factory=dict)


def begins_generation(request: ApplyRequest) -> bool:
    """Whether an apply takes a job to another generation of its checkpoint, or makes it in one that is not
    the first.
    """
    after = request.planned["generation"] if request.planned is not None else None
    if after is None:
        return False
    before = _before(request)
    return bool(after > 1 if before is None else after != before["generation"])


def _before(request: ApplyRequest) -> Attributes | None:
    """The definition that was recorded on the same checkpoint; on another one a job is new."""
    before = request.recorded.attributes if request.recorded is not None else None
    if before is None or request.planned is None or before["generation"] is None:
        return None
    return before if before["checkpoint_location"] == request.planned["checkpoint_location"] else None


def old_spec(request: ApplyRequest, applications: Applications) -> JobSpec | None:
    """The definition before: what the application was last asked to run, which also an apply that failed may
    have changed; else the recorded one. None for a job that is new on its checkpoint.
    """
    before = _before(request)
    if before is None:
        return None
    desired = read_desired(applications.control(before["application"]))
    entry = desired.jobs.get(request.address) if desired is not None else None
    if entry is not None:
        try:
            return job_spec_from_json(dict(entry.spec))
        except ControlError:
            pass  # of another release: the recorded definition is as good
    return spec_of(request.address, before, _references_before(request, before), applications.project)


def refusals(request: ApplyRequest, applications: Applications) -> tuple[Diagnostic, ...]:
    """Why the new generation cannot begin as asked; nothing has been changed or stopped yet. Reads the disk
    only.
    """
    assert request.planned is not None, "a removal renews nothing"
    try:
        old = old_spec(request, applications)
        new = spec_of(
            request.address, request.planned, request.references, applications.project, analysis=True
        )
        if _is_in_use(request, new, applications):
            _refuse_other_state(request, old, new)
        else:
            for pair in _Switch(request, old, new, applications).pairs():
                pair.check()
    except Failure as failure:
        return failure.diagnostics
    return ()


def switch_generation(
    request: ApplyRequest, old: JobSpec | None, new: JobSpec, applications: Applications
) -> GenerationSwitch:
    """Prepares the folders of ``new``; the query of ``old`` must have been asked to stop, and its application
    have said that it did, or be gone. Folders that the application knew before are left as they are.
    Raises ``Failure``.
    """
    if _is_in_use(request, new, applications):
        _refuse_other_state(request, old, new)
        return GenerationSwitch(rebuilds=rebuilds_noted(new))
    await_jvm(request, applications)
    return _Switch(request, old, new, applications).run()


def _is_in_use(request: ApplyRequest, new: JobSpec, applications: Applications) -> bool:
    assert request.planned is not None, "a removal renews nothing"
    desired = read_desired(applications.control(request.planned["application"]))
    entry = desired.jobs.get(request.address) if desired is not None else None
    outputs = entry.spec.get("outputs") if entry is not None else None
    told = (
        {item.get("checkpoint") for item in outputs if isinstance(item, dict)}
        if isinstance(outputs, list)
        else set()
    )
    return bool(told & {output.checkpoint for output in new.outputs})


def _refuse_other_state(request: ApplyRequest, old: JobSpec | None, new: JobSpec) -> None:
    """An apply that failed may have begun the generation with another definition, and left its state there.
    Raises ``Failure``.
    """
    if old is None or request.planned is None or _meaning(old) == _meaning(new):
        return
    number, place = request.planned["generation"], request.planned["checkpoint"]
    why = (
        f"Generation {number} was begun by an apply that was not recorded, and its state is there. This "
        "definition would continue from that state, and results would mix."
    )
    ways = (
        "write the definition again that began it",
        f"begin another one, in {place}:\n  {line(place, 'generation', number + 1, number)}",
    )
    for folder, _outputs in folders(new).values():
        try:
            found = read_checkpoint(folder)
        except Damaged as trouble:
            raise Failure(damage(request.address, trouble)) from None
        if found is not None and found.started is not None and found.operators:
            raise Failure(refused(request.address, blocker(codes.GENERATION_OF_OTHER_DEFINITION, why, ways)))


def _meaning(spec: JobSpec) -> object:
    reads = [(item.name, item.watermark) for item in spec.inputs if isinstance(item, StreamInput)]
    return spec.steps, spec.code, reads, [(item.name, item.source, item.mode) for item in spec.outputs]


def rebuilds_noted(new: JobSpec) -> dict[str, Attributes]:
    """What an apply that did not come to its end emptied; it is noted beside the folders."""
    found: dict[str, Attributes] = {}
    for folder, _outputs in folders(new).values():
        found |= rebuilds_in(folder)
    return found


def rebuilds_in(folder: Path) -> dict[str, Attributes]:
    """What was emptied for the generation in a folder, by output."""
    try:
        noted = (preparation_note(folder) or {}).get("rebuilds")
    except Damaged:
        return {}
    return noted if isinstance(noted, dict) else {}


def await_jvm(request: ApplyRequest, applications: Applications) -> None:
    """A JVM may outlive its driver for seconds, and commit. Raises ``Failure``."""
    if request.recorded is None:
        return
    status = read_status(applications.control(request.recorded.attributes["application"]))
    jvm = jvm_of(status) if status is not None and liveness(status) is Liveness.GONE else None
    deadline = time.monotonic() + _JVM_ENDS
    while jvm is not None and is_running(jvm):
        if request.cancel.wait(0.2):
            raise Failure(cancelled(request.address))
        if time.monotonic() > deadline:
            raise Failure(outlived(request.address, jvm.pid))


def _references_before(request: ApplyRequest, before: Attributes) -> dict[str, Resolved]:
    """The references with the checkpoint as it was."""
    reference = before["checkpoint"]
    if not isinstance(reference, Reference) or reference.address not in request.references:
        return dict(request.references)
    checkpoint = request.references[reference.address]
    was = {
        **checkpoint.attributes,
        "generation": before["generation"],
        "location": before["checkpoint_location"],
    }
    return {**request.references, reference.address: replace(checkpoint, attributes=was)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """One query before and after: ``old`` None where the output is new."""

    renewal: "_Switch"
    name: str
    folder: Path
    old_folder: Path | None
    old_outputs: tuple[Output, ...]
    new_outputs: tuple[Output, ...]

    def before(self) -> tuple[Path, CheckpointOnDisk | None] | None:
        """The folder that counts, and what is in it. One that was only prepared to go on after another stands
        for that one.
        """
        folder = self.old_folder
        try:
            while folder is not None:
                found = read_checkpoint(folder)
                note = None if found is not None else preparation_note(folder)
                earlier = note.get("after") if note is not None else None
                if not isinstance(earlier, str):
                    return folder, found
                folder = Path(earlier)
                if note is not None and note.get("batch") is not None and not is_begun(folder):
                    raise Damaged(
                        folder,
                        f"it is gone, and {self.old_folder} was prepared to go on after batch "
                        f"{note['batch']} of it",
                    )
        except Damaged as trouble:
            raise Failure(damage(self.renewal.address, trouble)) from None
        return None

    def emptied(self) -> dict[str, Attributes]:
        """What an apply that was given up had emptied for a generation in which no query has begun, by
        output.
        """
        first = (self.renewal.before["generation"] if self.renewal.before is not None else 0) + 1
        found: dict[str, Attributes] = {}
        for number in range(first, self.renewal.generation + 1):
            found |= rebuilds_in(self.folder.with_name(f"g{number:04d}"))
        return found

    def check(self) -> None:
        """Raises ``Failure`` if this query cannot begin."""
        try:
            state = folder_state(self.folder, self.renewal.by)
        except Damaged as trouble:
            raise Failure(damage(self.renewal.address, trouble)) from None
        if state not in (FolderState.ABSENT, FolderState.PREPARED):
            raise Failure(in_the_way(self.renewal.address, self.folder, state))
        for output in self.new_outputs:
            if (
                (lost := self.emptied().get(output.name))
                and self.renewal.start_from not in _FROM_START
                and not self.renewal.is_rebuilt(output)
            ):
                raise Failure(_emptied_before(self.renewal.address, lost, self.renewal.start_from))
        if self.renewal.start_from == CARRY_OVER:
            decision = self.decision()
            if isinstance(decision, Refusal):
                raise Failure(
                    refused(self.renewal.address, cannot_carry_over(self.renewal.after, self.name, decision))
                )
        elif self.renewal.start_from not in _FROM_START:
            others = sorted(
                {item.source.kind for item in self.renewal.new.inputs if isinstance(item, StreamInput)}
                - {"table"}
            )
            if others:
                raise Failure(
                    refused(
                        self.renewal.address, only_tables(self.renewal.after, self.renewal.start_from, others)
                    )
                )

    def decision(self) -> Decision:
        known = self.before()
        found = known[1] if known is not None else None
        before, after = self.renewal.before, self.renewal.after
        if found is not None and before is None:
            return Refusal(why="the job is new, and the query that ran there is not known")
        new = query_streams(JobDefinition.of(after), self.name, _uuids(self.renewal.new))
        old = (
            query_streams(JobDefinition.of(before), self.name, _uuids(self.renewal.old))
            if before is not None and self.old_outputs
            else new
        )
        if found is not None and found.started is not None:
            old = replace(old, stateful=bool(found.operators))  # the disk knows better than the text
        return decide(old, new, tuple(source.kind for source in found.sources) if found is not None else ())


class _Switch:
    def __init__(
        self, request: ApplyRequest, old: JobSpec | None, new: JobSpec, applications: Applications
    ) -> None:
        assert request.planned is not None, "a removal renews nothing"
        self.request, self.old, self.new, self.applications = request, old, new, applications
        self.address, self.before, self.after = request.address, _before(request), request.planned
        self.checkpoint = _checkpoint(request)
        self.start_from: str = self.checkpoint.attributes["start_from"] or CARRY_OVER
        self.generation: int = self.after["generation"]
        self.by = f"{applications.project.lineage}/{self.checkpoint.address}"
        self._asking = OperationClient(request, self.after["application"], applications)

    def pairs(self) -> list[_Pair]:
        """The queries of the new definition, each with the one of the same name before."""
        before = folders(self.old) if self.old is not None else {}
        found = []
        for name, (folder, outputs) in folders(self.new).items():
            if self.before is None and self._has_begun(folder):
                continue  # a new job takes it over as it stands
            old_folder, old_outputs = before.get(name, (None, ()))
            old_folder = self._begun_since(folder) or old_folder
            found.append(
                _Pair(
                    renewal=self,
                    name=name,
                    folder=folder,
                    old_folder=old_folder,
                    old_outputs=tuple(old_outputs),
                    new_outputs=tuple(outputs),
                )
            )
        return found

    def _begun_since(self, folder: Path) -> Path | None:
        """A newer generation than the recorded one in which a query has run for this checkpoint: of an apply
        that was forgotten.
        """
        before = self.before["generation"] if self.before is not None else 0
        older = (folder.with_name(f"g{number:04d}") for number in range(self.generation - 1, before or 0, -1))
        return next(
            (
                item
                for item in older
                if self._has_begun(item) and (self.before is None or self._is_ours(item))
            ),
            None,
        )

    def _has_begun(self, folder: Path) -> bool:
        try:
            return is_begun(folder)
        except Damaged as trouble:
            raise Failure(damage(self.address, trouble)) from None

    def _is_ours(self, folder: Path) -> bool:
        try:
            return (preparation_note(folder) or {}).get("by") == self.by
        except Damaged as trouble:
            raise Failure(damage(self.address, trouble)) from None

    def run(self) -> GenerationSwitch:
        pairs = self.pairs()
        for pair in pairs:
            pair.check()
        settled = {pair.name: self._settle(pair) for pair in pairs}
        reach("apply.settled")
        rebuilds: dict[str, Attributes] = {}
        for pair in pairs:
            rebuilds |= pair.emptied()
            for output in pair.new_outputs:
                if self.is_rebuilt(output):
                    rebuilds[output.name] = self._rebuild(output, settled[pair.name])
                    self._note(
                        pair,
                        {
                            name: item
                            for name, item in rebuilds.items()
                            if name in {each.name for each in pair.new_outputs}
                        },
                    )
        reach("apply.truncated")
        messages = [self._seed(pair, settled[pair.name], rebuilds) for pair in pairs]
        reach("apply.seeded")
        return GenerationSwitch(messages=(*messages, *_emptied_texts(rebuilds)), rebuilds=rebuilds)

    # Where the old generation stands

    def _settle(self, pair: _Pair) -> LastBatch | None:
        """The last batch whose rows are everywhere. None: no query has run there, or it does not matter."""
        known = pair.before()
        if known is None:
            return None
        folder, found = known
        if found is None:
            return LastBatch(folder=folder, query_id="", batch=None)
        batch = found.started
        if self.start_from not in _FROM_START and found.in_flight is not None and self.old is not None:
            batch = self._settle_batch(pair, found, found.in_flight)
        return LastBatch(folder=folder, query_id=found.query_id, batch=batch)

    def _settle_batch(self, pair: _Pair, found: CheckpointOnDisk, batch: int) -> int | None:
        assert self.old is not None, "a batch in flight was begun by an old definition"
        targets = tuple(target(output, self.old) for output in pair.old_outputs)
        marked = self._asking.ask(
            Marks(query_id=found.query_id, batch=batch, targets=targets), A_WHILE
        ).marked
        if len(marked) == len(targets):
            return batch
        if not marked:
            return batch - 1 if batch > 0 else None
        self.request.progress(f"finishing batch {batch}: {', '.join(marked)} has it, and others have not")
        spec = job_spec_to_json(replace(self.old, outputs=pair.old_outputs))
        self._asking.ask(
            Finish(spec=spec, checkpoint=str(pair.old_outputs[0].checkpoint), batch=batch), A_BATCH
        )
        return batch

    # Rebuilding

    def is_rebuilt(self, output: Output) -> bool:
        """Only where rows are read again; what replaces everything with each batch needs no emptying."""
        if self.start_from in (CARRY_OVER, LATEST) or output.mode in ("complete", "overwrite"):
            return False
        return bool(self.after["outputs"][output.name].get("rebuild") == "truncate")

    def _rebuild(self, output: Output, settled: LastBatch | None) -> Attributes:
        origin = (settled.query_id if settled is not None else "") or f"{self.by}/{output.name}"
        work = Truncate(
            target=target(output, self.new), mark=f"{origin}/g{self.generation:04d}", asked=time.time()
        )
        self.request.progress(f"emptying {'.'.join(output.identifier)}")
        truncated = self._asking.ask(work, A_WHILE).truncated or Truncated(snapshot_id=None)
        table = self.after["outputs"][output.name]["table"]
        return {
            "table": table.address if isinstance(table, Reference) else str(table),
            "branch": output.branch,
            "snapshot_id": truncated.snapshot_id,
            "generation": self.generation,
            "generation_before": self.before["generation"] if self.before is not None else None,
            "at": int(time.time()),
        }

    # Preparing

    def _note(self, pair: _Pair, rebuilds: Mapping[str, Attributes]) -> None:
        """At once: an apply that is given up here leaves an empty table, and nothing else would tell."""
        try:
            pair.folder.parent.mkdir(parents=True, exist_ok=True)
            write_json(
                note_of(pair.folder), {"times": {}, "seeded": {"by": self.by, "rebuilds": dict(rebuilds)}}
            )
        except (OSError, ControlError) as trouble:
            raise Failure(not_prepared(self.address, pair.folder, trouble)) from trouble

    def _seed(self, pair: _Pair, settled: LastBatch | None, rebuilds: Mapping[str, Attributes]) -> str:
        try:
            beginning, message = self._beginning(pair, settled)
            emptied = {
                output.name: rebuilds[output.name] for output in pair.new_outputs if output.name in rebuilds
            }
            prepare(pair.folder, replace(beginning, told={**beginning.told, "rebuilds": emptied}))
        except Damaged as trouble:
            raise Failure(damage(self.address, trouble)) from None
        except (OSError, ControlError) as trouble:
            raise Failure(not_prepared(self.address, pair.folder, trouble)) from trouble
        return message

    def _beginning(self, pair: _Pair, settled: LastBatch | None) -> tuple[StartPositions, str]:
        start, where = self.start_from, f"generation {self.generation}"
        told: dict[str, Data] = {"start_from": start, "generation": self.generation}
        if start != CARRY_OVER:
            times = dict.fromkeys(_tables(self.new), start_timestamp(start, now=time.time()))
            words = _WORDS.get(start, start)
            return StartPositions(by=self.by, times=times, told=told), f"{where} starts from {words}"
        if settled is not None:
            told = {
                **told,
                "after": str(settled.folder),
                "query_id": settled.query_id,
                "batch": settled.batch,
            }
        match pair.decision():
            case Copied() if settled is not None:
                beginning = StartPositions(
                    by=self.by, copied=settled, conf=self.new.conf, times=self._times({}, settled), told=told
                )
                return (
                    beginning,
                    f"{where} goes on after batch {settled.batch}"
                    if settled.batch is not None
                    else f"{where} starts anew",
                )
            case Positions() as carried if settled is not None:
                return self._positions(pair, carried, settled, told)
            case _:
                times = {
                    name: start_timestamp(source.start_from, now=time.time())
                    for name, source in _tables(self.new).items()
                }
                return StartPositions(
                    by=self.by, times=times, told=told
                ), f"{where} starts where its streams say: nothing had been read"

    def _positions(
        self, pair: _Pair, carried: Positions, settled: LastBatch, told: Mapping[str, Data]
    ) -> tuple[StartPositions, str]:
        query = query_streams(JobDefinition.of(self.after), pair.name)
        before = query_streams(JobDefinition.of(self.before or self.after), pair.name)
        assert query.streams is not None, "an order that cannot be told was refused"
        assert before.streams is not None, "an order that cannot be told was refused"
        reached = positions_at(settled)
        positions = {
            to: offset
            for at, to in carried.pairs
            if at < len(reached) and (offset := reached[at]) is not None
        }
        same = {query.streams[to].name: before.streams[at].name for at, to in carried.pairs}
        begun = {query.streams[to].name for to in positions}
        times = {**self._times(same, settled), **dict.fromkeys(begun)}
        words = f"goes on after batch {settled.batch}" if positions else "starts anew: nothing had been read"
        anew = (
            f"; {', '.join(carried.anew)} starts where its stream says" if carried.anew and positions else ""
        )
        beginning = StartPositions(
            by=self.by, times=times, positions=positions, alone=carried.alone, told=told
        )
        return beginning, f"generation {self.generation} {words}{anew}"

    def _times(self, same: Mapping[str, str], settled: LastBatch) -> dict[str, int | None]:
        """A table that nothing was read of yet begins at the moment it was to begin at; a new one where its
        stream says.
        """
        known = times_at(settled)
        now = time.time()
        return {
            name: known[same.get(name, name)]
            if same.get(name, name) in known
            else start_timestamp(source.start_from, now=now)
            for name, source in _tables(self.new).items()
        }


def _emptied_texts(rebuilds: Mapping[str, Attributes]) -> list[str]:
    found = []
    for item in rebuilds.values():
        where = item["table"] + (f" (branch {item['branch']})" if item["branch"] else "")
        if item["snapshot_id"] is None:
            found.append(f"{where} was empty already")
        else:
            undo = f"; to undo: flareiac table rollback {item['table']}" if item["branch"] is None else ""
            found.append(f"emptied {where}, which was at snapshot {item['snapshot_id']}{undo}")
    return found


def folders(spec: JobSpec) -> dict[str, tuple[Path, list[Output]]]:
    """A job's queries by the name of their folders, with the outputs that each writes."""
    found: dict[str, tuple[Path, list[Output]]] = {}
    for output in spec.outputs:
        if output.checkpoint is not None:
            name = ALL if spec.foreach_batch else output.name
            found.setdefault(name, (Path(output.checkpoint.removeprefix("file://")), []))[1].append(output)
    return found


def _tables(spec: JobSpec) -> dict[str, TableSource]:
    return {
        item.name: item.source
        for item in spec.inputs
        if isinstance(item, StreamInput) and isinstance(item.source, TableSource)
    }


def _uuids(spec: JobSpec | None) -> dict[str, str | None]:
    return {name: source.uuid for name, source in _tables(spec).items()} if spec is not None else {}


def target(output: Output, spec: JobSpec) -> Target:
    """Iceberg's own sink is used, and its epochs are the marks, where one query appends to main or replaces
    it.
    """
    epochs = (
        not spec.foreach_batch and output.branch in (None, "main") and output.mode in ("append", "complete")
    )
    return Target(
        output=output.name,
        identifier=output.identifier,
        uuid=output.uuid,
        branch=output.branch,
        epochs=epochs,
    )


def _checkpoint(request: ApplyRequest) -> Resolved:
    assert request.planned is not None, "a removal has no checkpoint to look at"
    reference = request.planned["checkpoint"]
    assert isinstance(reference, Reference), "only what has a checkpoint has generations"
    return request.references[reference.address]


def refused(address: str, found: Blocker) -> Diagnostic:
    """What a plan would have blocked."""
    ways = "".join(f"\n- {way}" for way in found.ways_out)
    return found.as_error(f"{found.why} Nothing was stopped or changed.{ways}", address=address)


def _emptied_before(address: str, lost: Attributes, start: str) -> Diagnostic:
    """An earlier apply was given up after it had emptied a table."""
    to = f" -to={lost['snapshot_id']}" if lost["snapshot_id"] is not None else ""
    detail = (
        f"An apply that did not finish emptied {lost['table']} for generation {lost['generation']}, and "
        f"start_from = {start} "
        "reads none of those rows again. Nothing was stopped or changed.\n- finish that apply: write its "
        "definition again"
        '\n- read all again: start_from = "earliest"\n- put the rows back (flareiac table rollback '
        f"{lost['table']}{to}), delete the note "
        f"beside the folders of generation {lost['generation']} (.g{lost['generation']:04d}.starts.json), "
        "and apply again"
    )
    return error(codes.EMPTIED_ROWS_LOST, detail, address=address)


def in_the_way(address: str, folder: Path, state: FolderState) -> Diagnostic:
    """An unknown folder is never used."""
    what = (
        f"A query has run in {folder}"
        if state is FolderState.USED
        else f"{folder} has no note that says what it is"
    )
    detail = (
        f"{what}, and the state does not know it. Nothing was stopped or changed. Move it away, or "
        "raise the generation once more."
    )
    return error(codes.GENERATION_EXISTS, detail, address=address)


def not_prepared(address: str, folder: Path, trouble: Exception) -> Diagnostic:
    """The disk refused."""
    why = (trouble.strerror or str(trouble)) if isinstance(trouble, OSError) else str(trouble)
    detail = (
        f"{folder}: {why}. The job is stopped, and no row was written twice. Make room or allow this "
        "user to write there, then apply again."
    )
    return error(codes.FOLDER_NOT_PREPARED, detail, address=address)


def outlived(address: str, pid: int) -> Diagnostic:
    """A JVM without a driver that does not end."""
    detail = (
        f"The driver of {address} is gone, and its JVM (pid {pid}) may still commit a batch. End it "
        f"(kill {pid}) and apply again."
    )
    return error(codes.JVM_OUTLIVES_DRIVER, detail, address=address)
