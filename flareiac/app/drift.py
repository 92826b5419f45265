"""The use case of ``drift``: what changed behind the team's back. Reads only; needs no lock and writes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from flareiac.app.bench import Bench
from flareiac.app.plan import PlanRequest, plan
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.model.drift import DriftClass, DriftEntry, DriftReport
from flareiac.sdk.changes import Origin
from flareiac.sdk.provider import Missing, Observation, Present


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The drift (None when the configuration has errors), and all complaints."""

    drift: DriftReport | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


def drift(bench: Bench, request: PlanRequest) -> Found:
    """Compares what is recorded with what is there. Raises ``Failure`` when the state can not be read."""
    report = plan(bench, request)
    if report.plan is None:
        return Found(drift=None, diagnostics=report.diagnostics, sources=report.sources)
    entries: list[DriftEntry] = []
    for item in report.plan.resources:
        observed = report.observations.get(item.address)
        if item.recorded is None:
            continue
        if item.proposal.drift:
            kind = DriftClass.MISSING if isinstance(observed, Missing) else DriftClass.CHANGED
            changes = tuple(change for change in item.proposal.changes if change.origin in (Origin.DRIFT, Origin.BOTH))
            entries.append(DriftEntry(address=item.address, kind=kind, texts=item.proposal.drift, changes=changes))
        entries.extend(_extra(item.address, observed))
    checked = sum(1 for item in report.plan.resources if item.recorded is not None)
    told = DriftReport(entries=tuple(entries), checked=checked, unchecked=report.recorded - checked)
    return Found(drift=told, diagnostics=report.diagnostics, sources=report.sources)


def _extra(address: str, observed: Observation | None) -> list[DriftEntry]:
    if not isinstance(observed, Present):
        return []
    found = []
    if observed.unmanaged:
        found.append(DriftEntry(address=address, kind=DriftClass.UNMANAGED, texts=observed.unmanaged))
    if observed.unhealthy:
        found.append(DriftEntry(address=address, kind=DriftClass.UNHEALTHY, texts=observed.unhealthy))
    return found
