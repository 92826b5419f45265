"""The parts that all maintenance tasks share: the check that it is too early, identities, and the words
around them. Pure.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from flareiac.kernel.data import Data, Reference, digest
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Effect
from flareiac.sdk.maintenance import LastRun, MaintenanceTask, TasksRequest
from flareiac.sdk.table_tasks import Performer
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.declaration import Settings
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.humanize import duration, exact_duration, moment

_SHORT: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One block of one table. ``of`` is what its outcome depends on beside the settings: the snapshot, or
    more.
    """

    name: str
    settings: Settings
    performer: Performer[Any]
    effect: Effect
    request: TasksRequest
    figures: Figures

    @property
    def engine(self) -> Reference | None:
        engine: Reference | None = self.request.attributes.get("engine")
        return engine

    def due(
        self,
        summary: str,
        task: object,
        *,
        of: Data,
        forecast: Mapping[str, int],
        held: tuple[str, ...] = (),
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> MaintenanceTask:
        """Work to do (``task`` is the performer's own record), unless the last run is too near."""
        if unreadable := self.figures.not_in_spark:
            return self.idle(
                f"Spark cannot load the table: {', '.join(unreadable)} has a type that it does not know",
                of=of,
            )
        early = self._early()
        text = f"{early}; waiting: {summary}" if early else summary
        waiting = self.idle(text, of=of, held=held, diagnostics=diagnostics)
        if early:
            return replace(waiting, forecast=forecast)
        work = self.performer.work(task)
        return replace(waiting, due=True, forecast=forecast, work=work, effect=self.effect)

    @staticmethod
    def noticed(task: MaintenanceTask) -> MaintenanceTask:
        """The same work, if it is due, as readers outside of the project notice it."""
        return replace(task, hits_readers=task.due)

    def once_old_enough(self, task: MaintenanceTask) -> MaintenanceTask:
        """The same work for which no figure of the table speaks. Its first run waits as long as the table is
        younger than the time between two runs, or was made by a clock that is ahead; a table of an unknown
        age waits for nothing.
        """
        made, every, now = self.figures.made_ms, self.settings.every, self.request.now_ms
        if not task.due or self.last or made is None or every is None or now - made >= every:
            return task
        why = f"the table was made {duration(now - made)} ago, the first run is on {moment(made + every)}"
        return replace(task, due=False, work=None, effect=None, summary=f"{why}; waiting: {task.summary}")

    def idle(
        self, summary: str, *, of: Data, held: tuple[str, ...] = (), diagnostics: tuple[Diagnostic, ...] = ()
    ) -> MaintenanceTask:
        """Nothing to do, and why."""
        return MaintenanceTask(
            name=self.name,
            id=self._id(of),
            due=False,
            summary=summary,
            held=held,
            diagnostics=diagnostics,
            performer=self.engine,
        )

    @property
    def last(self) -> LastRun | None:
        """The last run under these very settings that did not fail: as recorded, or, where the command did
        not live to do that, as the table tells it.
        """
        run = self._unrecorded or self.request.runs.get(self.name)
        return run if run is not None and _counts(run, self._prefix) else None

    @property
    def _unrecorded(self) -> LastRun | None:
        """The newest run that left a mark in the table, where it is later than what is recorded."""
        mark, run = self.figures.marks.get(self.name), self.request.runs.get(self.name)
        # One commit of several does not tell that the others were made.
        partial = getattr(self.settings, "partial_progress", None) is not None
        if partial or mark is None or not mark.id.startswith(self._prefix):
            return None
        if run is not None and (run.id == mark.id or run.at * 1000 > mark.at):
            return None
        return LastRun(id=mark.id, at=mark.at / 1000)

    @property
    def is_early(self) -> bool:
        """True if the last run is too near."""
        return bool(self._early())

    def _early(self) -> str:
        run, every = self.last, self.settings.every
        if run is None or every is None or not _is_recent(run, every, self.request.now_ms):
            return ""
        ago = self.request.now_ms - int(run.at * 1000)
        return f"ran {duration(ago)} ago, at most once in {exact_duration(every)}"

    @property
    def _prefix(self) -> str:
        return _prefix(self.name, self.settings)

    def _id(self, of: Data) -> str:
        # The last run's time: what was recorded as done is never taken for the answer to a later question
        # about the same snapshot.
        run = self.request.runs.get(self.name)
        ran = None if run is None else run.at
        return f"{self._prefix}{digest([self.figures.uuid, of, ran])[:_SHORT]}"


def ran_lately(name: str, settings: Settings, run: LastRun | None, now_ms: int) -> bool:
    """Returns True if a maintenance task that leaves no mark in the table has been done, under these
    settings, so lately that it is not due again.
    """
    if run is None or settings.every is None or not _counts(run, _prefix(name, settings)):
        return False
    return _is_recent(run, settings.every, now_ms)


def _counts(run: LastRun, prefix: str) -> bool:
    return not run.failed and run.id.startswith(prefix)


def _is_recent(run: LastRun, every: int, now_ms: int) -> bool:
    return now_ms - int(run.at * 1000) < every


def _prefix(name: str, settings: Settings) -> str:
    known = {
        key: value
        for key, value in encode(settings).items()
        if key not in ("every", "enabled", "hold_readers_for", "run_if")
    }
    return f"{name}-{digest(known)[:_SHORT]}-"


def entered_twice(name: str, figures: Figures) -> tuple[str, Diagnostic]:
    """The reason why files of expired snapshots stay: another entry of the same table may still name them."""
    if figures.entries_unknown:
        text = (
            f"{name} does nothing: whether a catalog has this table under another name, which would lose its "
            f"files, is not known. {figures.entries_unknown}"
        )
        unknown = warning(codes.NEIGHBOURS_UNKNOWN, text, attribute=(name,))
        return "what else the catalogs hold is not known", unknown
    first = figures.entries[0]
    text = (
        f"{name} does nothing: {', '.join(figures.entries[:3])} is this very table (uuid {figures.uuid}) "
        "under another name. What expires here would be deleted there. Take one of the two out of its "
        f"catalog with its files kept, or remove the {name} block."
    )
    return f"{first} is the same table", warning(codes.LOCATION_SHARED, text, attribute=(name,))


def no_collection(name: str) -> Diagnostic:
    """The table forbids that its files are deleted."""
    return warning(
        codes.COLLECTION_DISABLED,
        f"{name} does nothing: another table or tool may need files that this table no longer names (a "
        "clone, a migrated table), so none "
        'is deleted. If that is over, set properties = { "gc.enabled" = "true" }; if not, remove the block.',
        attribute=(name,),
    )
