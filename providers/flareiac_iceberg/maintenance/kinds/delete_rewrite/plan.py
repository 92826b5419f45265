"""Plans the rewrite of position delete files, and forecasts what it does. Pure."""

from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg.maintenance.file_rewrite import contradictions, iceberg_options
from flareiac_iceberg.maintenance.humanize import count, size
from flareiac_iceberg.maintenance.kinds.delete_rewrite.measure import DeleteFigures
from flareiac_iceberg.maintenance.kinds.delete_rewrite.settings import DeleteRewrite
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg_runtime.kinds.delete_rewrite.perform import RewriteDeleteFiles


def plan(case: Case, settings: DeleteRewrite, found: DeleteFigures | None) -> MaintenanceTask:
    """Due when a partition has enough small position delete files."""
    snapshot = case.figures.snapshot_id
    if snapshot is None or found is None or not found.files:
        if case.figures.format_version >= 3 and case.figures.totals.delete_files:
            return case.idle(
                "deletes are kept as vectors (format version 3), one for each data file: nothing to rewrite",
                of=snapshot,
            )
        return case.idle("no position delete files", of=snapshot)
    if wrong := contradictions("delete_rewrite", found):
        return case.idle(wrong[0].line, of=snapshot, diagnostics=wrong)
    if not found.rewritten_files:
        text = (
            f"{count(found.files, 'position delete file')}, no partition has "
            f"{settings.min_input_files} small ones"
        )
        return case.idle(text, of=snapshot)
    if found.apart and found.added_files >= found.rewritten_files:
        text = (
            f"{count(found.files, 'position delete file')}, one for each data file: a rewrite would "
            "leave as many"
        )
        return case.idle(text, of=snapshot)
    if found.unfit:
        text = (
            f"{count(found.small, 'small position delete file')}; Iceberg cannot rewrite those of partitions "
            f"by a uuid or a fixed value, which {found.unfit} is"
        )
        return case.idle(text, of=snapshot)
    if found.taken:
        text = (
            f"{count(found.small, 'small position delete file')}; Iceberg cannot rewrite those of a table "
            f"with a partition field called {found.taken}, a name that its list of deletes has too"
        )
        return case.idle(text, of=snapshot)
    if found.old_specs > 1:
        # It takes the files of all earlier specs for one partition, and then refuses them (measured).
        text = (
            f"{count(found.small, 'small position delete file')}; Iceberg cannot rewrite those of "
            f"{found.old_specs} earlier partition specs at once"
        )
        return case.idle(text, of=snapshot)
    text = (
        f"{count(found.small, 'small position delete file')} of {found.files:,}: {found.rewritten_files:,} "
        f"of them ({size(found.rewritten_bytes)}) become about {found.added_files:,}"
    )
    return case.due(
        text,
        RewriteDeleteFiles(options={**iceberg_options(settings), **settings.options}),
        of=snapshot,
        forecast={"rewritten_delete_files": found.rewritten_files, "snapshot_before": snapshot},
    )
