"""The cases of the golden tests: one behaviour per small txtar file, HCL in, plan and diagnostics out.
The file ``cases/RESOURCE/WHAT.txtar`` is the case ``RESOURCE/WHAT``.

Configurations in, each written in full (``NAME.flare.hcl``, in JSON ``NAME.flare.hcl.json``) or as an edit of
``recorded.flare.hcl`` (``NAME.edit``, see ``edits``):

- ``recorded``: what the state holds; without it nothing is in the state.
- ``main``: what is declared; as recorded unless said otherwise.
- ``observed``: what is there; as recorded unless said otherwise.
- ``left``: recorded with the jobs that left the state since, and whose checkpoints hold on for them.

Further sections in, each JSON by address:

- ``observed.json``: what the world answers about a resource: keywords of ``JobThere`` or ``CheckpointThere``,
  parts of a table's identity.
- ``figures.json``: what was measured for maintenance, keywords of ``TableFigures``.
- ``upkeep.json``: address -> name -> the last run.
- ``history.json``: a table's live snapshots, newest first, each ``[id, ms, operation, added, total]``, with
  ``null`` as the last one where the oldest has a parent that is gone; ``null`` for a table of which nothing is
  known. Without it every row can be read.
- ``prices.hcl``: the prices by which the plan's actions cost something (``-cost``).
- ``states.json``: the outputs that a ``data "state"`` block reads, by name: value, sensitive, type (cty's JSON).

``options.json`` holds the fields of ``CaseOptions``. Every other section is an output (see ``outputs``),
which FLAREIAC_UPDATE_GOLDEN=1 writes.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flareiac.app.discovery import installed
from flareiac.app.other_states.read import present
from flareiac.config.evaluation import DataBlocks
from flareiac.config.files import ModuleFiles
from flareiac.config.load import Configuration, load
from flareiac.config.variables import Inputs as VariableInputs
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import decode
from flareiac.model.applied_from import AppliedFrom, applied_from
from flareiac.model.desired import OutputValue
from flareiac.model.references import connections_of
from flareiac.model.snapshot import ResourceRecord, Snapshot, new_snapshot
from flareiac.planning.make_plan import Inputs, Maintenance, Options
from flareiac.render.diagnostics import text
from flareiac.render.report.markdown import MOST_CHARACTERS
from flareiac.render.resource_text import Detail
from flareiac.sdk.maintenance import LastRun
from flareiac.sdk.project import Project
from flareiac.sdk.requests import Question
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.results import Missing, Observation, Present
from flareiac_spark.observation.checkpoint import CheckpointFacts
from tests.golden.edits import edited
from tests.golden.observed import TableFigures, as_read, facts, history, identity
from tests.golden.observed import recorded as as_recorded
from tests.support.txtar import Archive, format_txtar, parse_txtar

_FOLDER: Final = Path(__file__).parent / "cases"
CASES: Final = sorted(_FOLDER.rglob("*.txtar"))
_LINEAGE: Final = "00000000-0000-0000-0000-000000000000"
_INPUTS: Final = (
    *("observed.json", "figures.json", "upkeep.json", "history.json", "states.json", "prices.hcl"),
    "options.json",
)
_EVERY_ROW: Final = [[1, 0, "append", 1, 1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """The options with which a case plans and renders."""

    destroy: bool = False
    targets: Sequence[str] = ()
    replace: Sequence[str] = ()
    maintenance: str = "include"
    missing: Sequence[str] = ()
    """Addresses of what is not there, whatever observed says."""
    time: float = 0.0
    detail: Detail = "changes"
    show_steps: bool = False
    also: Sequence[str] = ()
    """Outputs beside the plan's text (see ``outputs``)."""
    why: Sequence[str] = ("*",)
    """The addresses that ``why.txt`` and ``why.json`` are about."""
    max_chars: int = MOST_CHARACTERS
    """The most characters of ``report.md``."""
    fails: Sequence[str] = ()
    """Addresses of what cannot be changed when the plan is applied."""
    then: Mapping[str, Any] | None = None
    now: Mapping[str, Any] | None = None
    """The origins of the last apply and of this plan: ``folder``, ``owner``, ``variables``."""

    def planning(self) -> Options:
        """The options of ``make_plan``."""
        return Options(
            destroy=self.destroy,
            targets=tuple(self.targets),
            replace=frozenset(self.replace),
            maintenance=Maintenance(self.maintenance),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A parsed case, with its edits applied."""

    comment: str
    inputs: dict[str, str]
    """The sections in, as they are written."""
    outputs: dict[str, str]
    main: str
    recorded: str | None
    observed: str | None
    left: str | None
    options: CaseOptions

    def data(self, name: str) -> dict[str, Any]:
        """A JSON section; empty where there is none."""
        content: dict[str, Any] = json.loads(self.inputs.get(f"{name}.json", "{}"))
        return content

    def data_blocks(self) -> DataBlocks:
        """The reader of data blocks: only other states are answered for."""
        states = self.data("states")

        def read(question: Question) -> Present | None:
            address, asked = question.request.address, question.request.desired
            if address not in states or asked is None:
                return None
            recorded = {name: decode(OutputValue, item) for name, item in states[address].items()}
            return present(recorded, asked["defaults"], f"the state of {address}")

        return DataBlocks(read=read)

    def archive(self, outputs: dict[str, str]) -> Archive:
        """The case as a file, with these outputs."""
        return Archive(comment=self.comment, files={**self.inputs, **outputs})


def name_of(path: Path) -> str:
    """Returns the name of a case as tests and pages write it: ``RESOURCE/WHAT``."""
    return path.relative_to(_FOLDER).with_suffix("").as_posix()


def read_case(path: Path) -> Case:
    archive = parse_txtar(path.read_text(encoding="utf-8"))
    inputs = {name: content for name, content in archive.files.items() if _is_input(name)}
    recorded = _configuration_text("recorded", inputs)
    main = _configuration_text("main", inputs) or recorded
    assert main is not None, f"{path.name} declares nothing"
    return Case(
        comment=archive.comment,
        inputs=inputs,
        outputs={name: content for name, content in archive.files.items() if name not in inputs},
        main=main,
        recorded=recorded,
        observed=_configuration_text("observed", inputs),
        left=_configuration_text("left", inputs),
        options=CaseOptions(**json.loads(inputs.get("options.json", "{}"))),
    )


def _is_input(name: str) -> bool:
    return name.endswith((".flare.hcl", ".flare.hcl.json", ".edit")) or name in _INPUTS


def _configuration_text(name: str, sections: dict[str, str]) -> str | None:
    """The text of the root module, and behind it the files of modules in folders as a txtar archive."""
    edit = sections.get(f"{name}.edit")
    text = sections.get(f"{name}.flare.hcl", sections.get(f"{name}.flare.hcl.json"))
    if edit is not None:
        text = edited(sections["recorded.flare.hcl"], edit)
    modules = {path: content for path, content in sections.items() if "/" in path}
    return text if text is None or not modules else format_txtar(Archive(comment=text, files=modules))


def root_module(text: str) -> str:
    """The text of the root module in a text of a case, without the modules behind it."""
    return parse_txtar(text).comment


def recorded_state(case: Case, root: Path) -> Snapshot:
    """The state of a case that has a ``recorded.flare.hcl``."""
    return Snapshot(lineage=_LINEAGE, serial=1, resources=_records(case, root))


def planning_inputs(case: Case, root: Path, desired: Configuration) -> Inputs:
    """All that ``make_plan`` is given in a case."""
    records = dict(desired.snapshot.resources)
    return Inputs(
        desired=desired.desired,
        snapshot=dataclasses.replace(desired.snapshot, applied=_from(case.options.then)),
        observations=_observations(case, root, desired, records),
        types=installed().registry.types,
        project=_project(root),
        applied=_from(case.options.now),
        time=case.options.time,
        figures={address: TableFigures(**given).figures() for address, given in case.data("figures").items()},
        former=_former(case, root, records),
    )


def _from(given: Mapping[str, Any] | None) -> AppliedFrom | None:
    if given is None:
        return None
    values = dict(given.get("variables", {}))
    return applied_from(given["folder"], given.get("owner", ""), values, values, key="key")


def main_configuration(case: Case, root: Path, diagnostics: Diagnostics) -> Configuration:
    """The configuration of a case, with what is recorded in it."""
    return configuration(case.main, root, diagnostics, case.data_blocks(), recorded_state(case, root))


def configuration(
    hcl: str,
    root: Path,
    diagnostics: Diagnostics,
    data: DataBlocks | None = None,
    snapshot: Snapshot | None = None,
) -> Configuration:
    """The configuration of a project with this one file, in native or JSON syntax, and those of modules behind
    it (``read_case``).
    """
    archive = parse_txtar(hcl)
    native, other = "main.flare.hcl", "main.flare.hcl.json"
    main, other = (other, native) if hcl.startswith(("{", "[")) else (native, other)
    (root / other).unlink(missing_ok=True)
    for name, content in {main: archive.comment, **archive.files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    registry = installed().registry

    def inputs(_files: ModuleFiles) -> VariableInputs:
        return VariableInputs(environment={})

    return load(_project(root), registry, inputs, snapshot or new_snapshot(), diagnostics, data)


def valid_configuration(hcl: str, root: Path, data: DataBlocks | None = None) -> Configuration:
    """A configuration without errors."""
    diagnostics = Diagnostics()
    found = configuration(hcl, root, diagnostics, data)
    assert not diagnostics.has_errors, text(list(diagnostics), found.sources, width=100, colour=False)
    return found


def _project(root: Path) -> Project:
    return Project(root=root, lineage=_LINEAGE)


def _records(case: Case, root: Path) -> dict[str, ResourceRecord]:
    if case.recorded is None:
        return {}
    recorded = valid_configuration(case.recorded, root, case.data_blocks()).desired.resources
    known = {address: item.resolved() for address, item in recorded.items()}
    given, runs, types = case.data("observed"), case.data("upkeep"), installed().registry.types
    records = {
        address: ResourceRecord(
            address=address,
            type=item.address.type,
            provider=item.provider,
            attributes=as_recorded(address, item.attributes, given.get(address, {})),
            identity=identity(address, item.attributes, given.get(address, {})),
            dependencies=item.dependencies,
            protected=item.lifecycle.prevent_destroy,
            owner=item.owner,
            maintenance={name: decode(LastRun, run) for name, run in runs.get(address, {}).items()},
            resolved=connections_of(item.dependencies, item.attributes, known, types),
        )
        for address, item in recorded.items()
        if item.kind is Kind.MANAGED
    }
    for keeper, user in _left(case, root, records).items():
        records[keeper] = dataclasses.replace(records[keeper], user=user)
    return records


def _left(case: Case, root: Path, records: dict[str, ResourceRecord]) -> dict[str, ResourceRecord]:
    """The resources that left the state, by those that hold on for them."""
    if case.left is None:
        return {}
    types = installed().registry.types
    return {
        keeper: ResourceRecord(
            address=address,
            type=item.address.type,
            provider=item.provider,
            attributes=item.attributes,
            identity=identity(address, item.attributes, {}),
        )
        for address, item in valid_configuration(
            case.left, root, case.data_blocks()
        ).desired.resources.items()
        if address not in records
        and (keeper := types[item.address.type].recording.kept_by(item.attributes)) is not None
    }


def _observations(
    case: Case, root: Path, desired: Configuration, records: dict[str, ResourceRecord]
) -> dict[str, Observation]:
    there = {address: record.attributes for address, record in records.items()}
    if case.observed is not None:
        there = _managed(valid_configuration(case.observed, root, case.data_blocks()))
        there |= {new: there[old] for old, new in desired.desired.moves.items() if old in there}
    given, histories = case.data("observed"), case.data("history")
    declared = _managed(desired)
    unread = {
        address: as_read(address, record.attributes, declared.get(address))
        for address, record in records.items()
        if case.observed is None
    }
    return {
        address: Present(
            attributes=there[address],
            identity=identity(address, there[address], given.get(address, {})),
            facts=facts(address, there[address], given.get(address, {})) or unread.get(address),
            history=history(histories.get(address, _EVERY_ROW)) if "column_order" in there[address] else None,
        )
        if address in there and address not in case.options.missing
        else Missing()
        for address in dict.fromkeys([*declared, *records])
    }


def _managed(found: Configuration) -> dict[str, Attributes]:
    return {
        address: item.attributes
        for address, item in found.desired.resources.items()
        if item.kind is Kind.MANAGED
    }


def _former(case: Case, root: Path, records: dict[str, ResourceRecord]) -> dict[str, Observation]:
    """The observations of the resources that left the state."""
    given = case.data("observed")
    users = [record.user for record in records.values() if record.user is not None]
    return {
        user.address: Missing(facts=facts(user.address, user.attributes, given[user.address]))
        for user in users
        if user.address in given
    }


def observed_as(record: ResourceRecord, before: Observation) -> Observation:
    """Observes a resource that is as recorded; the folders of a checkpoint are as they were before, but
    for a move, which has come to its end.
    """
    known = getattr(before, "facts", None)
    if isinstance(known, CheckpointFacts):
        known = dataclasses.replace(known, gone_to="", going_to="", move=None)
    return Present(
        attributes=record.attributes,
        identity=record.identity,
        facts=facts(record.address, record.attributes, _state(record))
        or as_read(record.address, record.attributes, record.attributes)
        or known,
        history=history(_EVERY_ROW),
    )


def _state(record: ResourceRecord) -> Attributes:
    return {"state": "stopped"} if record.attributes.get("stopped") is True else {}
