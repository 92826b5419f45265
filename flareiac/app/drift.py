"""The use case of ``drift``: what changed behind the team's back. Reads only; needs no lock and writes
nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from flareiac.app.plan import PlanRequest, plan
from flareiac.app.service_levels import outside_readers
from flareiac.app.workspace import Workspace
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.model.drift import DriftClass, DriftEntry, DriftReport
from flareiac.model.plan import Plan
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.planning.drift import drifted
from flareiac.planning.make_plan import Inputs
from flareiac.sdk.changes import Origin
from flareiac.sdk.results import Missing, Observation, Present


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The drift (None when the configuration has errors), and all complaints."""

    drift: DriftReport | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


def drift(workspace: Workspace, request: PlanRequest) -> Found:
    """Compares what is recorded with what is there. Raises ``Failure`` when the state cannot be read."""
    report = plan(workspace, replace(request, confirm=True))
    if report.plan is None or report.inputs is None:
        return Found(drift=None, diagnostics=report.diagnostics, sources=report.sources)
    found = compared(report.plan, report.inputs, report.recorded)
    levels = outside_readers(workspace, report.inputs.snapshot, only_bounded=True)
    return Found(
        drift=replace(found, entries=(*found.entries, *unkept(levels))),
        diagnostics=report.diagnostics,
        sources=report.sources,
    )


def compared(made: Plan, inputs: Inputs, recorded: int) -> DriftReport:
    """Returns the differences from what was recorded. ``recorded``: how many resources the state holds.
    Pure.
    """
    found = drifted(inputs)
    entries: list[DriftEntry] = []
    for resource in made.resources:
        observed = inputs.observations.get(resource.address)
        if resource.recorded is None:
            continue
        if texts := resource.proposal.drift or found.get(resource.address, ()):
            kind = DriftClass.MISSING if isinstance(observed, Missing) else DriftClass.CHANGED
            changes = tuple(
                change for change in resource.proposal.changes if change.origin in (Origin.DRIFT, Origin.BOTH)
            )
            entries.append(DriftEntry(address=resource.address, kind=kind, texts=texts, changes=changes))
        entries.extend(_extra(resource.address, observed))
    checked = sum(1 for item in made.resources if item.recorded is not None)
    return DriftReport(entries=tuple(entries), checked=checked, unchecked=recorded - checked)


def unkept(levels: Iterable[ReaderStatus]) -> list[DriftEntry]:
    """The readers outside whose service level is broken, or not known to be kept. Pure."""
    texts: dict[str, list[str]] = {}
    for level in levels:
        if level.verdict not in (None, Verdict.KEPT):
            lines = [f"{level.subject}: {reason}" for reason in level.reasons]
            texts.setdefault(level.reader, []).extend(lines)
    return [
        DriftEntry(address=reader, kind=DriftClass.UNHEALTHY, texts=tuple(lines))
        for reader, lines in texts.items()
    ]


def _extra(address: str, observed: Observation | None) -> list[DriftEntry]:
    if not isinstance(observed, Present):
        return []
    found = []
    if observed.unmanaged:
        found.append(DriftEntry(address=address, kind=DriftClass.UNMANAGED, texts=observed.unmanaged))
    if observed.unhealthy:
        found.append(DriftEntry(address=address, kind=DriftClass.UNHEALTHY, texts=observed.unhealthy))
    return found
