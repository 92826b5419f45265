"""Plans the rewrite of position delete files, and forecasts what it does. Pure."""

from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg.maintenance.file_rewrite import contradictions, iceberg_options
from flareiac_iceberg.maintenance.humanize import count, size
from flareiac_iceberg.maintenance.kinds.delete_rewrite.measure import DeleteFigures
from flareiac_iceberg.maintenance.kinds.delete_rewrite.settings import DeleteRewrite
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg_runtime.kinds.delete_rewrite.perform import RewriteDeleteFiles


def plan(case: Case, settings: DeleteRewrite, figures: DeleteFigures | None) -> MaintenanceTask:
    """Due when a partition has enough small position delete files."""
    snapshot = case.figures.snapshot_id
    if snapshot is None or figures is None or not figures.files:
        if case.figures.format_version >= 3 and case.figures.totals.delete_files:
            return case.idle(
                "deletes are kept as vectors (format version 3), one for each data file: nothing to rewrite",
                of=snapshot,
            )
        return case.idle("no position delete files", of=snapshot)
    if wrong := contradictions("delete_rewrite", figures):
        return case.idle(wrong[0].line, of=snapshot, diagnostics=wrong)
    if not figures.rewritten_files:
        text = (
            f"{count(figures.files, 'position delete file')}, no partition has "
            f"{settings.min_input_files} small ones"
        )
        return case.idle(text, of=snapshot)
    if figures.apart and figures.added_files >= figures.rewritten_files:
        text = (
            f"{count(figures.files, 'position delete file')}, one for each data file: a rewrite would "
            "leave as many"
        )
        return case.idle(text, of=snapshot)
    if figures.unfit:
        text = (
            f"{count(figures.small, 'small position delete file')}; Iceberg cannot rewrite those of "
            f"partitions by a uuid or a fixed value, which {figures.unfit} is"
        )
        return case.idle(text, of=snapshot)
    if figures.taken:
        text = (
            f"{count(figures.small, 'small position delete file')}; Iceberg cannot rewrite those of a table "
            f"with a partition field called {figures.taken}, a name that its list of deletes has too"
        )
        return case.idle(text, of=snapshot)
    if figures.old_specs > 1:
        # It takes the files of all earlier specs for one partition, and then refuses them (measured).
        text = (
            f"{count(figures.small, 'small position delete file')}; Iceberg cannot rewrite those of "
            f"{figures.old_specs} earlier partition specs at once"
        )
        return case.idle(text, of=snapshot)
    text = (
        f"{count(figures.small, 'small position delete file')} of {figures.files:,}: "
        f"{figures.rewritten_files:,} of them ({size(figures.rewritten_bytes)}) "
        f"become about {figures.added_files:,}"
    )
    return case.due(
        text,
        RewriteDeleteFiles(options={**iceberg_options(settings), **settings.options}),
        of=snapshot,
        forecast={"rewritten_delete_files": figures.rewritten_files, "snapshot_before": snapshot},
    )
