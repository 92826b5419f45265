"""Reads, makes and removes the folder of a checkpoint. Touches the disk; never writes inside a generation."""

import contextlib
import time
from collections.abc import Sequence

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
from flareiac_spark.checkpoint.retention import delete_unused_generations
from flareiac_spark.checkpoint_files.generations import Contents, contents, damage
from flareiac_spark.checkpoint_files.layout import SINGLE, CheckpointLayout, recorded_layout
from flareiac_spark.checkpoint_files.manager import manager_of, mark
from flareiac_spark.checkpoint_log import Damaged
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.observation.checkpoint import facts_of, is_another_state, number_in_use
from flareiac_spark.places import place_of, recorded_location
from flareiac_spark.storage import Place, make_folder, remove_tree


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
            found, manager = contents(place), manager_of(place)
        except Damaged as trouble:
            return Unreadable(diagnostic=damage(request.address, trouble))
        taken = is_another_state(manager, self._project.lineage)
        if found is None or (request.recorded is None and not found.used and not taken):
            return Missing(reason=f"there is no checkpoint in {location}")
        layout = _layout(found, checkpoint, request.recorded)
        for item in found.generations:
            if (
                item.damage is not None
                and number_in_use(item, layout, checkpoint.generation) == checkpoint.generation
            ):
                return Unreadable(diagnostic=damage(request.address, item.damage))
        facts = facts_of(found, layout, checkpoint.generation, now=time.time(), manager=manager)
        return Present(attributes={**attributes, "location": location}, identity=encode(layout), facts=facts)

    def apply(self, request: ChangeRequest) -> Outcome:
        planned = CheckpointDefinition.of(request.action.planned)
        location = place_of(planned.location, self._project)
        try:
            make_folder(location)
            found, other = contents(location), self._other_state(location)
            if other not in ("", request.action.payload):
                return NotApplied(diagnostics=(_taken(request.address, location, other),))
            mark(location, self._project.lineage)
        except OSError as trouble:
            why = (
                f"{location}: {trouble.strerror or trouble}. Make room or allow this user to write "
                "there, then apply again."
            )
            raise Failure(error(codes.CHECKPOINT_NOT_CREATED, why, address=request.address)) from trouble
        except Damaged as trouble:
            raise Failure(damage(request.address, trouble)) from trouble
        assert found is not None, "it was just made"
        layout = _layout(found, planned, request.action.recorded)
        return Applied(attributes=request.action.planned, identity=encode(layout))

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        recorded = request.action.recorded
        location = self._place(recorded.attributes)
        try:
            other = self._other_state(location)
        except Damaged as trouble:
            raise Failure(damage(request.address, trouble)) from trouble
        if other:
            return NotApplied(diagnostics=(_taken(request.address, location, other),))
        try:
            remove_tree(location)
        except OSError as trouble:
            why = (
                f"{location}: {trouble.strerror or trouble}. Some of it may be gone already; allow this "
                "user to delete it and apply again."
            )
            raise Failure(error(codes.CHECKPOINT_NOT_DELETED, why, address=request.address)) from trouble
        return Applied(
            attributes=recorded.attributes, identity=recorded.identity, messages=(f"deleted {location}",)
        )

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        match request.action:
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

    def describe(self, address: str, recorded: Recorded) -> DescribedCheckpoint:
        """What is inside. Raises ``Failure``."""
        try:
            return describe(recorded, self._project)
        except Damaged as trouble:
            raise Failure(damage(address, trouble)) from trouble
        except OSError as trouble:
            raise Failure(_unreachable(address, recorded, trouble)) from trouble

    def delete_unused(
        self, address: str, recorded: Recorded, holders: Sequence[Recorded], *, dry_run: bool
    ) -> Sequence[str]:
        """Deletes the generations past ``keep_generations`` and says which, in lines; ``dry_run``: says only.

        ``holders`` are the recorded resources that refer to it: what they may still need stays. Raises
        ``Failure``.
        """
        try:
            return tuple(delete_unused_generations(recorded, holders, self._project, dry_run=dry_run))
        except Damaged as trouble:
            raise Failure(damage(address, trouble)) from trouble
        except OSError as trouble:
            raise Failure(_unreachable(address, recorded, trouble)) from trouble

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


def _layout(found: Contents, checkpoint: CheckpointDefinition, recorded: Recorded | None) -> CheckpointLayout:
    """The layout is fixed when a checkpoint is first recorded: an imported folder stays the generation that
    it was imported as.
    """
    known = recorded_layout(recorded.identity) if recorded is not None else CheckpointLayout()
    if known.layout is not None:
        return known
    if found.layout == SINGLE:
        return CheckpointLayout(layout="single", layout_generation=checkpoint.generation)
    return CheckpointLayout(layout="generations")


def _taken(address: str, location: Place, other: str) -> Diagnostic:
    return error(
        codes.CHECKPOINT_MANAGED_ELSEWHERE,
        f"Since the plan was made, the state {other} has taken over the checkpoint in {location}. Nothing "
        "was changed. Make a new plan and review it.",
        address=address,
    )


def _unreachable(address: str, recorded: Recorded, trouble: OSError) -> Diagnostic:
    place = trouble.filename or CheckpointDefinition.of(recorded.attributes).location
    why = f"{place}: {trouble.strerror or trouble}. Let this user read and write there."
    return error(codes.CHECKPOINT_UNREACHABLE, why, address=address)
