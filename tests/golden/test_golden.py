"""Each case's outputs are what its inputs lead to, and laws hold of every case. ``case`` documents the form
of a case.
"""

import dataclasses
import os
import re
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.app.drift import compared
from flareiac.applying.requests import references_of
from flareiac.applying.stale_plans import moved_since
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.model.drift import DriftClass
from flareiac.model.events import Event
from flareiac.model.plan import Plan, PlannedResource
from flareiac.planning.drift import recorded_configuration
from flareiac.planning.make_plan import Maintenance, Options, make_plan
from flareiac.render.plan_text import plan_text
from flareiac.sdk.changes import Action
from flareiac.sdk.references import Resolved
from flareiac.sdk.results import Missing, Observation, Present, history_of
from tests.golden.case import (
    CASES,
    main_configuration,
    name_of,
    observed_as,
    planning_inputs,
    read_case,
    recorded_state,
    valid_configuration,
)
from tests.golden.doubles import apply_to_doubles
from tests.golden.outputs import outcome
from tests.golden.plan_json_contract import check_plan_json
from tests.support.txtar import format_txtar

_RECORDED = [path for path in CASES if read_case(path).recorded is not None]
_RECORD_KEY = re.compile(r"\b(?:\w+_ms|column_order|step_order|checkpoint_location) += ")
"""Names of a record that no one writes in a block."""
_WITHOUT_MAINTENANCE = Options(maintenance=Maintenance.EXCLUDE)


def check_ways_out(made: Plan) -> None:
    """Lines to paste stand below the sentence: a report shows them as code, from the second line on."""
    for resource in made.resources:
        for blocker in resource.proposal.blockers:
            firsts = [way.partition("\n")[0] for way in blocker.ways_out if "\n" in way]
            assert [first for first in firsts if not first.endswith(":")] == []


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_golden(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    outputs, made = outcome(case, tmp_path)
    if made is not None:
        check_plan_json(made)
        check_ways_out(made)
        full = plan_text(made, colour=False, width=100, detail="full", types=installed().registry.types)
        assert _RECORD_KEY.search(full) is None, full
        # Terraform's phrase means that an apply does nothing, maintenance included
        assert not (made.due and "No changes" in full), full
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        path.write_text(format_txtar(case.archive(outputs)), encoding="utf-8")
    else:
        assert outputs == case.outputs


@pytest.mark.parametrize("path", _RECORDED, ids=name_of)
def test_what_a_plan_would_repair_is_drift(path: Path, tmp_path: Path) -> None:
    """Drift is what a plan of the recorded files blocks, restarts or repairs, and nothing else."""
    case, diagnostics = read_case(path), Diagnostics()
    assert case.recorded is not None
    inputs = planning_inputs(case, tmp_path, main_configuration(case, tmp_path, diagnostics))
    made = make_plan(inputs, _WITHOUT_MAINTENANCE, diagnostics)
    report = compared(made, inputs, len(inputs.snapshot.resources))
    recorded = valid_configuration(case.recorded, tmp_path, case.data_blocks()).desired
    if inputs.desired.moves:
        recorded = recorded_configuration(inputs.snapshot, inputs.types)
    alone = make_plan(dataclasses.replace(inputs, desired=recorded), _WITHOUT_MAINTENANCE, Diagnostics())
    repaired = {
        item.address
        for item in alone.resources
        if item.recorded is not None
        and (item.proposal.blockers or item.action not in (Action.NO_OP, Action.RECORD))
    }
    reported = {
        finding.address
        for finding in report.findings
        if finding.kind in (DriftClass.CHANGED, DriftClass.MISSING)
    }
    drifts = {item.address for item in alone.resources if item.proposal.drift}
    makes_way = {item.address for item in alone.resources if item.disturbances}
    assert repaired - makes_way <= reported
    assert reported <= repaired | drifts | {item.address for item in made.resources if item.proposal.drift}
    assert report.drifted or not repaired


@pytest.mark.parametrize("path", _RECORDED, ids=name_of)
def test_what_is_recorded_passes_its_examination(path: Path, tmp_path: Path) -> None:
    """An unexpected failure is laid on the state only where a part of it has a shape that no one records."""
    state, types = recorded_state(read_case(path), tmp_path), installed().registry.types
    for record in state.resources.values():
        types[record.type].recording.examine(record.recorded())


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_a_plan_is_stale_only_in_another_world(path: Path, tmp_path: Path) -> None:
    """Apply finds the fingerprints of a plan in the world that it was made of, and misses what has gone."""
    case, diagnostics = read_case(path), Diagnostics()
    inputs = planning_inputs(case, tmp_path, main_configuration(case, tmp_path, diagnostics))
    made = make_plan(inputs, _WITHOUT_MAINTENANCE, diagnostics)

    def stale(fresh: dict[str, Observation]) -> set[str]:
        def references(resource: PlannedResource) -> dict[str, Resolved]:
            found = references_of(made, resource, inputs.snapshot.identity)
            return {
                address: dataclasses.replace(item, history=history_of(fresh.get(address)))
                for address, item in found.items()
            }

        found = moved_since(made, inputs.snapshot, fresh, inputs.types, inputs.project, references)
        return {item.address for item in found}

    there = {
        address: observed
        for address, observed in inputs.observations.items()
        if isinstance(observed, Present)
    }
    relied_on = {item.address for item in made.resources if item.proposal.fingerprint is not None}
    touched = {operation.address for operation in made.operations}
    assert stale(dict(inputs.observations)) == set()
    assert stale(dict.fromkeys(there, Missing())) == touched & relied_on & set(there)


@pytest.mark.parametrize("path", _RECORDED, ids=name_of)
def test_a_planner_that_is_not_asked_would_have_had_nothing_to_say(path: Path, tmp_path: Path) -> None:
    """A plan in which each resource is planned is the same, and says the same."""
    case, loading = read_case(path), Diagnostics()
    desired = main_configuration(case, tmp_path, loading)
    if loading.has_errors:
        return
    diagnostics, all_asked = Diagnostics(), Diagnostics()
    inputs, options = planning_inputs(case, tmp_path, desired), case.options.planning()
    never = {
        name: dataclasses.replace(
            kind, planning=dataclasses.replace(kind.planning, is_settled=lambda _unchanged: False)
        )
        for name, kind in inputs.types.items()
    }
    made = make_plan(inputs, options, diagnostics)
    asked = make_plan(dataclasses.replace(inputs, types=never), options, all_asked)
    assert dataclasses.replace(made, resources=_without_idle_details(made)) == dataclasses.replace(
        asked, resources=_without_idle_details(asked)
    )
    assert list(diagnostics) == list(all_asked)


def _without_idle_details(made: Plan) -> tuple[PlannedResource, ...]:
    """Nothing is compared with, or carried out of, what is left as it is."""
    touched = {operation.address for operation in made.operations}
    return tuple(
        item
        if item.address in touched
        else dataclasses.replace(
            item, proposal=dataclasses.replace(item.proposal, fingerprint=None, payload=None)
        )
        for item in made.resources
    )


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_after_an_apply_there_is_nothing_to_do(path: Path, tmp_path: Path) -> None:
    """The next plan after an apply that made what was planned changes and records nothing."""
    case, diagnostics = read_case(path), Diagnostics()
    desired = main_configuration(case, tmp_path, diagnostics)
    if diagnostics.has_errors:
        return
    inputs = planning_inputs(case, tmp_path, desired)
    made = make_plan(inputs, _WITHOUT_MAINTENANCE, diagnostics)
    if made.applyable:
        after = apply_to_doubles(made, inputs, _ignore).snapshot
        assert after is not None
        observations = {
            address: observed_as(record, inputs.observations[address])
            for address, record in after.resources.items()
        }
        missing = dict.fromkeys(inputs.observations, Missing())
        inputs = dataclasses.replace(inputs, snapshot=after, observations={**missing, **observations})
        again = make_plan(inputs, _WITHOUT_MAINTENANCE, Diagnostics())
        assert {
            item.address: item.action for item in again.resources if item.action is not Action.NO_OP
        } == {}


def _ignore(_event: Event) -> None:
    """Ignores the report of an apply."""
