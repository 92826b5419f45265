"""Plans the move of a checkpoint whose location changes: its steps, or why it cannot be done. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import AttributeChange, Blocker, Effect, Impact, Reaction, Relation, Step, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.checkpoint.move_payload import MovePayload
from flareiac_spark.checkpoint.sizes import size_text
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.observation.checkpoint import (
    COPIED_TO,
    CheckpointFacts,
    CheckpointUser,
    MoveFacts,
    MoveTarget,
    observed_facts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The part of a proposal that a move is. ``note``: what the change of the location does."""

    steps: tuple[Step, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    disturbs: tuple[Impact, ...] = ()
    payload: Data = None
    closing: str = ""
    note: str = ""


def move_of(
    request: PlanRequest, desired: CheckpointDefinition, recorded: CheckpointDefinition
) -> Move | None:
    """The move of a recorded checkpoint whose folder is there; None where it stays and nothing of an earlier
    move is left to do.
    """
    facts, old, new = observed_facts(request.observed), recorded.location, desired.location
    if old == new:
        return _stays(facts, old) if facts is not None else None
    if facts is None or facts.move is None:
        return Move(blockers=(_not_looked_at(old),))
    move = facts.move
    if move.target is MoveTarget.REACHED:
        step = Step(
            text=f"records {new} as its location",
            effect=Effect.RECORDED,
            why="an apply that was interrupted has moved it there, and compared the copy",
        )
        return Move(
            steps=(step,), payload=_payload(move), closing=f"record that {request.address} is at {new}"
        )
    if move.target is MoveTarget.SAME:
        step = Step(
            text=f"is called {new} from now on", effect=Effect.RECORDED, why=f"{old} names the same folder"
        )
        closing = f"record {new} as the name of the folder of {request.address}"
        return Move(steps=(step,), payload=_payload(move), closing=closing)
    blockers = tuple(_blockers(facts, move, old, new))
    return Move(
        steps=() if blockers else tuple(_steps(request.address, move, old, new)),
        blockers=blockers,
        disturbs=(_stops_jobs(old, new),),
        payload=_payload(move),
        closing=f"move {request.address} to {new}",
        note="moves its files",
    )


def noted(changes: Sequence[AttributeChange], move: Move) -> tuple[AttributeChange, ...]:
    """The changes, with what that of the location does."""
    return tuple(
        replace(change, note=move.note) if move.note and change.path == ("location",) else change
        for change in changes
    )


def fingerprint(facts: CheckpointFacts | None) -> Attributes:
    """The facts that a saved plan of a move relies on: never sizes, which change while a job runs."""
    if facts is None:
        return {}
    ends = {"gone to": facts.gone_to, "going to": facts.going_to}
    assumed: Attributes = {name: place for name, place in ends.items() if place}
    if facts.move is not None:
        assumed |= {"target": facts.move.target.value}
    return assumed


def _stays(facts: CheckpointFacts, old: str) -> Move | None:
    if facts.gone_to:
        return Move(blockers=(has_left(old, facts.gone_to),))
    if not facts.going_to:
        return None
    why = f"its move to {facts.going_to} was interrupted, and what is there is not complete"
    step = Step(text=f"goes on in {old}", effect=Effect.METADATA, why=why)
    return Move(steps=(step,), closing=f"go on in {old}")


def _payload(move: MoveFacts) -> Data:
    return MovePayload(controls=move.controls).data


def _steps(address: str, move: MoveFacts, old: str, new: str) -> Iterator[Step]:
    files = "1 file" if move.files == 1 else f"{move.files:,} files"
    what = f"copies {files} ({size_text(move.bytes)})" if move.files else "copies what is there (nothing yet)"
    why = {
        MoveTarget.BEGUN: "; an apply that was interrupted has copied a part of them",
        MoveTarget.LEFT: "; the older copy there, which an earlier move left, is replaced",
    }.get(move.target, "")
    yield Step(
        text=f"{what} from {old} to {new}, and compares each with its copy",
        effect=Effect.MOVES_FILES,
        why="a job on it stands still meanwhile and goes on where it stood: nothing is read or computed "
        f"twice{why}",
    )
    yield Step(text=f"records {new} as its location", effect=Effect.RECORDED)
    yield Step(
        text=f"leaves the old files in {old}, with a mark that keeps jobs from starting there",
        effect=Effect.METADATA,
        why=f"flareiac checkpoint gc {address} deletes them",
    )


def _stops_jobs(old: str, new: str) -> Impact:
    return Impact(
        relation=Relation.KEEPS_STATE_IN,
        reaction=Reaction.STOPS_FIRST,
        reason=f"its checkpoint moves from {old} to {new}",
    )


# What cannot be moved


def _blockers(facts: CheckpointFacts, move: MoveFacts, old: str, new: str) -> Iterator[Blocker]:
    if facts.gone_to:
        yield has_left(old, facts.gone_to)
        return
    keep = f'write location = "{old}"'
    if move.target not in COPIED_TO:
        yield _there(move.target, old, new, keep)
        return
    if move.inside:
        yield blocker(
            codes.USED_CHECKPOINT_MOVES,
            why=f"Another checkpoint lies in its folder: {old}/{move.inside[0]}. It would be copied too.",
            ways_out=("move that checkpoint out of there first", keep),
        )
    if move.room is not None and move.bytes > move.room:
        yield blocker(
            codes.USED_CHECKPOINT_MOVES,
            why=(
                f"The copy needs {size_text(move.bytes)}, and {size_text(move.room)} are free on the "
                f"disk of {new}."
            ),
            ways_out=("make room there, or choose another location", keep),
        )
    if move.unseen:
        user = next(user for user in move.users if user.sees_other_disks)
        where = user.host or f"the hosts of {user.cluster}"
        yield blocker(
            codes.USED_CHECKPOINT_MOVES,
            why=(
                f"{new} is a folder on this host, and the application of {user.job} works on {where}: "
                "it need not find the copy there."
            ),
            ways_out=(
                *((f"run flareiac on {user.host}",) if user.host else ()),
                "choose a place in a bucket that both reach, or a folder on the shared disk of the old one",
                keep,
            ),
        )
    yield from (_uncertain(user, old, keep) for user in move.users if user.silent and user.may_run)


def _there(target: MoveTarget, old: str, new: str, keep: str) -> Blocker:
    match target:
        case MoveTarget.NESTED:
            why = f"{new} and {old} lie one in the other: the copy would be a part of what is copied."
            ways: tuple[str, ...] = ("choose a folder beside it", keep)
        case MoveTarget.OF_ANOTHER_STATE:
            why = f"{new} holds a checkpoint that another state manages."
            ways = ("choose an empty folder", keep)
        case _:
            why = f"{new} is not empty. Nothing in it is overwritten, nor mixed with the checkpoint."
            ways = ("choose an empty folder, or move what is there away", keep)
    return blocker(codes.USED_CHECKPOINT_MOVES, why=why, ways_out=ways)


def _uncertain(user: CheckpointUser, old: str, keep: str) -> Blocker:
    return blocker(
        codes.CHECKPOINT_MOVE_UNCERTAIN,
        why=f"Whether {user.job} is at work in {old} is not known: {user.silent}.",
        ways_out=("let its application continue, or end its process if it hangs; then plan again", keep),
    )


def has_left(old: str, place: str) -> Blocker:
    """The folder says that the checkpoint has gone on elsewhere: what is in it is old."""
    return blocker(
        codes.CHECKPOINT_HAS_LEFT,
        why=(
            f"The checkpoint in {old} was moved to {place}, and may have gone on there: what is in "
            f"{old} is old. A job that started on it would repeat rows."
        ),
        ways_out=(
            f'write location = "{place}"',
            f"if {place} is gone, put it back from a backup",
        ),
    )


def _not_looked_at(old: str) -> Blocker:
    return blocker(
        codes.CHECKPOINT_MOVE_UNCERTAIN,
        why="The folders were not looked at, so that a move cannot be planned.",
        ways_out=("plan without -refresh=none", f'write location = "{old}"'),
    )
