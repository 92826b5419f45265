"""What would apply do with one job? Pure: the observation carries everything that was read."""

from collections.abc import Sequence
from typing import Final, assert_never

from flareiac.kernel.data import Attributes, Data, digest
from flareiac.kernel.paths import Path, render_path
from flareiac.sdk.changes import Action, AttributeChange, Blocker, Effect, Proposal, Reaction, Step
from flareiac.sdk.classify import classify
from flareiac.sdk.provider import Missing, PlanRequest, Present
from flareiac_spark.job.changes import JobChange, Live, Noted, Pinned, Refused, Restarted
from flareiac_spark.job.diff import SPARK, changes, is_fresh
from flareiac_spark.job.facts import KEY, Facts, OutputFacts, decode
from flareiac_spark.job.spec import is_finite
from flareiac_spark.places import absolute_place

IDLE_SHUTDOWN: Final = "idle_shutdown"
_HIDDEN: Final = ("step_order", "column_order")


class JobPlanner:
    """Three-way: what is declared, what was recorded, what runs."""

    def plan(self, request: PlanRequest) -> Proposal:
        if request.desired is None:
            return _removed(request)
        if request.recorded is None or isinstance(request.observed, Missing) or request.replace:
            return _created(request, request.desired)
        return _updated(request, request.desired, request.recorded.attributes)


def _removed(request: PlanRequest) -> Proposal:
    if isinstance(request.observed, Missing):
        return Proposal(
            action=Action.FORGET, planned=None, drift=("it is no longer among what should run",), fingerprint=_fingerprint(request)
        )
    step = Step(text="the job stops; its tables and its checkpoint stay", effect=Effect.STOPS, why="it is no longer declared")
    return Proposal(
        action=Action.DELETE, planned=None, steps=(step,), reasons=("it is no longer declared",), fingerprint=_fingerprint(request)
    )


def _created(request: PlanRequest, desired: Attributes) -> Proposal:
    facts = _facts(request)
    drift: tuple[str, ...] = ()
    if request.recorded is not None and isinstance(request.observed, Missing):
        drift = (request.observed.reason or "it is no longer among what should run",)
    blockers = [blocker] if (blocker := _misfit(desired, facts, request)) else []
    blockers += _refused_again(request, desired, facts)
    return Proposal(
        action=Action.CREATE,
        planned=desired,
        changes=_visible(classify(desired, None, None)),
        steps=(_start(desired, facts),),
        reasons=drift or ("it is not there yet",),
        blockers=tuple(blockers),
        drift=drift,
        fingerprint=_fingerprint(request),
        payload={"analyse": True, "nonce": facts.nonce + 1 if facts.digest is not None else 0},
    )


def _refused_again(request: PlanRequest, desired: Attributes, facts: Facts) -> list[Blocker]:
    """A recorded job that is gone from what should run still has its checkpoint: what that refuses, it refuses now too."""
    if request.recorded is None or is_fresh(request.recorded.attributes, desired):
        return []
    found = [_blocker(change, desired) for change in changes(request.recorded.attributes, desired, facts) if isinstance(change, Refused)]
    lost = _lost_checkpoint(request, desired) if KEY in getattr(request.observed, "identity", {}) else None
    return [*found, lost] if lost else found


def _start(desired: Attributes, facts: Facts) -> Step:
    if desired["stopped"] or (is_finite(desired) and desired["run"] == "manual"):
        return Step(text="is declared and not started", effect=Effect.METADATA, why="stopped" if desired["stopped"] else 'run = "manual"')
    if desired["mode"] == "batch":
        repeats = any(output["mode"] == "append" for output in desired["outputs"].values())
        why = "an append that runs again adds its rows again" if repeats else "it overwrites what is there"
        return Step(text="runs once", effect=Effect.STARTS, why=why)
    if facts.started:
        return Step(text="starts where its checkpoint stands", effect=Effect.STARTS, why="a query has run on this checkpoint before")
    return Step(text="starts from the beginning of its streams", effect=Effect.STARTS, why="its checkpoint is empty")


def _updated(request: PlanRequest, desired: Attributes, recorded: Attributes) -> Proposal:
    facts, drift = _facts(request), _drift(request, desired)
    found = list(changes(recorded, desired, facts))
    fresh = is_fresh(recorded, desired)
    blockers = [_blocker(change, desired) for change in found if isinstance(change, Refused)] if not fresh else []
    if not fresh and (lost := _lost_checkpoint(request, desired)):
        blockers.append(lost)
    steps = _steps(found, desired, fresh)
    steps += _state_steps(request, desired, recorded, facts)
    if not any(step.effect in (Effect.RESTART, Effect.STARTS) for step in steps):
        steps += _heal_steps(desired, drift)
    return Proposal(
        action=_action(steps, found, blockers),
        planned=desired,
        changes=_changed(request, desired, recorded, found),
        steps=tuple(steps),
        reasons=_reasons(found, drift, request, desired),
        blockers=tuple(blockers),
        drift=drift,
        fingerprint=_fingerprint(request),
        payload={
            "analyse": any(isinstance(change, Restarted | Refused) for change in found),
            "nonce": facts.nonce + (1 if facts.phase == "failed" or _disturbed(request) else 0),
        },
    )


def _action(steps: Sequence[Step], found: Sequence[JobChange], blockers: Sequence[Blocker]) -> Action:
    if blockers or any(step.effect is not Effect.NO_EFFECT for step in steps):
        return Action.UPDATE
    return Action.RECORD if found else Action.NO_OP


def _changed(request: PlanRequest, desired: Attributes, recorded: Attributes, found: Sequence[JobChange]) -> tuple[AttributeChange, ...]:
    observed = request.observed.attributes if isinstance(request.observed, Present) else None
    fresh = is_fresh(recorded, desired)
    notes = {change.path: "new generation" if fresh and isinstance(change, Refused) else _note(change) for change in found}
    return tuple(
        AttributeChange(
            path=change.path, origin=change.origin, old=change.old, new=change.new, live=change.live, note=_note_at(change.path, notes)
        )
        for change in _visible(classify(desired, recorded, observed))
    )


def _visible(changes_found: Sequence[AttributeChange]) -> tuple[AttributeChange, ...]:
    """Without what only repeats the order of something that is shown."""
    return tuple(change for change in changes_found if change.path[-1] not in _HIDDEN)


def _note_at(path: Path, notes: dict[Path, str]) -> str:
    return next((notes[path[:end]] for end in range(len(path), 0, -1) if path[:end] in notes), "")


def _note(change: JobChange) -> str:
    match change:
        case Noted():
            return "not part of what runs"
        case Live():
            return "live"
        case Pinned():
            return "no effect"
        case Restarted():
            return "restart"
        case Refused():
            return "blocked"
        case _:
            assert_never(change)


def _steps(found: Sequence[JobChange], desired: Attributes, fresh: bool) -> list[Step]:
    """One restart for all that asks for one, and a step for whatever else happens."""
    restarts = [change for change in found if isinstance(change, Restarted)]
    steps = [step for change in found if (step := _single_step(change, fresh)) is not None]
    if not restarts and not (fresh and steps):
        return steps
    what = ", ".join(dict.fromkeys(change.text for change in restarts))
    why = "; ".join(dict.fromkeys(change.why for change in restarts))
    if not _starts_by_itself(desired):
        return [Step(text=f"{what} changed, and it is not started", effect=Effect.METADATA, why=why), *steps]
    if is_finite(desired):
        return [Step(text=f"runs again: {what} changed", effect=Effect.STARTS, why=why), *steps]
    where = "in its new folder" if fresh else "on the same checkpoint"
    steps += [Step(text=change.warning, effect=Effect.RESULTS_CHANGE, why=change.why) for change in restarts if change.warning]
    return [Step(text=f"stops after its current batch and starts {where}: {what} changed", effect=Effect.RESTART, why=why), *steps]


def _starts_by_itself(desired: Attributes) -> bool:
    return not desired["stopped"] and not (is_finite(desired) and desired["run"] == "manual")


def _single_step(change: JobChange, fresh: bool) -> Step | None:
    match change:
        case Noted():
            return None
        case Live(text=text):
            return Step(text=text, effect=Effect.LIVE)
        case Pinned(text=text):
            return None if fresh else Step(text=text, effect=Effect.NO_EFFECT, why=f"{SPARK} pins it in the checkpoint")
        case Restarted():
            return None
        case Refused(text=text):
            why = "a new generation has no offsets and no state that it could contradict"
            return Step(text=f"{text} changed", effect=Effect.NEW_GENERATION, why=why) if fresh else None
        case _:
            assert_never(change)


def _state_steps(request: PlanRequest, desired: Attributes, recorded: Attributes, facts: Facts) -> list[Step]:
    if desired["stopped"] and not recorded["stopped"]:
        return [Step(text="stops after its current batch", effect=Effect.STOPS, why="stopped = true")]
    if desired["stopped"] and facts.state == "running":
        return [Step(text="stops after its current batch", effect=Effect.STOPS, why="it was started by hand and stopped = true")]
    if recorded["stopped"] and not desired["stopped"]:
        return [Step(text="starts where its checkpoint stands", effect=Effect.STARTS, why="stopped = false")]
    return _disturbance_steps(request, desired)


def _disturbance_steps(request: PlanRequest, desired: Attributes) -> list[Step]:
    if is_finite(desired) or desired["stopped"]:
        return []
    return [
        Step(
            text="stops before the change and starts after it" if item.reaction is Reaction.STOPS_FIRST else "restarts after the change",
            effect=Effect.RESTART,
            why=item.reason,
        )
        for item in request.disturbances
        if item.reaction is not Reaction.RUNS_ON
    ]


def _disturbed(request: PlanRequest) -> bool:
    return any(item.reaction is not Reaction.RUNS_ON for item in request.disturbances)


def _heal_steps(desired: Attributes, drift: Sequence[str]) -> list[Step]:
    if not drift or desired["stopped"]:
        return []
    text = "runs again" if is_finite(desired) else "starts again where its checkpoint stands"
    return [Step(text=text, effect=Effect.STARTS, why=drift[0])]


def _drift(request: PlanRequest, desired: Attributes) -> tuple[str, ...]:
    """What changed behind the team's back, in words."""
    recorded = request.recorded
    assert recorded is not None, "only what is recorded can drift"
    facts, was = _facts(request), recorded.attributes
    if isinstance(request.observed, Present) and KEY not in request.observed.identity:
        return ()  # what runs was not looked at (-refresh=none)
    if was["stopped"]:
        return ("it was started by hand",) if facts.state == "running" and not is_finite(was) else ()
    if is_finite(was):
        failed = facts.phase == "failed" and facts.digest == recorded.identity.get("digest") and not recorded.identity.get("result")
        return (f"its run failed: {facts.error}",) if failed and was["run"] != "manual" else ()
    found: list[str] = []
    if facts.digest is not None and facts.digest != recorded.identity.get("digest"):
        found.append("another definition than the recorded one is set to run")
    if facts.state == "stopped":
        found.append("it was stopped by hand")
    elif not facts.alive and facts.ended != IDLE_SHUTDOWN:
        found.append(f"its Spark application ({desired['engine']}) is not running" + (f": {facts.ended}" if facts.ended else ""))
    elif facts.phase == "failed":
        found.append(f"it has failed: {facts.error}")
    elif not facts.alive:
        found.append(f"its Spark application ({desired['engine']}) ended because it was idle")
    return tuple(found)


def _lost_checkpoint(request: PlanRequest, desired: Attributes) -> Blocker | None:
    """The query that was recorded must still be the one on disk: an empty folder would read everything again."""
    recorded, facts = request.recorded, _facts(request)
    if isinstance(request.observed, Present) and KEY not in request.observed.identity:
        return None
    queries = (recorded.identity.get("queries") or {}) if recorded else {}
    for output, query in sorted(queries.items()):
        on_disk = facts.checkpoints.get(output)
        if output in desired["outputs"] and query.get("id") and (on_disk is None or on_disk.query_id != query["id"]):
            place = f"{desired['checkpoint_location']} (output {output})"
            what = "is gone" if on_disk is None else f"belongs to another query ({on_disk.query_id})"
            return Blocker(
                code="FIK060",
                summary=f"The checkpoint in {place} {what}",
                why=f"Its query {query['id']} kept its offsets there. Without them the job would read all again and repeat its rows.",
                ways_out=("put the folder back where it was", *_new_generation(desired, "to start anew, and repeat rows in append tables")),
            )
    return None


def _misfit(desired: Attributes, facts: Facts, request: PlanRequest) -> Blocker | None:
    """A new job on a checkpoint that has been used must read the same sources."""
    for output, on_disk in sorted(facts.checkpoints.items()):
        declared = [item["source"] for item in desired["inputs"].values() if item["kind"] == "stream"]
        kinds = sorted(source["kind"] for source in declared)
        disk_kinds = sorted(kind for kind, _folders in on_disk.sources)
        if not on_disk.sources or "unknown" in disk_kinds:
            continue
        if kinds != disk_kinds:
            why = f"Query {on_disk.query_id} read {_counted(disk_kinds)}; this job reads {_counted(kinds)}. Spark can not go on from there."
        elif (elsewhere := _elsewhere(declared, on_disk.sources, request)) is not None:
            why = f"Query {on_disk.query_id} read files in {elsewhere}; this job reads others. Spark can not go on from there."
        else:
            continue
        return Blocker(
            code="FIK061",
            summary=f"The checkpoint of output {output} belongs to a query with other sources",
            why=why,
            ways_out=("use a checkpoint of its own", *_new_generation(desired, "to leave the old offsets behind")),
        )
    return None


def _elsewhere(declared: Sequence[Attributes], sources: Sequence[tuple[str, tuple[str, ...]]], request: PlanRequest) -> str | None:
    """A folder on disk that no declared path covers (paths with patterns cover everything)."""
    paths = [str(absolute_place(source["path"], request.project)) for source in declared if source["kind"] == "files"]
    if any(sign in path for path in paths for sign in "*?[{"):
        return None
    for _kind, folders in sources:
        for folder in folders:
            if not any(f"{folder}/".startswith(f"{path}/") for path in paths):
                return folder
    return None


def _counted(kinds: Sequence[str]) -> str:
    return ", ".join(f"{kinds.count(kind)} of kind {kind}" for kind in dict.fromkeys(kinds)) or "no stream"


def _blocker(change: Refused, desired: Attributes) -> Blocker:
    return Blocker(
        code="FIK062",
        summary=f"{change.text[:1].upper()}{change.text[1:]} can not change on this checkpoint ({render_path(change.path)})",
        why=change.why,
        ways_out=(f"undo: {change.undo}", *_new_generation(desired, "to start anew with the new definition")),
    )


def _new_generation(desired: Attributes, purpose: str) -> tuple[str, ...]:
    if desired["generation"] is None:
        return ()
    lines = f'generation = {desired["generation"] + 1}\n  start_from = "earliest"'
    return (f"{purpose}, in {desired['checkpoint']}:\n  {lines}",)


def _reasons(found: Sequence[JobChange], drift: Sequence[str], request: PlanRequest, desired: Attributes) -> tuple[str, ...]:
    words = [change.text for change in found if isinstance(change, Noted)]
    words += [item.reason for item in request.disturbances if item.reaction is Reaction.RUNS_ON and not is_finite(desired)]
    return (*drift, *dict.fromkeys(words))


def _facts(request: PlanRequest) -> Facts:
    match request.observed:
        case Present(identity=identity) | Missing(identity=identity) if KEY in identity:
            return decode(identity)
        case Present():
            return _assumed(request)
        case _:
            return Facts()


def _assumed(request: PlanRequest) -> Facts:
    """Where nothing was looked at (-refresh=none), queries that are recorded count as having run: a refusal must not get lost."""
    queries = (request.recorded.identity.get("queries") or {}) if request.recorded else {}
    return Facts(checkpoints={name: OutputFacts(query_id=query["id"], started=0, committed=0) for name, query in queries.items()})


def _fingerprint(request: PlanRequest) -> Data:
    """What the action assumes: who runs there, on which checkpoint. Never offsets or batches: they move all the time."""
    facts = _facts(request)
    recorded = request.recorded
    return {
        "recorded definition": digest(recorded.attributes) if recorded else None,
        "definition that should run": facts.digest,
        "queries": {name: item.query_id for name, item in sorted(facts.checkpoints.items())},
        "stateful operators": sorted(facts.operators),
        "pinned settings": {key: facts.pinned[key] for key in sorted(facts.pinned)},
    }
