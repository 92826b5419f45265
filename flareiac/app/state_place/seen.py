"""Is the state in its place the one that this checkout saw there? A place that lost it, a workspace that was
never made, and a state that was moved elsewhere all look like a project that nothing was applied of. Touches
``.flareiac/backend.json``.
"""

from contextlib import suppress
from dataclasses import replace
from enum import StrEnum

from flareiac.app.state_place.backend_record import read_record, write_record
from flareiac.app.state_place.place import StatePlace
from flareiac.app.state_place.selection import DEFAULT
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.sdk.state import Damaged
from flareiac.state.cipher import PassphraseMissing
from flareiac.state.read import Loaded


class Expected(StrEnum):
    """The state that a command expects."""

    SEEN = "seen"
    """The state that this checkout saw there."""
    SEEN_OR_GONE = "seen or gone"
    """Also none where one was seen: for a command that brings it back."""
    ANY = "any"
    """Whatever is there: for a command that replaces it by force."""


def is_stored(loaded: Loaded) -> bool:
    """Returns True if anything was ever written there."""
    return loaded.revision is not None or loaded.recovered.entries > 0


def check_seen(
    place: StatePlace,
    workspace: str,
    loaded: Loaded,
    *,
    expected: Expected = Expected.SEEN,
    even_moved: bool = False,
) -> None:
    """Notes the lineage of a state in a shared place, and refuses one that is not what was expected there.
    Raises ``Failure``.
    """
    if expected is not Expected.SEEN and not is_stored(loaded):
        return
    if place.is_shared and expected is not Expected.ANY:
        _check_lineage(place, workspace, loaded)
    if workspace != DEFAULT and not is_stored(loaded):
        raise no_such_workspace(place, workspace)
    if loaded.recovered.moved is not None and not even_moved:
        raise Failure(
            error(
                codes.STATE_MOVED,
                f"The state in {place} was moved to {loaded.recovered.moved}; what is left here is as old as "
                "the move. Take over the backend block that names the new place, then run flareiac init "
                "-reconfigure. flareiac state pull, list and show still read what is here.",
            )
        )


def check_known(place: StatePlace, workspace: str) -> None:
    """Refuses a workspace that was never made, before anything is written there. Raises ``Failure`` or
    ``OSError``.
    """
    if workspace == DEFAULT:
        return
    try:
        stored = place.open(workspace).read()
    except (Damaged, PassphraseMissing):
        return  # it was made, and who reads it says what is wrong with it
    if stored.snapshot is None and not stored.journal.records:
        record = read_record(place.root)
        if record is None or workspace not in record.lineages:
            raise no_such_workspace(place, workspace)


def no_such_workspace(place: StatePlace, workspace: str) -> Failure:
    """Builds the error for a workspace that holds nothing."""
    known = sorted({DEFAULT, *place.workspaces()})
    return Failure(
        error(
            codes.NO_SUCH_WORKSPACE,
            f"{place} holds no workspace {workspace!r}.{did_you_mean(workspace, known)} There are "
            f"{', '.join(known)}. To make it: flareiac workspace new {workspace}.",
        )
    )


def state_gone(place: StatePlace, workspace: str, lineage: str) -> Failure:
    """Builds the error for a state that was seen earlier and does not exist now."""
    return Failure(
        error(
            codes.STATE_GONE,
            f"This checkout has seen the state {lineage} (workspace {workspace}) in {place}, and now there "
            "is none: it was deleted, or these credentials see another place. Nothing was changed: a plan "
            "without it would create everything again. Bring it back: an earlier version of the objects, a "
            "backup of the database. If it is meant to be gone, or a copy is to take its place, run flareiac "
            "init -reconfigure, then flareiac state push FILE.",
        )
    )


def _check_lineage(place: StatePlace, workspace: str, loaded: Loaded) -> None:
    record = read_record(place.root)
    seen = record.lineages.get(workspace) if record is not None else None
    lineage = loaded.snapshot.lineage
    if seen is not None and not is_stored(loaded):
        raise state_gone(place, workspace, seen)
    if seen is not None and seen != lineage:
        raise Failure(
            error(
                codes.ANOTHER_STATE,
                f"This checkout has seen the state {seen} (workspace {workspace}) in {place}; the one that "
                f"is there now is {lineage}, of another project or made again. Nothing was changed. Correct "
                "the backend block; if this state is the right one, run flareiac init -reconfigure.",
            )
        )
    if seen is None and is_stored(loaded):
        note_seen(place, workspace, lineage)


def note_seen(place: StatePlace, workspace: str, lineage: str) -> None:
    """From now on this checkout expects that state there, where others can delete or replace it."""
    if not place.is_shared:
        return
    record = read_record(place.root)
    known = record if record is not None else place.record({})
    if known.lineages.get(workspace) != lineage:
        noted = replace(known, lineages={**known.lineages, workspace: lineage})
        with suppress(OSError):  # a checkout that cannot be written works, and remembers nothing
            write_record(place.root, noted)
