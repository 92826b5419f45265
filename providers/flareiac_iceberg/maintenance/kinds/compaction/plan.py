"""Plans the rewrite of data files, and forecasts what it does. Pure."""

from collections.abc import Iterable, Mapping

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes
from flareiac_iceberg.format.spec import SortField
from flareiac_iceberg.maintenance.file_rewrite import contradictions, iceberg_options
from flareiac_iceberg.maintenance.humanize import count, percent, size
from flareiac_iceberg.maintenance.kinds.compaction.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.compaction.measure import RewriteFigures
from flareiac_iceberg.maintenance.kinds.compaction.settings import Compaction, misfits
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg_runtime.kinds.compaction.perform import RewriteDataFiles


def plan(case: Case, settings: Compaction, figures: RewriteFigures | None) -> MaintenanceTask:
    """Due when one of the thresholds is passed and Iceberg would take files."""
    snapshot = case.figures.snapshot_id
    # Declared ones have been judged already, and may be about to be added.
    columns = figures.columns if figures is not None and case.request.attributes["columns"] is None else None
    if columns is not None and (wrong := misfits(settings, columns)):
        return case.idle(wrong[0].line, of=snapshot, diagnostics=wrong)
    if snapshot is None or figures is None:
        return case.idle("the table has no rows", of=snapshot)
    if figures.few is not None:
        over = settings.run_if.small_files_over
        of_how_many = f" (limit of small ones: {over:,})" if over is not None else ""
        return case.idle(f"{count(figures.few, 'data file')} in all{of_how_many}", of=snapshot)
    if wrong := contradictions("compaction", figures):
        return case.idle(wrong[0].line, of=snapshot, diagnostics=wrong)
    reason, passed = reached(figures, settings)
    if not passed:
        return case.idle(reason, of=snapshot)
    return _rewrite(case, settings, figures, reason)


def _rewrite(case: Case, settings: Compaction, figures: RewriteFigures, reason: str) -> MaintenanceTask:
    """The rewrite of files that are worth it, unless the table does not allow it."""
    snapshot, spec_ids = case.figures.snapshot_id, case.figures.spec_ids
    if settings.strategy == "sort" and settings.sort_by is None and not case.figures.sorted:
        return case.idle("the table has no order to sort by", of=snapshot, diagnostics=(_no_order(),))
    if not figures.rewritten_files:
        return case.idle(
            f"{reason}, but no partition has {figures.min_input_files} of them: nothing to rewrite",
            of=snapshot,
        )
    into = settings.options.get("output-spec-id")
    if into is not None and int(into) not in spec_ids:
        return case.idle(
            f"the table has no partition spec {into}", of=snapshot, diagnostics=(_no_spec(into, spec_ids),)
        )
    about, number = "" if figures.exact else "at most ", figures.rewritten_files
    text = (
        f"{reason}: {about}{count(number, 'file')} ({size(figures.rewritten_bytes)}) "
        f"become{'s' if number == 1 else ''} about {figures.added_files:,}"
    )
    task = case.due(text, task_of(settings), of=snapshot, forecast=_forecast(case, figures))
    return case.once_old_enough(task) if DECLARATION.first_run_waits(settings) else task


def task_of(settings: Compaction) -> RewriteDataFiles:
    """The task for Spark."""
    return RewriteDataFiles(
        strategy=settings.strategy,
        sort_order=_sort_order(settings),
        where=settings.where,
        options={**iceberg_options(settings), **_own_options(settings), **settings.options},
    )


def _own_options(settings: Compaction) -> Mapping[str, str]:
    options = {"delete-ratio-threshold": str(settings.delete_ratio)}
    if settings.delete_file_threshold is not None:
        options["delete-file-threshold"] = str(settings.delete_file_threshold)
    if settings.rewrite_all:
        options["rewrite-all"] = "true"
    return options


def _forecast(case: Case, figures: RewriteFigures) -> dict[str, int]:
    """Exact for the snapshot that it is about: what is done on a later one may differ. The bytes of delete
    files count as rewritten, too, and which of them go is not known before.
    """
    snapshot = case.figures.snapshot_id
    if not figures.exact or snapshot is None:
        return {}
    has_deletes = case.figures.totals.delete_files != 0
    return {
        "rewritten_files": figures.rewritten_files,
        **({} if has_deletes else {"rewritten_bytes": figures.rewritten_bytes}),
        "snapshot_before": snapshot,
    }


def reached(figures: RewriteFigures, settings: Compaction) -> tuple[str, bool]:
    """The figures against their thresholds, and whether one is passed."""
    if settings.rewrite_all:
        return f"all {count(figures.files, 'file')}", figures.files > 0
    unfit, worn, files = figures.unfit, figures.worn, figures.files
    over, share = settings.run_if.small_files_over, settings.run_if.small_file_share_over
    part = unfit / files if files else 0.0
    what = "small or with many deleted rows" if worn else "small"
    files_told = f"{count(unfit, 'file')} {what}" if worn else count(unfit, "small file")
    texts = [f"{files_told} (limit {over:,})"] if over is not None else []
    texts += [f"{percent(part)} {what} (limit {percent(share)})"] if share is not None else []
    return ", ".join(texts), (over is not None and unfit > over) or (share is not None and part > share)


def _sort_order(settings: Compaction) -> str | None:
    if settings.zorder_by:
        return f"zorder({', '.join(map(_name, settings.zorder_by))})"
    return ", ".join(map(_term, settings.sort_by)) if settings.sort_by else None


def _term(term: SortField) -> str:
    """``day(ts) DESC NULLS LAST``: as Iceberg's procedures read it."""
    column = _name(term.column)
    width = f"{term.param}, " if term.param is not None else ""
    what = column if term.transform == "identity" else f"{term.transform}({width}{column})"
    return f"{what} {term.direction.upper()} NULLS {term.nulls.upper()}"


def _name(path: str) -> str:
    return ".".join(
        part if part.isidentifier() and part.isascii() else f"`{part.replace('`', '``')}`"
        for part in path.split(".")
    )


def _no_spec(wanted: str, there: Iterable[int]) -> Diagnostic:
    return warning(
        codes.NO_SUCH_PARTITION_SPEC,
        f"Compaction cannot write by partition spec {wanted}: the table has {', '.join(map(str, there))}. "
        "Correct output-spec-id in compaction.options, or leave it out for the current one.",
        attribute=("compaction", "options"),
    )


def _no_order() -> Diagnostic:
    return warning(
        codes.NO_SORT_ORDER,
        'compaction.strategy is "sort" without sort_by, and the table itself is not sorted. Write '
        "compaction.sort_by, or sort_by of the table.",
        attribute=("compaction", "strategy"),
    )
