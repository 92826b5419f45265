"""Moves a checkpoint to another place: copies it, proves the copy, and marks both ends, so that a query
starts in neither of them before the state says where the checkpoint is.

The old folder stays as it is, with a mark: it is whole until the move is recorded, and ``checkpoint gc``
removes it. The marks say what a kill has left, and the same move completes it. Touches disks and
buckets.
"""

import os
import shutil
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.project import Project
from flareiac_spark.checkpoint.tree_copy import Tree, copy_tree, tree_of
from flareiac_spark.checkpoint_files.layout import CheckpointLayout
from flareiac_spark.checkpoint_files.manager import mark, mark_of
from flareiac_spark.observation.checkpoint import MoveTarget
from flareiac_spark.places import place_of
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.storage import ObjectPath, Place, make_folder, place_at


class Ended(StrEnum):
    """The state of a folder that may have lost its checkpoint to another place."""

    NOT_GONE = "not gone"
    UNFINISHED = "unfinished"
    """A move to that place was begun, and this folder is still the checkpoint."""
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """``place``: where a folder says that its checkpoint has gone, empty where it says nothing."""

    ended: Ended = Ended.NOT_GONE
    place: str = ""


def departure(source: Place, lineage: str) -> Departure:
    """Says whether a checkpoint has left its folder. A place that is not there any more counts as reached:
    the checkpoint may have gone on there. Raises ``Damaged`` and ``OSError``.
    """
    folder_mark = mark_of(source)
    if folder_mark is None or not folder_mark.moved_to:
        return Departure()
    there = mark_of(place_at(folder_mark.moved_to))
    unfinished = there is not None and there.lineage == lineage and there.arriving_from == str(source)
    return Departure(ended=Ended.UNFINISHED if unfinished else Ended.GONE, place=folder_mark.moved_to)


def is_same_place(one: Place, other: Place) -> bool:
    """Returns True where two spellings name one folder, as by a link or a mount."""
    if isinstance(one, ObjectPath) or isinstance(other, ObjectPath):
        return one == other
    return _is_same(Path(str(one)), Path(str(other)))


def _is_same(one: Path, other: Path) -> bool:
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and one.samefile(other)


def is_inside(place: Place, other: Place) -> bool:
    """Returns True where a place is below the other one, whatever each is called."""
    if isinstance(place, ObjectPath) or isinstance(other, ObjectPath):
        both = isinstance(place, ObjectPath) and isinstance(other, ObjectPath)
        return both and str(place).startswith(f"{other}/")
    above = Path(os.path.realpath(str(place))).parents
    return any(_is_same(folder, Path(str(other))) for folder in above)


def is_nested(one: Place, other: Place) -> bool:
    """Returns True where one of two places is inside the other."""
    return is_inside(one, other) or is_inside(other, one)


def target_of_move(source: Place, target: Place, layout: CheckpointLayout, project: Project) -> MoveTarget:
    """Looks at the place that a checkpoint is to move to. Raises ``Damaged`` and ``OSError``."""
    if is_same_place(source, target):
        return MoveTarget.SAME
    if is_nested(target, source):
        return MoveTarget.NESTED
    folder_mark = mark_of(target)
    if folder_mark is None:
        there = tree_of(target)
        return MoveTarget.OCCUPIED if there.files or _is_file(target) else MoveTarget.FREE
    if folder_mark.lineage != project.lineage:
        return MoveTarget.OF_ANOTHER_STATE
    if folder_mark.arriving_from:
        return MoveTarget.BEGUN if folder_mark.arriving_from == str(source) else MoveTarget.OCCUPIED
    if folder_mark.moved_to:
        return MoveTarget.LEFT if _was_left(target, layout, project) else MoveTarget.OCCUPIED
    at_source = mark_of(source)
    if at_source is not None and at_source.moved_to == str(target):
        return MoveTarget.REACHED
    return MoveTarget.OCCUPIED


def _is_file(place: Place) -> bool:
    return not isinstance(place, ObjectPath) and place.exists() and not place.is_dir()


def _was_left(target: Place, layout: CheckpointLayout, project: Project) -> bool:
    """Returns True where the checkpoint was there before, so that an older copy of it is there."""
    return any(place_of(location, project) == target for location in layout.left)


def move(
    source: Place,
    target: Place,
    lineage: str,
    progress: Callable[[str], None],
    cancel: threading.Event,
    *,
    alone: bool,
) -> Tree:
    """Leaves a whole checkpoint at ``target``, a marked one at ``source``. Raises as ``copy_tree`` does."""
    make_folder(target)
    mark(target, lineage, arriving_from=str(source))
    reach("checkpoint-move.begun")
    copied = copy_tree(source, target, progress, cancel, alone=alone)
    reach("checkpoint-move.copied")
    # In this order there is no moment at which both could be started in.
    mark(source, lineage, moved_to=str(target))
    reach("checkpoint-move.left")
    mark(target, lineage)
    reach("checkpoint-move.arrived")
    return copied


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """The folders in which earlier moves left a copy, as their marks still say, and those that cannot be
    asked, each with the reason.
    """

    copies: tuple[Place, ...]
    unknown: tuple[str, ...]


def left_behind(layout: CheckpointLayout, project: Project) -> LeftBehind:
    """Looks for copies at the places where a checkpoint was."""
    copies: list[Place] = []
    unknown: list[str] = []
    for location in layout.left:
        place = place_of(location, project)
        try:
            folder_mark = mark_of(place)
        except Damaged as error:
            unknown.append(str(error))
            continue
        if folder_mark is not None and folder_mark.lineage == project.lineage and folder_mark.moved_to:
            copies.append(place)
    return LeftBehind(copies=tuple(copies), unknown=tuple(unknown))


def free_room(target: Place) -> int | None:
    """The bytes that are free at a place; None in a bucket. Raises ``OSError``."""
    if isinstance(target, ObjectPath):
        return None
    path = Path(str(target))
    return shutil.disk_usage(next(folder for folder in (path, *path.parents) if folder.exists())).free
