"""Decides whether a rewrite of data files, delete files or manifests is due, and forecasts what it does.
Pure.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.canonical import misfits
from flareiac_iceberg.maintenance.figures import FileGroups, ManifestSizes, RewriteFigures
from flareiac_iceberg.maintenance.humanize import count, exact_size, percent, size
from flareiac_iceberg.maintenance.kinds.compaction.perform import PERFORMER as REWRITE_DATA
from flareiac_iceberg.maintenance.kinds.compaction.perform import RewriteDataFiles
from flareiac_iceberg.maintenance.kinds.delete_rewrite.perform import PERFORMER as REWRITE_DELETES
from flareiac_iceberg.maintenance.kinds.delete_rewrite.perform import RewriteDeleteFiles
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.perform import PERFORMER as REWRITE_MANIFESTS
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.perform import RewriteManifests
from flareiac_iceberg.maintenance.settings import Compaction, DeleteRewrite, ManifestRewrite
from flareiac_iceberg.maintenance.task_builder import Case


def compaction(case: Case, settings: Compaction) -> MaintenanceTask:
    """Due when one of the thresholds is passed and Iceberg would take files."""
    found, snapshot = case.figures.rewrite, case.figures.snapshot_id
    # Declared ones have been judged already, and may be about to be added.
    columns = case.figures.columns if case.request.attributes["columns"] is None else None
    if columns is not None and (wrong := misfits(settings, columns)):
        return case.idle(wrong[0].line, of=snapshot, diagnostics=wrong)
    if snapshot is None or found is None:
        return case.idle("the table has no rows", of=snapshot)
    if found.few is not None:
        over = settings.run_if.get("small_files_over")
        of_how_many = f" (limit of small ones: {over:,})" if over is not None else ""
        return case.idle(f"{count(found.few, 'data file')} in all{of_how_many}", of=snapshot)
    if wrong := _contradictions("compaction", found):
        return case.idle(wrong[0].line, of=snapshot, diagnostics=wrong)
    reason, passed = _reason(found, settings)
    unsorted = settings.strategy == "sort" and settings.sort_by is None and not case.figures.sorted
    if unsorted and passed:
        return case.idle("the table has no order to sort by", of=snapshot, diagnostics=(_no_order(),))
    if not passed:
        return case.idle(reason, of=snapshot)
    if not found.rewritten_files:
        return case.idle(
            f"{reason}, but no partition has {found.min_input_files} of them: nothing to rewrite",
            of=snapshot,
        )
    into = settings.options.get("output-spec-id")
    if into is not None and int(into) not in case.figures.spec_ids:
        return case.idle(
            f"the table has no partition spec {into}",
            of=snapshot,
            diagnostics=(_no_spec(into, case.figures.spec_ids),),
        )
    forecast = (
        {"rewritten_files": found.rewritten_files, "rewritten_bytes": found.rewritten_bytes}
        if found.exact
        else {}
    )
    about, number = "" if found.exact else "at most ", found.rewritten_files
    text = (
        f"{reason}: {about}{count(number, 'file')} ({size(found.rewritten_bytes)}) "
        f"become{'s' if number == 1 else ''} about {found.added_files:,}"
    )
    work = RewriteDataFiles(
        strategy=_strategy(settings),
        sort_order=_sort_order(settings),
        where=settings.where,
        options=options(settings),
    )
    return case.due(text, REWRITE_DATA.work(work), of=snapshot, forecast=_at(snapshot, forecast))


def _at(snapshot: int, forecast: Mapping[str, int]) -> dict[str, int]:
    """A forecast with the snapshot that it is about: what is done on a later one may differ."""
    return {**forecast, "snapshot_before": snapshot} if forecast else {}


def _reason(found: RewriteFigures, settings: Compaction) -> tuple[str, bool]:
    """The figures against their thresholds, and whether one is passed."""
    if settings.rewrite_all:
        return f"all {count(found.files, 'file')}", found.files > 0
    unfit, worn, files = found.unfit, found.worn, found.files
    over, share = settings.run_if.get("small_files_over"), settings.run_if.get("small_file_share_over")
    part = unfit / files if files else 0.0
    what = "small or with many deleted rows" if worn else "small"
    files_told = f"{count(unfit, 'file')} {what}" if worn else count(unfit, "small file")
    texts = [f"{files_told} (limit {over:,})"] if over is not None else []
    texts += [f"{percent(part)} {what} (limit {percent(share)})"] if share is not None else []
    return ", ".join(texts), (over is not None and unfit > over) or (share is not None and part > share)


def _strategy(settings: Compaction) -> Literal["binpack", "sort", "zorder"]:
    match settings.strategy:
        case "sort":
            return "sort"
        case "zorder":
            return "zorder"
        case _:
            return "binpack"


def _sort_order(settings: Compaction) -> str | None:
    if settings.zorder_by:
        return f"zorder({', '.join(map(_name, settings.zorder_by))})"
    return ", ".join(map(_term, settings.sort_by)) if settings.sort_by else None


def _term(term: Attributes) -> str:
    """``day(ts) DESC NULLS LAST``: as Iceberg's procedures read it."""
    column = _name(term["column"])
    width = f"{term['param']}, " if term["param"] is not None else ""
    what = column if term["transform"] == "identity" else f"{term['transform']}({width}{column})"
    return f"{what} {term['direction'].upper()} NULLS {term['nulls'].upper()}"


def _name(path: str) -> str:
    return ".".join(
        part if part.isidentifier() and part.isascii() else f"`{part.replace('`', '``')}`"
        for part in path.split(".")
    )


def options(settings: Compaction | DeleteRewrite) -> dict[str, str]:
    """Iceberg's options, by its names: only what was declared or differs from its defaults stands there."""
    found: dict[str, str] = {
        "min-input-files": str(settings.min_input_files),
        "max-file-group-size-bytes": str(settings.max_file_group_size),
        "max-concurrent-file-group-rewrites": str(settings.max_concurrent_groups),
    }
    sizes = {
        "target-file-size-bytes": settings.target_file_size,
        "min-file-size-bytes": settings.min_file_size,
        "max-file-size-bytes": settings.max_file_size,
    }
    found |= {name: str(value) for name, value in sizes.items() if value is not None}
    if isinstance(settings, Compaction):
        found["delete-ratio-threshold"] = str(settings.delete_ratio)
        if settings.delete_file_threshold is not None:
            found["delete-file-threshold"] = str(settings.delete_file_threshold)
        if settings.rewrite_all:
            found["rewrite-all"] = "true"
    if settings.partial_progress is not None:
        found["partial-progress.enabled"] = "true"
        found |= {
            f"partial-progress.{name.replace('_', '-')}": str(value)
            for name, value in settings.partial_progress.items()
        }
    return found | {name: str(value) for name, value in settings.options.items()}


def _contradictions(name: str, found: FileGroups) -> tuple[Diagnostic, ...]:
    """With the wanted size that the table has, where the block declares none."""
    least, wanted, most = found.sizes
    if least < wanted < most:
        return ()
    why = (
        f"In {name} the wanted size is {exact_size(wanted)}, as the table's properties or Iceberg's default "
        f"say; less than {exact_size(least)} is small, larger than {exact_size(most)} is large. Write "
        f"{name}.target_file_size, or other limits."
    )
    return (warning(codes.SIZES_CONTRADICT, why, attribute=(name,)),)


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
        "compaction.sort_by, or sort_by of the "
        "table.",
        attribute=("compaction", "strategy"),
    )


def delete_rewrite(case: Case, settings: DeleteRewrite) -> MaintenanceTask:
    """Due when a partition has enough small position delete files."""
    found, snapshot = case.figures.deletes, case.figures.snapshot_id
    if snapshot is None or found is None or not found.files:
        if case.figures.format_version >= 3 and case.figures.totals.delete_files:
            return case.idle(
                "deletes are kept as vectors (format version 3), one for each data file: nothing to rewrite",
                of=snapshot,
            )
        return case.idle("no position delete files", of=snapshot)
    if wrong := _contradictions("delete_rewrite", found):
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
    forecast = {"rewritten_delete_files": found.rewritten_files}
    text = (
        f"{count(found.small, 'small position delete file')} of {found.files:,}: "
        f"{found.rewritten_files:,} of them ({size(found.rewritten_bytes)}) become about "
        f"{found.added_files:,}"
    )
    return case.due(
        text,
        REWRITE_DELETES.work(RewriteDeleteFiles(options=options(settings))),
        of=snapshot,
        forecast=_at(snapshot, forecast),
    )


def manifest_rewrite(case: Case, settings: ManifestRewrite) -> MaintenanceTask:
    """Due when there are more manifests than wanted, they are small, and there would be fewer."""
    found, snapshot = case.figures.manifests, case.figures.snapshot_id
    if snapshot is None or found is None:
        return case.idle("the table has no rows", of=snapshot)
    number, length = found.data.count + found.deletes.count, found.data.bytes + found.deletes.bytes
    mean = length // number if number else 0
    over, under = settings.run_if.get("manifests_over"), settings.run_if.get("mean_size_under")
    texts = (
        [f"{count(number, 'manifest')} (limit {over:,})"] if over is not None else [count(number, "manifest")]
    )
    texts += [f"mean size {size(mean)} (limit {size(under)})"] if under is not None else []
    words = ", ".join(texts)
    if (over is not None and number <= over) or (under is not None and mean >= under):
        return case.idle(words, of=snapshot)
    kinds = (found.data, found.deletes)
    after = [_after(each, found.target) for each in kinds]
    before = [each.count if new is not None else 0 for each, new in zip(kinds, after, strict=True)]
    added = sum(new for new in after if new is not None)
    if sum(before) <= added:
        return case.idle(f"{words}; a rewrite would leave as many", of=snapshot)
    forecast = {"rewritten_manifests": sum(before)}
    text = f"{words}: {sum(before):,} become about {added:,}"
    return case.due(
        text, REWRITE_MANIFESTS.work(RewriteManifests()), of=snapshot, forecast=_at(snapshot, forecast)
    )


def _after(each: ManifestSizes, target: int) -> int | None:
    """How many manifests would be written, None where Iceberg leaves them alone."""
    wanted = -(-each.bytes // target)
    return None if each.count == 0 or (each.count == 1 and wanted == 1) else wanted
