"""Golden cases: one behaviour per small txtar file, HCL in, plan and diagnostics out.

Sections in: ``main.flare.hcl`` (desired), and where the case needs them ``recorded.flare.hcl`` and ``observed.flare.hcl`` (the same
language: what the state holds and what is there; observed is as recorded unless said otherwise), ``identity.json`` (address -> what the
world answers), ``figures.json`` (address -> what was measured for maintenance), ``upkeep.json`` (address -> name -> the last run),
``history.json`` (table -> its live snapshots, newest first, each ``[id, ms, operation, added, total]``, with ``null`` as the last one where
the oldest has a parent that is gone; ``null`` for a table of which nothing is known; without it every row can be read),

``left.flare.hcl`` (a recorded.flare.hcl with the jobs that left the state since, and whose checkpoints hold on for them),
``options.json`` (``{"destroy": true, ...}``). Sections out: ``plan.txt``, ``diagnostics.txt``.
FLAREIAC_UPDATE_GOLDEN=1 writes the latter. ``{"missing": [address]}`` is not there, whatever observed says.
"""

import dataclasses
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from flareiac.app.discovery import installed
from flareiac.app.drift import compared
from flareiac.applying.requests import record_of, request_for
from flareiac.config.files import ModuleFiles
from flareiac.config.load import Configuration, load
from flareiac.config.variables import Inputs as VariableInputs
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.model.drift import DriftClass
from flareiac.model.plan import Operation, Plan, Verb
from flareiac.model.references import connections_of
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.make_plan import Inputs, Maintenance, Options, make_plan
from flareiac.render.diagnostics import text
from flareiac.render.plan_text import plan_text
from flareiac.sdk.changes import Action
from flareiac.sdk.lakehouse import LiveSnapshot, TableHistory
from flareiac.sdk.provider import Applied, Kind, Missing, Observation, Present, Project
from tests.golden.plan_json_contract import check_plan_json
from tests.support.txtar import Archive, format_txtar, parse_txtar

CASES = sorted((Path(__file__).parent / "cases").rglob("*.txtar"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden(case: Path, tmp_path: Path) -> None:
    archive = parse_txtar(case.read_text(encoding="utf-8"))
    found, made = outcome(archive, tmp_path)
    if made is not None:
        check_plan_json(made)
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        kept = {name: content for name, content in archive.files.items() if name not in ("plan.txt", "diagnostics.txt")}
        case.write_text(format_txtar(Archive(comment=archive.comment, files={**kept, **found})), encoding="utf-8")
    else:
        assert found == {name: archive.files.get(name, "") for name in found}
        assert not {"plan.txt", "diagnostics.txt"} & set(archive.files) - set(found)


def outcome(archive: Archive, root: Path) -> tuple[dict[str, str], Plan | None]:
    """The sections that a case's inputs lead to (empty ones left out), and the plan, None where its configuration has errors."""
    options = json.loads(archive.files.get("options.json", "{}"))
    diagnostics = Diagnostics()
    desired = _configuration(archive.files["main.flare.hcl"], root, diagnostics)
    made = None if diagnostics.has_errors else _made(archive, root, desired, options, diagnostics)
    found = {}
    if made is not None:
        detail, steps = options.get("detail", "changes"), options.get("show_steps", False)
        found["plan.txt"] = plan_text(made, colour=False, width=100, detail=detail, show_steps=steps)
    if len(diagnostics):
        found["diagnostics.txt"] = text(list(diagnostics), desired.sources, width=100, colour=False)
    return {name: content.replace(str(root), "ROOT").rstrip("\n") + "\n" for name, content in found.items()}, made


def _made(archive: Archive, root: Path, desired: Configuration, options: Attributes, diagnostics: Diagnostics) -> Plan:
    asked = Options(
        destroy=options.get("destroy", False),
        targets=tuple(options.get("targets", ())),
        replace=frozenset(options.get("replace", ())),
        maintenance=Maintenance(options.get("maintenance", "include")),
    )
    return make_plan(_inputs(archive, root, desired, options), asked, diagnostics)


@pytest.mark.parametrize(
    "case", [case for case in CASES if "-- recorded.flare.hcl --" in case.read_text(encoding="utf-8")], ids=lambda case: case.stem
)
def test_what_a_plan_would_mend_is_drift(case: Path, tmp_path: Path) -> None:
    """What a plan of the recorded files blocks, restarts or heals comes from what was observed alone; nothing else is drift."""
    archive = parse_txtar(case.read_text(encoding="utf-8"))
    options = json.loads(archive.files.get("options.json", "{}"))
    diagnostics = Diagnostics()
    inputs = _inputs(archive, tmp_path, _configuration(archive.files["main.flare.hcl"], tmp_path, diagnostics), options)
    made = make_plan(inputs, Options(maintenance=Maintenance.EXCLUDE), diagnostics)
    report = compared(made, inputs, len(inputs.snapshot.resources))
    recorded = _resources(archive.files["recorded.flare.hcl"], tmp_path).desired
    alone = make_plan(dataclasses.replace(inputs, desired=recorded), Options(maintenance=Maintenance.EXCLUDE), Diagnostics())
    mended = {
        item.address
        for item in alone.resources
        if item.recorded is not None and (item.proposal.blockers or item.action not in (Action.NO_OP, Action.RECORD))
    }
    told = {entry.address for entry in report.entries if entry.kind in (DriftClass.CHANGED, DriftClass.MISSING)}
    drifts = {item.address for item in alone.resources if item.proposal.drift}
    makes_way = {item.address for item in alone.resources if item.disturbances}
    assert mended - makes_way <= told
    assert told <= mended | drifts | {item.address for item in made.resources if item.proposal.drift}
    assert report.drifted or not mended


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_after_an_apply_there_is_nothing_to_do(case: Path, tmp_path: Path) -> None:
    """Of what an apply makes as planned, the next plan changes and records nothing."""
    archive = parse_txtar(case.read_text(encoding="utf-8"))
    options = json.loads(archive.files.get("options.json", "{}"))
    diagnostics = Diagnostics()
    desired = _configuration(archive.files["main.flare.hcl"], tmp_path, diagnostics)
    if diagnostics.has_errors:
        return
    inputs = _inputs(archive, tmp_path, desired, options)
    made = make_plan(inputs, Options(maintenance=Maintenance.EXCLUDE), diagnostics)
    if made.applyable:
        again = make_plan(_applied(made, inputs), Options(maintenance=Maintenance.EXCLUDE), Diagnostics())
        assert {item.address: item.action for item in again.resources if item.action is not Action.NO_OP} == {}


def _applied(made: Plan, inputs: Inputs) -> Inputs:
    """The world and the state after an apply that did exactly what was planned."""
    records: dict[str, ResourceRecord] = {}
    for item in made.resources:
        if item.proposal.planned is not None:
            operation = Operation(id=item.address, address=item.address, verb=Verb.UPDATE)
            request = request_for(made, item, operation, None, lambda _address: {}, threading.Event(), print)
            identity = _identity_after(item.proposal.planned, inputs.observations[item.address])
            done = Applied(attributes=item.proposal.planned, identity=identity)
            record = record_of(item, done, request, inputs.types)
            assert record is not None
            records[item.address] = record
    observations: dict[str, Observation] = {
        address: Present(attributes=record.attributes, identity=record.identity, history=_history([[1, 0, "append", 1, 1]]))
        for address, record in records.items()
    }
    snapshot = dataclasses.replace(inputs.snapshot, resources=records)
    return dataclasses.replace(inputs, snapshot=snapshot, observations={**dict.fromkeys(inputs.observations, Missing()), **observations})


def _identity_after(attributes: Attributes, observed: Observation) -> Attributes:
    return getattr(observed, "identity", {}) | _identity(attributes)


def recorded_state(archive: Archive, root: Path) -> Snapshot:
    """What the state holds in a case that has a ``recorded.flare.hcl``."""
    return _world(archive, root, _resources(archive.files["recorded.flare.hcl"], root))[0]


def _inputs(archive: Archive, root: Path, desired: Configuration, options: Attributes) -> Inputs:
    snapshot, observations = _world(archive, root, desired)
    observations.update({address: Missing() for address in options.get("missing", ())})
    return Inputs(
        desired=desired.desired,
        snapshot=snapshot,
        observations=observations,
        types=installed().registry.types,
        project=_project(root),
        time=options.get("time", 0.0),
        figures=json.loads(archive.files.get("figures.json", "{}")),
        former=_former(archive, snapshot),
    )


def _project(root: Path) -> Project:
    return Project(root=root, lineage="00000000-0000-0000-0000-000000000000")


def _configuration(hcl: str, root: Path, diagnostics: Diagnostics) -> Configuration:
    (root / "main.flare.hcl").write_text(hcl, encoding="utf-8")
    registry = installed().registry

    def inputs(_files: ModuleFiles) -> VariableInputs:
        return VariableInputs(environment={})

    return load(_project(root), registry, inputs, lambda _address: None, diagnostics)


def _world(archive: Archive, root: Path, desired: Configuration) -> tuple[Snapshot, dict[str, Observation]]:
    given: dict[str, Attributes] = json.loads(archive.files.get("identity.json", "{}"))
    runs: dict[str, Attributes] = json.loads(archive.files.get("upkeep.json", "{}"))
    records: dict[str, ResourceRecord] = {}
    if "recorded.flare.hcl" in archive.files:
        recorded = _resources(archive.files["recorded.flare.hcl"], root).desired.resources
        known = {address: item.resolved() for address, item in recorded.items()}
        types = installed().registry.types
        for address, item in recorded.items():
            if item.kind is Kind.MANAGED:
                records[address] = ResourceRecord(
                    address=address,
                    type=item.address.type,
                    provider=item.provider,
                    attributes=item.attributes,
                    identity=_identity(item.attributes) | given.get(address, {}),
                    dependencies=item.dependencies,
                    protected=item.lifecycle.prevent_destroy,
                    upkeep=runs.get(address, {}),
                    resolved=connections_of(item.dependencies, item.attributes, known, types),
                )
    for keeper, user in _left(archive, root).items():
        records[keeper] = dataclasses.replace(records[keeper], user=user)
    there: dict[str, Attributes] = {address: record.attributes for address, record in records.items()}
    if "observed.flare.hcl" in archive.files:
        observed = _resources(archive.files["observed.flare.hcl"], root).desired.resources
        there = {address: item.attributes for address, item in observed.items() if item.kind is Kind.MANAGED}
    histories: dict[str, list[list[Any] | None] | None] = json.loads(archive.files.get("history.json", "{}"))
    managed = [address for address, item in desired.desired.resources.items() if item.kind is Kind.MANAGED]
    observations: dict[str, Observation] = {
        address: Present(
            attributes=there[address],
            identity=_identity(there[address]) | given.get(address, {}),
            history=_history(histories.get(address, [[1, 0, "append", 1, 1]])) if "column_order" in there[address] else None,
        )
        if address in there
        else Missing()
        for address in dict.fromkeys([*managed, *records])
    }
    return Snapshot(lineage="00000000-0000-0000-0000-000000000000", serial=1, resources=records), observations


def _left(archive: Archive, root: Path) -> dict[str, ResourceRecord]:
    """What left the state, by what holds on for it."""
    types = installed().registry.types
    resources = _resources(archive.files["left.flare.hcl"], root).desired.resources if "left.flare.hcl" in archive.files else {}
    recorded = _resources(archive.files["recorded.flare.hcl"], root).desired.resources if resources else {}
    return {
        keeper: ResourceRecord(address=address, type=item.address.type, provider=item.provider, attributes=item.attributes)
        for address, item in resources.items()
        if address not in recorded and (keeper := types[item.address.type].kept_by(item.attributes)) is not None
    }


def _former(archive: Archive, snapshot: Snapshot) -> dict[str, Observation]:
    given: dict[str, Attributes] = json.loads(archive.files.get("identity.json", "{}"))
    users = [record.user.address for record in snapshot.resources.values() if record.user is not None]
    return {address: Missing(identity=given[address]) for address in users if address in given}


def _history(given: list[list[Any] | None] | None) -> TableHistory | None:
    if given is None:
        return None
    names = ("id", "at_ms", "operation", "added", "total")
    live = tuple(LiveSnapshot(**dict(zip(names, item, strict=True))) for item in given if item is not None)
    return TableHistory(snapshots=live, is_cut=None in given)


def _identity(attributes: Attributes) -> Attributes:
    """What the world answers about a table with these columns, as if they had been added in their order, and about a running job."""
    if "step_order" in attributes:
        return {"digest": "d-1", "observed": _running(attributes)}
    if "column_order" not in attributes:
        return {}
    fields = {path: number for number, path in enumerate(attributes["column_order"] or [], start=1)}
    there = {
        "uuid": "u-1",
        "location": f"/warehouse/{attributes['name']}",
        "metadata_location": "/warehouse/t/metadata/1.json",
        "snapshot_id": 1,
    }
    return {**there, "schema_id": 0, "spec_id": 0, "sort_id": 0, "field_ids": fields, "sorted_ids": [], "defaults": {}}


def _running(attributes: Attributes) -> Attributes:
    """A job that runs and has committed batches, without state unless the case says so."""
    kinds = [item["source"]["kind"] for item in attributes["inputs"].values() if item["kind"] == "stream"]
    query = {"query_id": "q-1", "started": 7, "committed": 7, "sources": [[kind, []] for kind in kinds], "operators": [], "conf": {}}
    checkpoints = {} if attributes["mode"] == "batch" else dict.fromkeys(attributes["outputs"], query)
    phase = "completed" if attributes["mode"] == "batch" else "running"
    there = {"digest": "d-1", "state": "running", "nonce": 0, "alive": True, "ended": "", "phase": phase, "error": None}
    return {**there, "checkpoints": checkpoints}


def _resources(hcl: str, root: Path) -> Configuration:
    diagnostics = Diagnostics()
    found = _configuration(hcl, root, diagnostics)
    assert not diagnostics.has_errors, text(list(diagnostics), found.sources, width=100, colour=False)
    return dataclasses.replace(found)
