"""Reads, makes and removes the folder of a checkpoint. Touches the disk; never writes inside a generation."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.records import encode
from flareiac.sdk.actions import Adopt, Create, Delete, Settleable, Update
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import (
    Applied,
    Missing,
    NotApplied,
    Observation,
    Outcome,
    Present,
    Recorded,
    Unreadable,
)
from flareiac_spark import codes
from flareiac_spark.checkpoint.describe import describe
from flareiac_spark.checkpoint.description import DescribedCheckpoint
from flareiac_spark.checkpoint.move import Ended, departure, free_room, left_behind, move, target_of_move
from flareiac_spark.checkpoint.move_payload import MovePayload
from flareiac_spark.checkpoint.retention import delete_unused_generations
from flareiac_spark.checkpoint.tree_copy import CopyCancelled, CopyFailed, copied_of, tree_of
from flareiac_spark.checkpoint.users import control_places, is_on_the_disk_of, users_of
from flareiac_spark.checkpoint_files.generations import Contents, contents, damage
from flareiac_spark.checkpoint_files.layout import SINGLE, CheckpointLayout, recorded_layout
from flareiac_spark.checkpoint_files.manager import manager_of, mark
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.observation.checkpoint import (
    COPIED_TO,
    MoveFacts,
    MoveTarget,
    facts_of,
    is_another_state,
    number_in_use,
)
from flareiac_spark.places import place_of, recorded_location
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.storage import ObjectPath, Place, make_folder, remove_tree


class CheckpointDriver:
    """A folder, on a disk or in a bucket."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def read(self, request: ReadRequest) -> Observation:
        attributes = request.recorded.attributes if request.recorded else request.desired
        assert attributes is not None, "a question is about something declared or recorded"
        checkpoint = CheckpointDefinition.of(attributes)
        location = self._location(request, checkpoint)
        try:
            place = place_of(location, self._project)
            content, manager = contents(place), manager_of(place)
            gone = departure(place, self._project.lineage)
            move = self._observed_move(request, place) if content is not None else None
        except Damaged as problem:
            return Unreadable(diagnostic=damage(request.address, problem))
        except OSError as problem:
            return Unreadable(diagnostic=_unreachable(request.address, location, problem))
        except Failure as failure:
            return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))
        taken = is_another_state(manager, self._project.lineage)
        if content is None or (request.recorded is None and not content.used and not taken):
            return Missing(reason=f"there is no checkpoint in {location}")
        layout = _layout(content, checkpoint, request.recorded)
        for generation in content.generations:
            if (
                generation.damage is not None
                and number_in_use(generation, layout, checkpoint.generation) == checkpoint.generation
            ):
                return Unreadable(diagnostic=damage(request.address, generation.damage))
        facts = replace(
            facts_of(content, layout, checkpoint.generation, now=time.time(), manager=manager),
            gone_to=gone.place if gone.ended is Ended.GONE else "",
            going_to=gone.place if gone.ended is Ended.UNFINISHED else "",
            move=move,
        )
        return Present(attributes={**attributes, "location": location}, identity=encode(layout), facts=facts)

    def _observed_move(self, request: ReadRequest, source: Place) -> MoveFacts | None:
        """Looks at both ends of a move, where one is declared. Raises ``Damaged``, ``OSError`` and
        ``Failure``.
        """
        if request.recorded is None or request.desired is None:
            return None
        declared = CheckpointDefinition.of(request.desired).location
        if declared == CheckpointDefinition.of(request.recorded.attributes).location:
            return None
        target, layout = place_of(declared, self._project), recorded_layout(request.recorded.identity)
        tree = copied_of(tree_of(source), source, target)
        controls = control_places(request.declared, self._project)
        users = users_of(source, controls)
        unseen = any(user.sees_other_disks for user in users) and not isinstance(target, ObjectPath)
        return MoveFacts(
            target=target_of_move(source, target, layout, self._project),
            files=len(tree.files),
            bytes=tree.bytes,
            inside=tuple(tree.marks_inside),
            users=users,
            controls=controls,
            unseen=unseen and not is_on_the_disk_of(target, source),
            room=free_room(target),
        )

    def apply(self, request: ChangeRequest) -> Outcome:
        planned = CheckpointDefinition.of(request.action.planned)
        location = place_of(planned.location, self._project)
        if (left := _left_by(request)) is not None:
            return self._move(request, left, planned.location)
        try:
            make_folder(location)
            content, other = contents(location), self._other_state(location)
            if other not in ("", request.action.payload):
                return NotApplied(diagnostics=(_taken(request.address, location, other),))
            mark(location, self._project.lineage)
        except OSError as problem:
            why = (
                f"{location}: {problem.strerror or problem}. Make room or allow this user to write "
                "there, then apply again."
            )
            raise Failure(error(codes.CHECKPOINT_NOT_CREATED, why, address=request.address)) from problem
        except Damaged as problem:
            raise Failure(damage(request.address, problem)) from problem
        assert content is not None, "it was just made"
        layout = _layout(content, planned, request.action.recorded)
        return Applied(attributes=request.action.planned, identity=encode(layout))

    def _move(self, request: ChangeRequest, old: str, new: str) -> Outcome:
        """Leaves the checkpoint at its new location. What stands in the way is looked at again: all jobs have
        stopped by now.
        """
        assert request.action.recorded is not None, "only what is recorded moves"
        layout = recorded_layout(request.action.recorded.identity)
        source, target = place_of(old, self._project), place_of(new, self._project)
        try:
            target_state = target_of_move(source, target, layout, self._project)
            gone = departure(source, self._project.lineage)
            other = self._other_state(source)
            if other:
                return NotApplied(diagnostics=(_taken(request.address, source, other),))
            text = f"{source} is at {target} now"
            if target_state is MoveTarget.SAME:
                mark(target, self._project.lineage)
            elif target_state is not MoveTarget.REACHED:
                if target_state not in COPIED_TO or gone.ended is Ended.GONE:
                    return NotApplied(diagnostics=(_not_as_planned(request.address, target),))
                self._refuse_users(request, source)
                alone = layout.layout == SINGLE
                copied = move(
                    source, target, self._project.lineage, request.progress, request.cancel, alone=alone
                )
                text = (
                    f"copied {_files(len(copied.files))} from {source} to {target} and compared each; "
                    f"{source} stays until flareiac checkpoint gc {request.address}"
                )
        except Damaged as problem:
            raise Failure(damage(request.address, problem)) from problem
        except CopyCancelled:
            ended = _not_moved(request.address, source, "The copy was cancelled")
            raise Failure(replace(ended, cancelled=True)) from None
        except (OSError, CopyFailed) as problem:
            raise Failure(_not_moved(request.address, source, _reason(problem))) from problem
        identity = encode(layout.moved(old, new))
        return Applied(attributes=request.action.planned, identity=identity, messages=(text,))

    def _refuse_users(self, request: ChangeRequest, source: Place) -> None:
        """Raises ``Failure`` where a query may be at work in the checkpoint, or would be once its application
        starts: every job that the plan knows of has stopped.
        """
        for user in users_of(source, MovePayload.of(request.action.payload).controls):
            if user.may_run or user.starts:
                why = user.silent or ("it is to run there" if user.starts else "its application lives")
                raise Failure(
                    error(
                        codes.CHECKPOINT_MOVE_UNCERTAIN,
                        f"{user.job} has a query in {source}: {why} (control directory {user.control}). "
                        "Nothing was copied. Stop it, and make a new plan.",
                        address=request.address,
                    )
                )

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        recorded = request.action.recorded
        location = self._place(recorded.attributes)
        try:
            other = self._other_state(location)
        except Damaged as problem:
            raise Failure(damage(request.address, problem)) from problem
        if other:
            return NotApplied(diagnostics=(_taken(request.address, location, other),))
        try:
            remove_tree(location)
            left = left_behind(recorded_layout(recorded.identity), self._project)
            for place in left.copies:
                remove_tree(place)
        except OSError as problem:
            why = (
                f"{location}: {problem.strerror or problem}. Some of it may be gone already; allow this "
                "user to delete it and apply again."
            )
            raise Failure(error(codes.CHECKPOINT_NOT_DELETED, why, address=request.address)) from problem
        places = [location, *left.copies]
        return Applied(
            attributes=recorded.attributes,
            identity=recorded.identity,
            messages=(
                f"deleted {' and '.join(map(str, places))}",
                *(f"kept what a move may have left: {why}" for why in left.unknown),
            ),
        )

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        match request.action:
            case Update() as change if (old := _left_by(request.with_action(change))) is not None:
                return self._settled_move(request.with_action(change), old)
            case Create() | Adopt() | Update() as change:
                # What cannot be completed there is planned again: the folder itself says whose it is.
                with contextlib.suppress(OSError, Failure):
                    if self._place(change.planned).is_dir():
                        return self.apply(request.with_action(change))
                return None
            case Delete(recorded=recorded):
                gone = not self._place(recorded.attributes).exists()
                return Applied(attributes=recorded.attributes, identity=recorded.identity) if gone else None
            case _:
                return None

    def _settled_move(self, request: ChangeRequest, old: str) -> Outcome | None:
        """Done where both ends say so; anything less is planned again, and completed."""
        assert request.action.recorded is not None, "only what is recorded moves"
        layout = recorded_layout(request.action.recorded.identity)
        new = CheckpointDefinition.of(request.action.planned).location
        source, target = place_of(old, self._project), place_of(new, self._project)
        try:
            target_state = target_of_move(source, target, layout, self._project)
        except (OSError, Damaged) as problem:
            raise Failure(_unreachable_move(request.address, problem)) from problem
        if target_state is not MoveTarget.REACHED:
            return None
        return Applied(attributes=request.action.planned, identity=encode(layout.moved(old, new)))

    def describe(self, address: str, recorded: Recorded) -> DescribedCheckpoint:
        """The description of the checkpoint's content. Raises ``Failure``."""
        try:
            return describe(recorded, self._project)
        except Damaged as problem:
            raise Failure(damage(address, problem)) from problem
        except OSError as problem:
            raise Failure(_unreachable(address, _location_of(recorded), problem)) from problem

    def delete_unused(
        self, address: str, recorded: Recorded, holders: Sequence[Recorded], *, dry_run: bool
    ) -> Sequence[str]:
        """Deletes the generations past ``keep_generations`` and says which, in lines; ``dry_run``: says only.

        ``holders`` are the recorded resources that refer to it: what they may still need stays. Raises
        ``Failure``.
        """
        try:
            return tuple(delete_unused_generations(recorded, holders, self._project, dry_run=dry_run))
        except Damaged as problem:
            raise Failure(damage(address, problem)) from problem
        except OSError as problem:
            raise Failure(_unreachable(address, _location_of(recorded), problem)) from problem

    def _other_state(self, location: Place) -> str:
        """The lineage of another state that manages the checkpoint; empty where none does. Raises
        ``Damaged``.
        """
        manager = manager_of(location)
        return manager if is_another_state(manager, self._project.lineage) else ""

    def _place(self, attributes: Attributes) -> Place:
        return place_of(CheckpointDefinition.of(attributes).location, self._project)

    def _location(self, request: ReadRequest, checkpoint: CheckpointDefinition) -> str:
        location = checkpoint.location
        if request.import_id is not None and recorded_location(request.import_id, self._project) != location:
            raise Failure(
                error(
                    codes.CHECKPOINT_IMPORT_ID,
                    f"The import id of {request.address} is {request.import_id!r}, and its location is "
                    f"{location!r}. A checkpoint is "
                    f'imported from where it is. Write location = "{request.import_id}".',
                    address=request.address,
                )
            )
        return location


def _layout(
    content: Contents, checkpoint: CheckpointDefinition, recorded: Recorded | None
) -> CheckpointLayout:
    """The layout is fixed when a checkpoint is first recorded: an imported folder stays the generation that
    it was imported as.
    """
    known = recorded_layout(recorded.identity) if recorded is not None else CheckpointLayout()
    if known.layout is not None:
        return known
    if content.layout == SINGLE:
        return replace(known, layout="single", layout_generation=checkpoint.generation)
    return replace(known, layout="generations")


def _taken(address: str, location: Place, other: str) -> Diagnostic:
    return error(
        codes.CHECKPOINT_MANAGED_ELSEWHERE,
        f"Since the plan was made, the state {other} has taken over the checkpoint in {location}. Nothing "
        "was changed. Make a new plan and review it.",
        address=address,
    )


def _unreachable(address: str, location: str, problem: OSError) -> Diagnostic:
    why = (
        f"{problem.filename or location}: {problem.strerror or problem}. Let this user read and write there."
    )
    return error(codes.CHECKPOINT_UNREACHABLE, why, address=address)


def _unreachable_move(address: str, problem: OSError | Damaged) -> Diagnostic:
    return damage(address, problem) if isinstance(problem, Damaged) else _unreachable(address, "", problem)


def _location_of(recorded: Recorded) -> str:
    return CheckpointDefinition.of(recorded.attributes).location


def _left_by(request: ChangeRequest) -> str | None:
    """The location that a change moves the checkpoint from; None for any other change."""
    match request.action:
        case Update(recorded=recorded, planned=planned):
            old = _location_of(recorded)
            return old if old != CheckpointDefinition.of(planned).location else None
        case _:
            return None


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _reason(problem: OSError | CopyFailed) -> str:
    if not isinstance(problem, OSError):
        return str(problem)
    return (
        f"{problem.filename}: {problem.strerror}" if problem.filename and problem.strerror else str(problem)
    )


def _not_moved(address: str, source: Place, why: str) -> Diagnostic:
    detail = (
        f"{why}. The checkpoint is whole in {source}, and the jobs on it stay stopped. Remove the cause "
        "and apply again: what is copied already is not copied twice. Or write the old location again and "
        "apply: they start there, where they stood."
    )
    return error(codes.CHECKPOINT_NOT_MOVED, detail, address=address)


def _not_as_planned(address: str, target: Place) -> Diagnostic:
    detail = (
        f"Since the plan was made, something else was put into {target}. Nothing was copied, and the "
        "jobs on the checkpoint stay stopped. Make a new plan."
    )
    return error(codes.USED_CHECKPOINT_MOVES, detail, address=address)
