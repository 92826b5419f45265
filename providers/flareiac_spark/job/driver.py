"""Carries out what was planned for jobs: writes what should run, brings the application up, waits for its
word.

Touches control directories, and processes through ``Applications``.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flareiac.kernel.data import Attributes, Reference
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.sdk.capabilities import RunCommand
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ReadRequest
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, Recorded, Unreadable
from flareiac.sdk.run_status import RunStatus
from flareiac_spark.application import Liveness, is_alive, liveness
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import Damaged, read_checkpoint
from flareiac_spark.control import (
    ControlError,
    Desired,
    DesiredJob,
    JobSpec,
    JobStatus,
    Marks,
    job_spec_from_json,
    job_spec_to_json,
)
from flareiac_spark.definition.build import by_folder, digest_of, spec_of
from flareiac_spark.definition.canonical import is_finite
from flareiac_spark.definition.code import publish
from flareiac_spark.engine.application import Applications, read_desired, read_status
from flareiac_spark.generation import rollback
from flareiac_spark.generation.moved_outputs import finish_batch_of, moved_outputs
from flareiac_spark.generation.operation_client import A_WHILE, OperationClient
from flareiac_spark.generation.switch_generation import (
    GenerationSwitch,
    begins_generation,
    folders,
    old_spec,
    rebuilds_noted,
    refusals,
    switch_generation,
)
from flareiac_spark.generation.switch_generation import target as place_of
from flareiac_spark.job.analyse import analyse
from flareiac_spark.job.inspect import inspect_job
from flareiac_spark.job.read import read_job
from flareiac_spark.job.wait import (
    Wanted,
    computes_its_first_batch,
    not_stable,
    runs_no_more,
    settled,
    still_running,
    wait_until_settled,
    wait_until_stopped,
)
from flareiac_spark.observation.job import observed_facts

_FORMER_QUERIES: Final = 20
UNPROVEN: Final = "unproven"
"""Key in a job's identity: its definition was still at work on its first batch when it was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One definition on its way into what should run."""

    spec: JobSpec
    digest: str
    nonce: int
    running: bool
    queries: Mapping[str, str]

    def job(self) -> DesiredJob:
        state: Final = "running" if self.running else "stopped"
        return DesiredJob(
            digest=self.digest,
            spec=job_spec_to_json(self.spec),
            state=state,
            nonce=self.nonce,
            queries=self.queries,
        )


class JobDriver:
    """Jobs of every engine of one project."""

    def __init__(self, applications: Applications) -> None:
        self._applications = applications

    def read(self, request: ReadRequest) -> Observation:
        return read_job(request, self._applications)

    def preflight(self, requests: Sequence[ApplyRequest]) -> tuple[Diagnostic, ...]:
        """Has Spark analyse every new or changed definition on empty frames."""
        for request in requests:
            self._find_out(request)
        for request in requests:
            self._applications.announce(_planned(request)["application"], request.references)
        refused = [
            item
            for request in requests
            if begins_generation(request)
            for item in refusals(request, self._applications)
        ]
        return tuple(refused) or self._analysed(requests)

    def apply(self, request: ApplyRequest) -> Outcome:
        planned = _planned(request)
        engine = planned["application"]
        self._find_out(request)
        target = self._target(request, planned)
        publish(planned, self._applications.project)
        renewed = self._renewed(request, target)
        self._finish_redirected(request, target)
        before = self._fallback(request, target)
        self._leave_old_application(request, engine)
        self._applications.want(engine, request.references, _with(request.address, target.job()))
        if not target.running:
            return _with_renewal(self._stopped(request, target), renewed)
        outcome = self._started(request, target)
        if isinstance(outcome, NotApplied) and before is not None and not request.cancel.is_set():
            return self._taken_back(request, target, before, outcome)
        return _with_renewal(outcome, renewed)

    def delete(self, request: ApplyRequest) -> Outcome:
        recorded = _recorded(request)
        engine = recorded.attributes["application"]
        self._find_out(request)
        self._applications.drop(engine, request.address)
        self._await_stop(request.address, engine, request.cancel)
        return Applied(
            attributes=recorded.attributes,
            identity=recorded.identity,
            messages=(left_behind(recorded.attributes, request.going),),
        )

    def quiesce(self, request: ApplyRequest) -> Outcome:
        recorded = _recorded(request)
        self._find_out(request)
        return self._stop_by_state(request.address, recorded, request.cancel)

    def steer(self, verb: RunCommand, request: ApplyRequest) -> Outcome:
        recorded = _recorded(request)
        self._find_out(request)
        if verb is RunCommand.STOP:
            return self._stop_by_state(request.address, recorded, request.cancel)
        engine = recorded.attributes["application"]
        entry = self._entry(engine, request.address)
        if entry is None:
            return self.apply(replace(request, planned=recorded.attributes, payload=None))
        nonce = entry.nonce + (verb is RunCommand.RESTART or self._has_failed(engine, request.address))
        wanted = replace(entry, state="running", nonce=nonce)
        self._applications.want(engine, request.references, _with(request.address, wanted))
        if self._applications.bring_up(engine, request.cancel, request.progress) is None:
            return NotApplied(diagnostics=(not_stable(request.address, None, 0, True, ""),))
        return self._await_settled(request, recorded.attributes, wanted, recorded.identity)

    def starting(self, recorded: Recorded, observed: Observation, *, by_name: bool) -> Attributes | None:
        """See ``flareiac.sdk.capabilities.Starting``: as one that is started again by its block."""
        facts = observed_facts(observed)
        if by_name or isinstance(observed, Unreadable) or (facts is not None and facts.state == "running"):
            nonce = recorded.attributes["restart_nonce"] + 1
            return {**recorded.attributes, "stopped": False, "run": "on_change", "restart_nonce": nonce}
        return None

    def settle(self, request: ApplyRequest) -> Outcome | None:
        if request.action == "delete":
            recorded = _recorded(request)
            engine = recorded.attributes["application"]
            gone = self._entry(engine, request.address) is None and not self._may_run(engine, request.address)
            return Applied(attributes=recorded.attributes, identity=recorded.identity) if gone else None
        planned = _planned(request)
        target = self._target(request, planned)
        entry = self._entry(planned["application"], request.address)
        if entry is None or (entry.digest, entry.nonce, entry.state == "running") != (
            target.digest,
            target.nonce,
            target.running,
        ):
            return None
        if not target.running:
            if self._may_run(planned["application"], request.address):
                return None
            return _with_renewal(
                Applied(attributes=planned, identity=_identity(request, target.digest, None)),
                self._noted(request, target),
            )
        status = read_status(self._applications.control(planned["application"]))
        finite = is_finite(planned)
        job = (
            Wanted(address=request.address, digest=target.digest, nonce=target.nonce, finite=finite).of(
                status
            )
            if status
            else None
        )
        if (
            job is None
            or job.phase == "failed"
            or not settled(job, finite=finite)
            or not (finite or is_alive(status))
        ):
            unsettled = self._known(request, target, (not_stable(request.address, job, 0, True, ""),))
            return unsettled if unsettled.attributes is not None else None
        self._note_queries(request.address, planned["application"], target.digest, job)
        return _with_renewal(
            Applied(attributes=planned, identity=_identity(request, target.digest, job)),
            self._noted(request, target),
        )

    def inspect(self, address: str, recorded: Recorded, references: References) -> RunStatus:
        """See ``flareiac.sdk.capabilities.Inspecting``."""
        return inspect_job(address, recorded, references, self._applications)

    # The parts of an apply

    def _find_out(self, request: ApplyRequest) -> None:
        """Whether an application that is silent on another host is gone, where the job was and where it goes.
        Raises ``Failure``.
        """
        known = (request.planned, request.recorded.attributes if request.recorded else None)
        engines = {
            item["application"]["runtime_location"]: item["application"] for item in known if item is not None
        }
        for engine in engines.values():
            self._applications.end_if_gone(engine, request.cancel, request.progress)

    def _renewed(self, request: ApplyRequest, target: Target) -> GenerationSwitch:
        """A raised generation is prepared between the old query's end and the new one's start."""
        if not begins_generation(request):
            return GenerationSwitch()
        old = old_spec(request, self._applications)
        if request.recorded is not None:
            self._stop_by_state(request.address, request.recorded, request.cancel)
        return switch_generation(request, old, target.spec, self._applications)

    def _finish_redirected(self, request: ApplyRequest, target: Target) -> None:
        """A batch that is in the tables of the old definition is not begun again for those of the new one."""
        old = None if begins_generation(request) else old_spec(request, self._applications)
        names = moved_outputs(old, target.spec) if old is not None else ()
        if old is not None and names and request.recorded is not None:
            self._stop_by_state(request.address, request.recorded, request.cancel)
            finish_batch_of(request, old, names, self._applications)

    def _analysed(self, requests: Sequence[ApplyRequest]) -> tuple[Diagnostic, ...]:
        """Asks Spark. An application that is started for the question resumes its jobs, but not those that
        are about to change: what they were may be what ended it. They are let go again where nothing comes of
        the apply.
        """
        held = self._hold(requests)
        try:
            found = analyse(requests, self._applications)
        except BaseException:
            self._let_go(held)
            raise
        if any(item.severity is Severity.ERROR for item in found) or any(
            request.cancel.is_set() for request in requests
        ):
            self._let_go(held)
        return found

    def _hold(self, requests: Sequence[ApplyRequest]) -> list[ApplyRequest]:
        if not any((request.payload or {}).get("analyse") for request in requests):
            return []
        held = []
        for request in requests:
            engine = _planned(request)["application"]
            entry = self._entry(engine, request.address)
            if (
                entry is None
                or entry.state != "running"
                or liveness(read_status(self._applications.control(engine))) is not Liveness.GONE
            ):
                continue
            payload = request.payload or {}
            if payload.get("analyse") or payload.get("nonce", entry.nonce) != entry.nonce:
                self._applications.want(
                    engine, request.references, _with(request.address, replace(entry, state="stopped"))
                )
                held.append(request)
        return held

    def _let_go(self, held: Sequence[ApplyRequest]) -> None:
        for request in held:
            engine = _planned(request)["application"]
            entry = self._entry(engine, request.address)
            if entry is not None:
                self._applications.want(
                    engine, request.references, _with(request.address, replace(entry, state="running"))
                )

    # Rollback

    def _fallback(self, request: ApplyRequest, target: Target) -> rollback.Fallback | str | None:
        """What to put back if the new definition fails, why nothing can be, or None if it was not asked for.

        The old one stops first: what is committed from then on was committed under the new one.
        """
        if not rollback.is_asked_for(request) or not target.running:
            return None
        entry = self._entry(_planned(request)["application"], request.address)
        if self._is_unproven(request):
            return "it had not committed its first batch, so that it is not known to be stable"
        found = rollback.fallback(request, entry, target.spec, target.digest, self._applications.project)
        if isinstance(found, str) or request.recorded is None:
            return found
        self._stop_by_state(request.address, request.recorded, request.cancel)
        return replace(
            found, committed=rollback.committed(target.spec), written=self._written(request, target.spec)
        )

    def _is_unproven(self, request: ApplyRequest) -> bool:
        """Whether the recorded definition was at work on its first batch when it was applied, and has
        committed none since.
        """
        recorded = request.recorded
        if recorded is None or not recorded.identity.get(UNPROVEN):
            return False
        status = read_status(self._applications.control(recorded.attributes["application"]))
        job = status.jobs.get(request.address) if status is not None else None
        runs_it = job is not None and job.digest == recorded.identity.get("digest") and bool(job.queries)
        return not (runs_it and job is not None and all(query.batch is not None for query in job.queries))

    def _written(self, request: ApplyRequest, spec: JobSpec) -> frozenset[tuple[str, int, str]]:
        """Which outputs have a batch in flight, as (folder, batch, output): what another definition makes of
        it would not reach them.
        """
        asking, found = (
            OperationClient(request, _planned(request)["application"], self._applications),
            set[tuple[str, int, str]](),
        )
        for folder, outputs in folders(spec).values():
            try:
                on_disk = read_checkpoint(folder)
            except Damaged as not_stable:
                raise Failure(damage(request.address, not_stable)) from None
            if on_disk is not None and (batch := on_disk.in_flight) is not None:
                marks = Marks(
                    query_id=on_disk.query_id,
                    batch=batch,
                    targets=tuple(place_of(output, spec) for output in outputs),
                )
                found.update((str(folder), batch, output) for output in asking.ask(marks, A_WHILE).marked)
        return frozenset(found)

    def _taken_back(
        self, request: ApplyRequest, target: Target, before: rollback.Fallback | str, outcome: NotApplied
    ) -> NotApplied:
        if isinstance(before, str):
            return replace(
                outcome, diagnostics=(*outcome.diagnostics, rollback.not_restored(request.address, before))
            )
        engine, recorded = _planned(request)["application"], _recorded(request)
        entry, restored = (
            replace(before.entry, nonce=target.nonce + 1, queries={**target.queries, **before.entry.queries}),
            False,
        )
        try:
            request.progress("putting the definition before back")
            self._applications.want(
                engine, request.references, _with(request.address, replace(target.job(), state="stopped"))
            )
            self._await_stop(request.address, engine, request.cancel)
            if rollback.committed(target.spec) != before.committed:
                self._applications.want(engine, request.references, _with(request.address, target.job()))
                why = (
                    "a batch was committed under the new one before it failed, and the old one would go "
                    "on after it"
                )
                return replace(
                    outcome, diagnostics=(*outcome.diagnostics, rollback.not_restored(request.address, why))
                )
            if self._written(request, target.spec) != before.written:
                self._applications.want(engine, request.references, _with(request.address, target.job()))
                why = "some outputs have a batch as the new one made it, and the old one would leave it so"
                return replace(
                    outcome, diagnostics=(*outcome.diagnostics, rollback.not_restored(request.address, why))
                )
            self._applications.want(engine, request.references, _with(request.address, entry))
            restored = True
            again = self._runs_again(request, recorded, entry)
        except Failure as failure:
            return replace(
                outcome, diagnostics=(*outcome.diagnostics, *failure.diagnostics), restored=restored
            )
        return replace(outcome, diagnostics=(*outcome.diagnostics, *again), restored=True)

    def _runs_again(
        self, request: ApplyRequest, recorded: Recorded, entry: DesiredJob
    ) -> tuple[Diagnostic, ...]:
        if entry.state == "running":
            if (
                self._applications.bring_up(
                    _planned(request)["application"], request.cancel, request.progress
                )
                is None
            ):
                return (not_stable(request.address, None, 0, True, ""),)
            settled_again = self._await_settled(
                request, {**recorded.attributes, "application": _planned(request)["application"]}, entry, {}
            )
            if isinstance(settled_again, NotApplied):
                return settled_again.diagnostics
        return (rollback.restored(request.address),)

    def _noted(self, request: ApplyRequest, target: Target) -> GenerationSwitch:
        """What an apply that was interrupted had emptied."""
        return (
            GenerationSwitch(rebuilds=rebuilds_noted(target.spec))
            if begins_generation(request)
            else GenerationSwitch()
        )

    def _target(self, request: ApplyRequest, planned: Attributes) -> Target:
        spec = spec_of(request.address, planned, request.references, self._applications.project)
        digest = digest_of(spec, planned)
        if (request.payload or {}).get("live"):
            spec, digest = self._as_it_runs(request, spec, digest)
        spec = replace(spec, run_id=digest if planned["mode"] == "batch" else None)
        waits = is_finite(planned) and planned["run"] == "manual"
        nonce = (request.payload or {}).get("nonce", 0)
        queries = _queries_known(request, planned, spec)
        return Target(
            spec=spec,
            digest=digest,
            nonce=nonce,
            running=not planned["stopped"] and not waits,
            queries=queries,
        )

    def _as_it_runs(self, request: ApplyRequest, spec: JobSpec, digest: str) -> tuple[JobSpec, str]:
        """What a job is given while it runs: the definition that was recorded as started, under its digest,
        with the new restart budget. Around it (the columns of a stream, say) something may be declared in
        another way now, which must not restart it.
        """
        entry = self._entry(_planned(request)["application"], request.address)
        if (
            entry is None
            or request.recorded is None
            or entry.digest != request.recorded.identity.get("digest")
        ):
            return spec, digest
        try:
            return replace(job_spec_from_json(dict(entry.spec)), restart=spec.restart), entry.digest
        except ControlError:
            return spec, digest  # of another release

    def _leave_old_application(self, request: ApplyRequest, engine: Attributes) -> None:
        """A job that moves to another application must have stopped in the old one first."""
        old = request.recorded.attributes["application"] if request.recorded else engine
        if old["runtime_location"] != engine["runtime_location"]:
            self._applications.drop(old, request.address)
            self._await_stop(request.address, old, request.cancel)

    def _stopped(self, request: ApplyRequest, target: Target) -> Outcome:
        planned = _planned(request)
        self._await_stop(request.address, planned["application"], request.cancel)
        return Applied(attributes=planned, identity=_identity(request, target.digest, None))

    def _started(self, request: ApplyRequest, target: Target) -> Outcome:
        planned = _planned(request)
        identity = dict(request.recorded.identity) if request.recorded else {}
        identity.pop(UNPROVEN, None)
        try:
            if self._applications.bring_up(planned["application"], request.cancel, request.progress) is None:
                outcome: Outcome = NotApplied(diagnostics=(not_stable(request.address, None, 0, True, ""),))
            else:
                outcome = self._await_settled(request, planned, target.job(), identity)
        except Failure as failure:
            outcome = NotApplied(diagnostics=failure.diagnostics)
        return (
            self._known(request, target, outcome.diagnostics) if isinstance(outcome, NotApplied) else outcome
        )

    def _known(
        self, request: ApplyRequest, target: Target, diagnostics: tuple[Diagnostic, ...]
    ) -> NotApplied:
        """A new job is among what should run, so it must be known, whatever became of it: removing its block
        stops it.

        A finite one is not: the next plan creates it again, and its run id tells whether its rows are there.
        One that moved to another application must be known to be there, or it would be started in the old one
        beside it.
        """
        planned, recorded = _planned(request), request.recorded
        if (
            recorded is not None
            and recorded.attributes["application"]["runtime_location"]
            != planned["application"]["runtime_location"]
        ):
            there = {
                **recorded.attributes,
                "application": planned["application"],
                "engine": planned["engine"],
            }
            return NotApplied(diagnostics=diagnostics, attributes=there, identity=recorded.identity)
        if request.recorded is not None or is_finite(planned):
            return NotApplied(diagnostics=diagnostics)
        return NotApplied(
            diagnostics=diagnostics, attributes=planned, identity=_identity(request, target.digest, None)
        )

    def _await_settled(
        self, request: ApplyRequest, attributes: Attributes, wanted: DesiredJob, identity: Attributes
    ) -> Outcome:
        control = self._applications.control(attributes["application"])
        finite, within = is_finite(attributes), attributes["stability"]["within_ms"]
        what = Wanted(address=request.address, digest=wanted.digest, nonce=wanted.nonce, finite=finite)
        job = wait_until_settled(control, what, within, request.cancel, request.progress)
        unproven = False
        if job is None or job.phase == "failed":
            status = read_status(control)
            seen = job or (what.of(status) if status else None)
            unproven = not finite and not request.cancel.is_set() and computes_its_first_batch(seen)
            job = seen if unproven else job
        if job is None or job.phase == "failed":
            log = str(control.job_log(request.address))
            return NotApplied(
                diagnostics=(not_stable(request.address, seen, within, request.cancel.is_set(), log),)
            )
        self._note_queries(request.address, attributes["application"], wanted.digest, job)
        if finite:
            self._rest(request, attributes)
        return Applied(
            attributes=attributes,
            identity={
                **identity,
                **_identity(request, wanted.digest, job),
                **({UNPROVEN: True} if unproven else {}),
            },
            messages=(_first_batch(within),) if unproven else _messages(job, finite),
        )

    def _note_queries(self, address: str, engine: Attributes, digest: str, job: JobStatus) -> None:
        """The driver proves by them, also one that comes after it, that a checkpoint is still the one that
        the job ran on.
        """
        self._applications.revise(
            engine, _knowing(address, digest, {query.output: query.id for query in job.queries})
        )

    def _rest(self, request: ApplyRequest, attributes: Attributes) -> None:
        """A completed run is not wanted any more: another start of the application must not do it again."""
        entry = self._entry(attributes["application"], request.address)
        if entry is not None:
            self._applications.want(
                attributes["application"],
                request.references,
                _with(request.address, replace(entry, state="stopped")),
            )

    def _stop_by_state(self, address: str, recorded: Recorded, cancel: threading.Event) -> Outcome:
        engine = recorded.attributes["application"]
        entry = self._entry(engine, address)
        if entry is not None and entry.state == "running":
            self._applications.revise(engine, _with(address, replace(entry, state="stopped")))
        self._await_stop(address, engine, cancel)
        return Applied(attributes=recorded.attributes, identity=recorded.identity, messages=("stopped",))

    def _await_stop(self, address: str, engine: Attributes, cancel: threading.Event) -> None:
        """Returns when the job certainly runs no more. Raises ``Failure`` if it may: nothing is said to have
        stopped by assumption.
        """
        control, patience = self._applications.control(engine), engine["graceful_stop_ms"] / 1000 + 60
        if liveness(read_status(control)) is Liveness.GONE:
            return
        try:
            stopped = wait_until_stopped(control, address, patience, cancel)
        except Failure:
            if liveness(read_status(control)) is not Liveness.GONE:
                raise
            return
        if not stopped:
            raise Failure(still_running(address, patience, cancel.is_set()))

    def _may_run(self, engine: Attributes, address: str) -> bool:
        status = read_status(self._applications.control(engine))
        return (
            status is not None and liveness(status) is not Liveness.GONE and not runs_no_more(status, address)
        )

    def _entry(self, engine: Attributes, address: str) -> DesiredJob | None:
        desired = read_desired(self._applications.control(engine))
        return desired.jobs.get(address) if desired else None

    def _has_failed(self, engine: Attributes, address: str) -> bool:
        status = read_status(self._applications.control(engine))
        job = status.jobs.get(address) if status else None
        return job is not None and job.phase == "failed"


def _queries_known(request: ApplyRequest, planned: Attributes, spec: JobSpec) -> dict[str, str]:
    """The query that each checkpoint must hold, by folder: what the state recorded of the generation that
    goes on.
    """
    recorded = request.recorded
    if recorded is None or any(
        recorded.attributes[name] != planned[name] for name in ("checkpoint_location", "generation")
    ):
        return {}
    return by_folder(
        spec, {name: query.get("id") for name, query in (recorded.identity.get("queries") or {}).items()}
    )


def _knowing(address: str, digest: str, queries: Mapping[str, str | None]) -> Callable[[Desired], Desired]:
    """What should run, with the queries that a definition has started."""

    def changed(current: Desired) -> Desired:
        entry = current.jobs.get(address)
        if entry is None or entry.digest != digest:
            return current
        known = by_folder(job_spec_from_json(dict(entry.spec)), queries)
        return _with(address, replace(entry, queries={**entry.queries, **known}))(current)

    return changed


def _with(address: str, job: DesiredJob) -> Callable[[Desired], Desired]:
    return lambda current: replace(current, jobs={**current.jobs, address: job})


def _identity(request: ApplyRequest, digest: str, job: JobStatus | None) -> Attributes:
    """What is recorded of a job: which definition runs, as which queries, or what its run gave."""
    before = dict(request.recorded.identity) if request.recorded else {}
    if (
        request.recorded
        and request.planned
        and request.recorded.attributes["generation"] != request.planned["generation"]
    ):
        # The new folder holds none of them, and what they committed is still no stranger's.
        gone = [query["id"] for query in (before.pop("queries", None) or {}).values()]
        former = [item for item in before.get("former_queries") or () if item not in gone]
        before["former_queries"] = [*former, *gone][-_FORMER_QUERIES:]
    identity: Attributes = {**before, "digest": digest}
    identity.pop(UNPROVEN, None)
    if job is None:
        return {**identity, "result": None}
    if job.queries:
        identity["queries"] = {
            query.output: {"id": query.id, "run_id": query.run_id} for query in job.queries
        }
    result = job.result
    identity["result"] = None
    if result is not None:
        identity["result"] = {"run_id": result.run_id, "snapshot_id": result.snapshot_id, "rows": result.rows}
    elif job.phase == "completed":
        identity["result"] = {"run_id": digest, "snapshot_id": None, "rows": None}
    return identity


def left_behind(attributes: Attributes, going: Collection[str]) -> str:
    """What a job that is gone leaves, but for what the same plan destroys."""
    tables = [output["table"] for output in attributes["outputs"].values()]
    kept = [
        table
        for table in dict.fromkeys(table.address for table in tables if isinstance(table, Reference))
        if table not in going
    ]
    checkpoint = attributes["checkpoint"]
    own = (
        checkpoint.address if isinstance(checkpoint, Reference) and checkpoint.address not in going else None
    )
    if not kept:
        return f"stopped; {own} stays" if own else "stopped"
    rows = "its rows stay" if len(kept) == 1 else "their rows stay"
    return f"stopped; {' and '.join(kept)} and {rows}" + (f", {own} too" if own else "")


def _with_renewal(outcome: Outcome, renewed: GenerationSwitch) -> Outcome:
    match outcome:
        case Applied(attributes=attributes, identity=identity, messages=messages):
            rebuilds = {**(identity.get("rebuilds") or {}), **renewed.rebuilds}
            kept = {**identity, **({"rebuilds": rebuilds} if rebuilds else {})}
            return Applied(attributes=attributes, identity=kept, messages=(*renewed.messages, *messages))
        case NotApplied():
            return outcome


def _first_batch(within_ms: int) -> str:
    """A warning, not a failure: a first batch may be large, and many partitions take their time on few
    cores.
    """
    return (
        f"Warning: it runs, and its first batch is not committed after {within_ms / 1000:.0f} s. It counts "
        "as applied, and not yet as a definition to roll back to; flareiac status tells when it has "
        "committed"
    )


def _messages(job: JobStatus, finite: bool) -> tuple[str, ...]:
    if not finite:
        return (f"{job.phase}",)
    if job.result is None:
        return ("completed",)
    rows = "" if job.result.rows is None else f"{job.result.rows} rows"
    return (f"completed {rows}".strip() + (" (by an earlier run)" if job.result.found else ""),)


def _planned(request: ApplyRequest) -> Attributes:
    assert request.planned is not None, "only a removal has no plan"
    return request.planned


def _recorded(request: ApplyRequest) -> Recorded:
    assert request.recorded is not None, "only what is recorded runs"
    return request.recorded
