"""Plans the removal of files that no snapshot names. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Effect
from flareiac.sdk.locations import is_within
from flareiac.sdk.maintenance import MaintenanceTask, Neighbour
from flareiac_iceberg import codes
from flareiac_iceberg.format.locations import comparable
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.humanize import duration, moment
from flareiac_iceberg.maintenance.kinds.orphan_removal.look import Beside
from flareiac_iceberg.maintenance.kinds.orphan_removal.settings import OrphanRemoval
from flareiac_iceberg.maintenance.task_builder import Case, no_collection
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import RemoveOrphans

_PLACES: Final = 3


def plan(case: Case, settings: OrphanRemoval, surroundings: Beside | None) -> MaintenanceTask:
    """Due when the last one is long enough ago, and no other's files can be below the table's location."""
    of = case.figures.snapshot_id
    if not case.figures.collects:
        return case.idle(
            "the table's property gc.enabled is false", of=of, diagnostics=(no_collection(case.name),)
        )
    if shared := _shared_place(case, surroundings or Beside()):
        return case.idle(shared[0], of=of, diagnostics=(shared[1],))
    if surroundings is None and not case.is_early:
        return case.idle("what else the catalogs hold was not looked at", of=of)
    unknown = [hold for hold in case.request.holds if hold.unknown]
    if unknown:
        held = tuple(f"{hold.holder}: {hold.reason}, so everything stays" for hold in unknown)
        return case.idle(
            f"no file is deleted: it is not known which files {unknown[0].holder} needs", of=of, held=held
        )
    return _remove(case, settings)


def _remove(case: Case, settings: OrphanRemoval) -> MaintenanceTask:
    last, now = case.last, case.request.now_ms
    wanted = now - settings.older_than
    at_work = [
        (hold, hold.since_ms)
        for hold in case.request.holds
        if hold.since_ms is not None and hold.since_ms < wanted
    ]
    cutoff = min([wanted, *(since for _, since in at_work)])
    held = tuple(
        f"{hold.holder}: {hold.reason}, so files written since {moment(since)} stay"
        for hold, since in at_work
    )
    held += _not_looked_at(case.figures)
    what = "count" if settings.dry_run else "list and delete the"
    done = f"last run {duration(now - int(last.at * 1000))} ago" if last else "first run"
    age = duration(now - cutoff)
    text = f"{done}: {what} files that no snapshot names, older than {age}, written before {moment(cutoff)}"
    if not settings.dry_run:
        text += "; how many there are is only known once they are listed"
    work = RemoveOrphans(
        older_than_ms=cutoff, dry_run=settings.dry_run, prefix_mismatch=settings.prefix_mismatch
    )
    task = case.due(text, work, of=case.figures.snapshot_id, forecast={}, held=held)
    if task.due and settings.dry_run:
        task = replace(task, effect=Effect.NO_EFFECT)
    return case.once_old_enough(task)


def _not_looked_at(figures: Figures) -> tuple[str, ...]:
    """Says which places of the table are left out, and how much lives there."""
    if figures.outside is None:
        return ()
    places, files = figures.outside.places, figures.outside.files
    more = f" and {len(places) - _PLACES} more places" if len(places) > _PLACES else ""
    live = f"{files} live file{'' if files == 1 else 's'}"
    what = f"{', '.join(places[:_PLACES])}{more}: {live} outside of the table's location"
    return (f"{what}, so files there that no snapshot names stay: they are not looked for",)


def _shared_place(case: Case, surroundings: Beside) -> tuple[str, Diagnostic] | None:
    """The reason that the place of the table may hold files of another one, None where it does not."""
    figures, under = case.figures, surroundings.under or ()
    beside = _beside(
        figures.place or comparable(figures.location), case.request.neighbours, surroundings.lost
    )
    if beside or under:
        first = _named(beside[0]) if beside else f"the table {under[0]}"
        return f"{first} has files in the same place", _shared(figures.location, beside, under)
    if surroundings.unlisted is not None:
        return "what else the catalog holds is not known", _unlisted(figures.location, surroundings.unlisted)
    return None


def _beside(own: str, neighbours: Iterable[Neighbour], lost: Collection[str]) -> list[Neighbour]:
    """The tables with files below a table's place or around it, which are the places that orphans are looked
    for in.
    """
    there = (neighbour for neighbour in neighbours if not (neighbour.dropped and neighbour.address in lost))
    return [
        neighbour
        for neighbour in there
        if any(is_within(place, own) or is_within(own, place) for place in neighbour.places)
    ]


def _named(neighbour: Neighbour) -> str:
    return f"{neighbour.address} (dropped)" if neighbour.dropped else neighbour.address


def _shared(location: str, beside: Sequence[Neighbour], under: Iterable[str]) -> Diagnostic:
    all_of_them = [f"{_named(neighbour)} ({neighbour.places[0]})" for neighbour in beside] or [
        f"the table {name}" for name in under
    ]
    dropped = next((neighbour.address for neighbour in beside if neighbour.dropped), None)
    back = (
        f" The files of what was dropped stay for flareiac undrop {dropped}; to give it up, so that they may "
        f"go: flareiac state rm {dropped}."
        if dropped
        else ""
    )
    return warning(
        codes.LOCATION_SHARED,
        f"Orphan removal does nothing: what no snapshot of this table names below {location} may belong to "
        f"{', '.join(all_of_them[:3])}. Give each a location of its own, or remove the orphan_removal "
        f"block.{back}",
        attribute=("orphan_removal",),
    )


def _unlisted(location: str, why: str) -> Diagnostic:
    return warning(
        codes.NEIGHBOURS_UNKNOWN,
        f"Orphan removal does nothing: what no snapshot of this table names below {location} may belong to "
        f"another table. {why}",
        attribute=("orphan_removal",),
    )
