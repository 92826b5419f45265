"""Plans the maintenance of a table: every declared task in the order of work, whether it is due or not. Pure.

How results compare with forecasts is reported in ``judge``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.records import decode
from flareiac.sdk.locations import is_within
from flareiac.sdk.maintenance import Judgement, MaintenanceTask, Neighbour, TasksRequest
from flareiac_iceberg import codes
from flareiac_iceberg.format.locations import comparable
from flareiac_iceberg.maintenance.expiry import Reach, reach
from flareiac_iceberg.maintenance.expiry_rules import freed
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.foreign_readers import holds as foreign_holds
from flareiac_iceberg.maintenance.humanize import count, duration, exact_duration, moment
from flareiac_iceberg.maintenance.kinds.orphan_removal.perform import PERFORMER as REMOVE_ORPHANS
from flareiac_iceberg.maintenance.kinds.orphan_removal.perform import RemoveOrphans
from flareiac_iceberg.maintenance.kinds.retention.perform import PERFORMER as DELETE_ROWS
from flareiac_iceberg.maintenance.kinds.retention.perform import DeleteRows
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.perform import PERFORMER as EXPIRE_SNAPSHOTS
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.perform import ExpireSnapshots
from flareiac_iceberg.maintenance.rewrites import compaction, delete_rewrite, manifest_rewrite
from flareiac_iceberg.maintenance.row_ages import floor
from flareiac_iceberg.maintenance.schema import NAMES
from flareiac_iceberg.maintenance.settings import (
    Compaction,
    DeleteRewrite,
    ManifestRewrite,
    OrphanRemoval,
    Retention,
    SnapshotExpiry,
    settings_of,
)
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg.maintenance.verify import judge


@dataclass(frozen=True, slots=True)
class TableMaintainer:
    """Pure knowledge of what a table needs."""

    def wants(self, attributes: Attributes) -> bool:
        """Whether any block is declared and enabled."""
        return any(attributes.get(name) is not None and attributes[name]["enabled"] for name in NAMES)

    def tasks(self, request: TasksRequest) -> tuple[MaintenanceTask, ...]:
        """All that is declared, in the order of work."""
        return tuple(_tasks(request))

    def judge(self, task: MaintenanceTask, result: Mapping[str, Data]) -> Judgement:
        """See ``judge``."""
        return judge(task, result)


def _tasks(request: TasksRequest) -> Iterator[MaintenanceTask]:
    figures = decode(Figures, request.figures)
    for name, settings in settings_of(request.attributes).items():
        case = Case(name=name, settings=settings, request=request, figures=figures)
        match settings:
            case Retention():
                yield retention(case, settings)
            case Compaction():
                yield compaction(case, settings)
            case DeleteRewrite():
                yield delete_rewrite(case, settings)
            case ManifestRewrite():
                yield manifest_rewrite(case, settings)
            case SnapshotExpiry():
                yield snapshot_expiry(case, settings)
            case OrphanRemoval():
                yield orphan_removal(case, settings)


def retention(case: Case, settings: Retention) -> MaintenanceTask:
    """Due when there are rows before the last full partition (or hour) that is old enough."""
    found, snapshot = case.figures.rows, case.figures.snapshot_id
    if snapshot is None or case.figures.totals.rows == 0:
        return case.idle("the table has no rows", of=snapshot)
    if found is None:
        return case.idle(
            f'the table has no column "{settings.column}"', of=snapshot, diagnostics=(_no_column(settings),)
        )
    if found.type not in ("timestamptz", "timestamp_ntz", "date"):
        return case.idle(
            f'"{settings.column}" is {found.type}',
            of=snapshot,
            diagnostics=(_no_time(settings, found.type),),
        )
    before = floor(case.request.now_ms - settings.keep, found.unit)
    of = [snapshot, before]
    whole = [item for item in found.ranges if item[1] <= before]
    partly = [item for item in found.ranges if item[0] < before < item[1]]
    units = f"whole {found.unit}s" + (" (partitions)" if found.whole else "")
    if not whole and not partly and not found.unknown:
        return case.idle(
            f"no rows from before {moment(before)} ({units}, keeping {exact_duration(settings.keep)})", of=of
        )
    rows = sum(item[2] for item in whole)
    sure = not partly and not found.unknown and not found.guessed and case.figures.totals.delete_files == 0
    how_many = f"{count(rows, 'row')}" if sure else "rows"
    text = (
        f"delete {how_many} from before {moment(before)} ({units}, keeping {exact_duration(settings.keep)})"
    )
    work = DeleteRows(column=settings.column, type=found.type, before_ms=before)
    return case.due(
        text,
        DELETE_ROWS.work(work),
        of=of,
        forecast={"deleted_rows": rows, "snapshot_before": snapshot} if sure else {},
    )


def _no_column(settings: Retention) -> Diagnostic:
    return warning(
        codes.NO_SUCH_COLUMN,
        f'The table has no column "{settings.column}", which retention.column names, so no row is deleted. '
        "Correct it.",
        attribute=("retention", "column"),
    )


def _no_time(settings: Retention, kind: str) -> Diagnostic:
    return warning(
        codes.UNFIT_MAINTENANCE_COLUMN,
        f'retention.column names "{settings.column}", which is {kind}; the age of a row is known from '
        "timestamptz, timestamp_ntz or date. "
        "No row is deleted. Correct it.",
        attribute=("retention", "column"),
    )


def snapshot_expiry(case: Case, settings: SnapshotExpiry) -> MaintenanceTask:
    """Due when enough snapshots are old, no one needs them, and the table may lose files."""
    of = [case.figures.snapshot_id, case.figures.ids]
    if not case.figures.collects:
        return case.idle(
            "the table's property gc.enabled is false", of=of, diagnostics=(_no_collection(case.name),)
        )
    history = case.figures.history
    assert history is not None, "an expiry is declared"
    if not history.times:
        return case.idle("the table has no snapshots", of=of)
    request = case.request
    readers = foreign_holds(
        request.address, request.attributes, case.figures.readers, history.times, request.now_ms
    )
    found = reach(history, settings, (*request.holds, *readers), request.now_ms)
    if found.blocked:
        return case.idle(
            f"nothing may go: {found.blocked}", of=of, held=found.held, diagnostics=found.diagnostics
        )
    gone, there = len(found.expiry.snapshots), len(history.times)
    if gone < settings.min_snapshots_to_expire and not found.expiry.refs:
        return case.idle(
            _not_yet(found, settings, history.times.values(), request.now_ms),
            of=of,
            held=found.held,
            diagnostics=found.diagnostics,
        )
    head = case.figures.snapshot_id
    forecast = {"expired_snapshots": gone} | ({"snapshot_before": head} if head is not None else {})
    if found.expiry.refs:
        forecast["dropped_refs"] = len(found.expiry.refs)
    files = freed(history, found.expiry.snapshots)
    if files is not None:
        forecast |= {"deleted_data_files": files[0], "deleted_delete_files": files[1]}
    text = f"expire {gone:,} of {count(there, 'snapshot')}, committed before {moment(found.cutoff)}"
    if files is not None:
        text += f", and free {count(files[0], 'data file')}"
    if found.expiry.refs:
        drops = f"drop {', '.join(found.expiry.refs)}, whose own time has passed"
        text = f"{text}; {drops}" if gone else f"{drops}; no snapshot goes"
    work = ExpireSnapshots(older_than_ms=found.cutoff, retain_last=settings.retain_last, held=found.needed)
    return case.due(
        text,
        EXPIRE_SNAPSHOTS.work(work),
        of=of,
        forecast=forecast,
        held=found.held,
        diagnostics=found.diagnostics,
    )


def _not_yet(found: Reach, settings: SnapshotExpiry, times: Collection[int], now_ms: int) -> str:
    age = duration(now_ms - min(times))
    text = (
        f"{count(len(found.expiry.snapshots), 'snapshot')} to expire of at least "
        f"{settings.min_snapshots_to_expire:,}"
    )
    return (
        f"{text} (the oldest of {len(times):,} is {age} old, keeping {exact_duration(settings.older_than)})"
    )


def orphan_removal(case: Case, settings: OrphanRemoval) -> MaintenanceTask:
    """Due when the last one is long enough ago, and no other's files can be below the table's location."""
    last = case.last
    of = case.figures.snapshot_id
    if not case.figures.collects:
        return case.idle(
            "the table's property gc.enabled is false", of=of, diagnostics=(_no_collection(case.name),)
        )
    location, unlisted = case.figures.location, case.figures.unlisted
    under = case.figures.under or ()
    beside = _beside(case.figures.place or comparable(location), case.request.neighbours, case.figures.lost)
    if beside or under:
        first = _named(beside[0]) if beside else f"the table {under[0]}"
        known = _shared(location, beside, under)
        return case.idle(f"{first} has files in the same place", of=of, diagnostics=(known,))
    if unlisted is not None:
        return case.idle(
            "what else the catalog holds is not known", of=of, diagnostics=(_unlisted(location, unlisted),)
        )
    if not case.figures.looked and not case.is_early:
        return case.idle("what else the catalogs hold was not looked at", of=of)
    holds = case.request.holds
    unknown = [hold for hold in holds if hold.unknown]
    if unknown:
        held = tuple(f"{hold.holder}: {hold.reason}, so everything stays" for hold in unknown)
        return case.idle(
            f"nothing may go: {unknown[0].holder} holds something that is not known", of=of, held=held
        )
    wanted = case.request.now_ms - settings.older_than
    at_work = [hold for hold in holds if hold.since_ms is not None and hold.since_ms < wanted]
    cutoff = min([wanted, *(hold.since_ms for hold in at_work if hold.since_ms is not None)])
    held = tuple(
        f"{hold.holder}: {hold.reason}, so files written since {moment(hold.since_ms or 0)} stay"
        for hold in at_work
    )
    what = "count" if settings.dry_run else "remove"
    since = (
        f"last done {duration(case.request.now_ms - int(last['at'] * 1000))} ago"
        if last
        else "never done with these settings"
    )
    text = f"{what} files that no snapshot names, written before {moment(cutoff)} ({since})"
    work = RemoveOrphans(
        older_than_ms=cutoff, dry_run=settings.dry_run, prefix_mismatch=settings.prefix_mismatch
    )
    return case.due(text, REMOVE_ORPHANS.work(work), of=of, forecast={}, held=held)


def _no_collection(name: str) -> Diagnostic:
    return warning(
        codes.COLLECTION_DISABLED,
        f"{name} does nothing: another table or tool may need files that this table no longer names (a "
        "clone, a migrated table), so none "
        'is deleted. If that is over, set properties = { "gc.enabled" = "true" }; if not, remove the block.',
        attribute=(name,),
    )


def _beside(own: str, neighbours: Iterable[Neighbour], lost: Collection[str]) -> list[Neighbour]:
    """Those with files below a table's place or around it, which are the places that orphans are looked for
    in.
    """
    there = (item for item in neighbours if not (item.dropped and item.address in lost))
    return [
        item for item in there if any(is_within(place, own) or is_within(own, place) for place in item.places)
    ]


def _named(neighbour: Neighbour) -> str:
    return f"{neighbour.address} (dropped)" if neighbour.dropped else neighbour.address


def _shared(location: str, beside: Sequence[Neighbour], under: Iterable[str]) -> Diagnostic:
    all_of_them = [f"{_named(item)} ({item.places[0]})" for item in beside] or [
        f"the table {name}" for name in under
    ]
    dropped = next((item.address for item in beside if item.dropped), None)
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
