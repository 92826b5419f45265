"""The verdict of a plan on a cell, and the job that a way out of a blocked plan makes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from flareiac.sdk.changes import Effect
from tests.bench.matrix_cells import Cell
from tests.bench.matrix_change import Verdict, Way
from tests.bench.matrix_jobs import Job

Planned: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The ``flareiac`` part of each resource change in a plan's JSON, by address."""


def judge(cell: Cell, planned: Planned) -> None:
    """Notes in the cell what the plan of its change says, and how that differs from what is expected."""
    cell.blockers = blockers_of(cell, planned)
    cell.verdict = verdict_of(planned[cell.address], cell.blockers)
    if cell.verdict != cell.change.verdict:
        cell.wrong.append(f"plan said {cell.verdict}, not {cell.change.verdict}")


def blockers_of(cell: Cell, planned: Planned) -> list[Mapping[str, Any]]:
    """What blocks the job of a cell or its checkpoint."""
    addresses = (cell.address, f"checkpoint.{cell.name}")
    return [blocker for address in addresses for blocker in planned[address]["blockers"]]


def next_job(cell: Cell) -> Job:
    """The job that answers the verdict in the way of the cell. Notes a way that the plan does not offer, and
    returns the job before the change then.
    """
    before, after, way = cell.change.before, cell.change.after, cell.change.way
    if way is Way.APPLY:
        return before if cell.blockers else after
    if way is Way.UNDO:
        return before
    pasted = paste(after, cell.blockers, way)
    if pasted is None:
        cell.wrong.append(f"plan offers no {way}")
    return pasted or before


def verdict_of(own: Mapping[str, Any], blockers: Sequence[Mapping[str, Any]]) -> str:
    """The verdict of a plan on a job, in the words of the matrix."""
    codes = {item["code"] for item in blockers}
    if "FIK062" in codes:
        return Verdict.REFUSED
    if "FIK063" in codes:
        unknown = any(item["why"].startswith("Results may") for item in blockers)
        return Verdict.UNKNOWN if unknown else Verdict.RESULTS_CHANGE
    if codes:
        return f"{Verdict.BLOCKED}"
    effects = {step["effect"] for step in own["steps"]}
    for effect, verdict in (
        ("new generation", Verdict.GENERATION),
        ("loses data", Verdict.GENERATION),
        ("stops", Verdict.STOPS),
    ):
        if effect in effects:
            return verdict
    if "restart" in effects:  # of the job; what starts beside it is a query that it did not have
        return Verdict.TOLD if "results change" in effects else Verdict.RESTART
    if "starts" in effects:
        return Verdict.STARTS
    if effects == {"no effect"}:
        return Verdict.NO_EFFECT
    if "live" in effects:
        return Verdict.LIVE
    if Effect.TAKEN.value in effects:
        return Verdict.TAKEN
    return Verdict.NOTHING if own["action"] in ("no-op", "record") else own["action"]


def paste(job: Job, blockers: Sequence[Mapping[str, Any]], way: Way) -> Job | None:
    """The job with the lines that plan printed for this way out; None if it printed none."""
    offers = [text for item in blockers for text in item["ways_out"]]
    for offer in offers:
        lines = [line.strip() for line in offer.splitlines()[1:]]
        token = [line for line in lines if line.startswith("accept_result_change")]
        if way is Way.TOKEN and token:
            return replace(job, lines=(*job.lines, *token))
        if f'start_from = "{way}"' in lines:
            return _renewed(job, lines)
    return None


def _renewed(job: Job, lines: Sequence[str]) -> Job:
    checkpoint = tuple(line for line in lines if re.match(r"(generation|start_from) = ", line))
    rebuilt = {line.split('"')[1] for line in lines if line.startswith("and in output")}
    outputs = tuple(
        replace(output, rebuild=output.rebuild or output.label in rebuilt) for output in job.outputs
    )
    return replace(job, checkpoint=checkpoint, outputs=outputs)
