"""Deletes what is left of a checkpoint: generations past ``keep_generations``, and the folders that it was
moved from. Touches the disk.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Final

from flareiac.sdk.project import Project
from flareiac.sdk.results import Recorded
from flareiac_spark.checkpoint.move import is_nested, is_same_place, left_behind
from flareiac_spark.checkpoint.sizes import size_of, size_text
from flareiac_spark.checkpoint.tree_copy import Tree, tree_of
from flareiac_spark.checkpoint_files.folder_state import FolderState
from flareiac_spark.checkpoint_files.generations import Generation, contents
from flareiac_spark.checkpoint_files.layout import CheckpointLayout, recorded_layout
from flareiac_spark.checkpoint_files.reader import note_of, preparation_note
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity
from flareiac_spark.observation.checkpoint import number_in_use, removable
from flareiac_spark.places import place_of
from flareiac_spark_runtime.control.atomic_files import write_json
from flareiac_spark_runtime.storage import Place, place_at, remove_tree

HELD_SECONDS: Final = 7 * 24 * 3600
"""The time for which the snapshot before a rebuild is held, and with it the generation that it fits."""


def delete_unused_generations(
    recorded: Recorded, holders: Sequence[Recorded], project: Project, *, dry_run: bool
) -> Iterator[str]:
    """Removes what is past ``keep_generations``, a folder at a time. Raises ``Damaged`` and ``OSError``."""
    checkpoint = CheckpointDefinition.of(recorded.attributes)
    location = place_of(checkpoint.location, project)
    content = contents(location)
    generations = content.generations if content is not None else ()
    layout = recorded_layout(recorded.identity)
    numbered = [
        (generation, number_in_use(generation, layout, checkpoint.generation)) for generation in generations
    ]
    # A job whose apply failed may still run on an older generation than the checkpoint's own.
    in_use = min(
        [
            checkpoint.generation,
            *(holder.attributes.get("generation") or checkpoint.generation for holder in holders),
        ]
    )
    spare = removable({number for _generation, number in numbered}, in_use, checkpoint.keep_generations)
    held, stood_on = _held(holders), _stood_on(generations)
    for generation, number in numbered:
        if number not in spare:
            continue
        name = (
            f"generation {number} of output {generation.output}"
            if generation.output
            else f"generation {number}"
        )
        if why := _why_kept(generation, stood_on.get(generation.folder), held.get(number)):
            yield f"kept {name}: {why}"
        else:
            size = size_of(generation.folder)
            if not dry_run:
                _remove(generation.folder)
            what = "would remove" if dry_run else "removed"
            yield f"{what} {name} ({size_text(size)}, {generation.folder})"
    yield from _delete_left_behind(location, layout, holders, project, dry_run=dry_run)


def _delete_left_behind(
    location: Place,
    layout: CheckpointLayout,
    holders: Sequence[Recorded],
    project: Project,
    *,
    dry_run: bool,
) -> Iterator[str]:
    """The copies that moves left, of which nothing is used any more. Raises ``Damaged`` and ``OSError``."""
    left = left_behind(layout, project)
    for why in left.unknown:
        yield f"kept what a move may have left: {why}"
    named = [JobDefinition.of(holder.attributes).checkpoint_location for holder in holders if left.copies]
    waiting = [place_of(place, project) for place in named if place is not None]
    for place in left.copies:
        tree = tree_of(place)
        if place in waiting:
            yield f"kept {place}: a job on it was not applied since the move; run flareiac apply"
        elif is_same_place(place, location) or is_nested(place, location) or tree.marks_inside:
            yield f"kept {place}: a checkpoint that is in use lies in it, or around it"
        else:
            if not dry_run:
                _remove_left_behind(place, tree)
            what = "would remove" if dry_run else "removed"
            yield f"{what} the copy that a move left ({size_text(tree.bytes)}, {place})"


def _remove_left_behind(place: Place, tree: Tree) -> None:
    """The mark goes last: what a kill leaves is never taken for a checkpoint."""
    for path in tree.files:
        (place / path).unlink(missing_ok=True)
    remove_tree(place)


def _why_kept(generation: Generation, successor: Place | None, held: str | None) -> str:
    """Empty for what can go."""
    if generation.number == 0:
        return f"it is the folder that was imported ({generation.folder}); remove it by hand"
    if successor is not None:
        return f"{successor} goes on after it and has not begun"
    if held is not None:
        return f"the snapshot that fits it is held until {held}, so that its rebuild can be undone"
    return ""


def _stood_on(generations: Sequence[Generation]) -> dict[Place, Place]:
    """Folders after which one goes on that was prepared and has not begun: where it begins is known from them
    alone.
    """
    notes = {
        generation.folder: preparation_note(generation.folder)
        for generation in generations
        if generation.standing is FolderState.PREPARED
    }
    return {
        place_at(after): folder
        for folder, note in notes.items()
        if isinstance(after := (note or {}).get("after"), str)
    }


def _held(holders: Sequence[Recorded]) -> dict[int, str]:
    """Generations just before a rebuild of the last days, with the moment until which they are held."""
    moments: dict[int, str] = {}
    for holder in holders:
        # Whatever else a holder is, only a job notes rebuilds.
        job = JobIdentity.of({"rebuilds": holder.identity.get("rebuilds") or {}})
        for rebuild in job.rebuilds.values():
            until, before = rebuild.at + HELD_SECONDS, rebuild.generation_before
            if until > time.time() and before is not None:
                moments[before] = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(until))
    return moments


def _remove(folder: Place) -> None:
    """Without ``metadata`` and with a note it is one that was prepared and can go: what a kill leaves of it
    is never taken for a generation in use.
    """
    if preparation_note(folder) is None:
        write_json(note_of(folder), {"times": {}, "seeded": {}})
    (folder / "metadata").unlink(missing_ok=True)
    remove_tree(folder)
    note_of(folder).unlink(missing_ok=True)
