"""Plans the rewrite of manifests, and forecasts what it does. Pure."""

from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg.maintenance.humanize import count, size
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.measure import ManifestFigures, ManifestSizes
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.settings import ManifestRewrite, RunIf
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg_runtime.kinds.manifest_rewrite.perform import RewriteManifests


def plan(case: Case, settings: ManifestRewrite, figures: ManifestFigures | None) -> MaintenanceTask:
    """Due when there are more manifests than wanted, they are small, and there would be fewer."""
    snapshot = case.figures.snapshot_id
    if snapshot is None or figures is None:
        return case.idle("the table has no rows", of=snapshot)
    words, passed = _reached(figures, settings.run_if)
    if not passed:
        return case.idle(words, of=snapshot)
    if figures.unfit:
        return case.idle(
            f"{words}; Iceberg cannot rewrite manifests of partitions by a uuid or a fixed value, which "
            f"{figures.unfit} is",
            of=snapshot,
        )
    kinds = (figures.data, figures.deletes)
    after = [_after(each, figures.target) for each in kinds]
    before = sum(each.count for each, new in zip(kinds, after, strict=True) if new is not None)
    added = sum(new for new in after if new is not None)
    if before <= added:
        return case.idle(f"{words}; a rewrite would leave as many", of=snapshot)
    return case.due(
        f"{words}: {before:,} become about {added:,}",
        RewriteManifests(),
        of=snapshot,
        forecast={"rewritten_manifests": before, "snapshot_before": snapshot},
    )


def _reached(figures: ManifestFigures, run_if: RunIf) -> tuple[str, bool]:
    """The figures against their thresholds, and whether all are passed."""
    number, length = figures.data.count + figures.deletes.count, figures.data.bytes + figures.deletes.bytes
    mean = length // number if number else 0
    over, under = run_if.manifests_over, run_if.mean_size_under
    many = "" if over is None else f" (limit {over:,})"
    small = "" if under is None else f", mean size {size(mean)} (limit {size(under)})"
    passed = (over is None or number > over) and (under is None or mean < under)
    return f"{count(number, 'manifest')}{many}{small}", passed


def _after(each: ManifestSizes, target: int) -> int | None:
    """The number of manifests that would be written, None where Iceberg leaves them alone."""
    wanted = -(-each.bytes // target)
    return None if each.count == 0 or (each.count == 1 and wanted == 1) else wanted
