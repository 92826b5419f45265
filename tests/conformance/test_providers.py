"""The promises of every provider, as one suite over the toy provider and the real ones (jobs need an
application: tests/integration).
"""

import importlib.util
import json
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

from flareiac.applying.requests import change_of
from flareiac.kernel.addresses import parse_address
from flareiac.kernel.data import Attributes, canonical, from_json, is_known, to_json
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.types import RefType
from flareiac.model.plan import Verb
from flareiac.sdk.actions import Delete
from flareiac.sdk.capabilities import Recoverable
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Provider
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, PlanRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.results import Applied, Missing, Observation, Present, Recorded
from flareiac.sdk.schema import Block, Nesting
from flareiac_iceberg import provider as iceberg
from flareiac_kafka import provider as kafka
from flareiac_spark import provider as spark


def toy() -> Provider:
    """The toy provider, from the folder that the command line tests put on the path."""
    name = "flareiac_toy"
    if name not in sys.modules:
        package = Path(__file__).parents[1] / "support" / "toy_dist" / name
        spec = importlib.util.spec_from_file_location(name, package / "__init__.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    made: Provider = sys.modules[name].provider()
    return made


PROVIDERS: dict[str, Callable[[], Provider]] = {
    "toy": toy,
    "iceberg": iceberg,
    "kafka": kafka,
    "spark": spark,
}
BODIES: dict[str, Attributes] = {
    "thing": {"value": "1"},
    "namespace": {"name": "sales", "properties": {"owner_team": "x"}, "on_destroy": "drop"},
    "table": {
        "namespace": "sales",
        "column": {"id": {"type": "long not null"}, "ts": {"type": "timestamptz"}},
        "on_destroy": "drop",
    },
    "checkpoint": {"generation": 1, "on_destroy": "delete"},
    "topic": {"partitions": 2, "config": {"retention.ms": "60000"}, "on_destroy": "delete"},
}
"""A small body for each managed type that needs nothing but files, or a broker."""

ActionT = TypeVar("ActionT")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One managed type of one provider in a directory of its own."""

    kind: ResourceType
    driver: Driver
    project: Project
    references: dict[str, Resolved]
    desired: Attributes
    address: str

    def observe(self, recorded: Recorded | None) -> Observation:
        request = ReadRequest(
            address=self.address,
            desired=self.desired,
            recorded=recorded,
            references=self.references,
            cheap=False,
        )
        return self.driver.read(request)

    def plan(self, recorded: Recorded | None, desired: Attributes | None) -> Proposal:
        assert self.kind.planning.planner is not None
        return self.kind.planning.planner().plan(self.question(recorded, desired))

    def question(self, recorded: Recorded | None, desired: Attributes | None) -> PlanRequest:
        return PlanRequest(
            address=self.address,
            desired=desired,
            recorded=recorded,
            observed=self.observe(recorded),
            references=self.references,
            project=self.project,
        )

    def creation(self, proposal: Proposal) -> ChangeRequest:
        return self._request("create", change_of(proposal, Verb.CREATE, None, {}))

    def deletion(self, proposal: Proposal, recorded: Recorded) -> ApplyRequest[Delete]:
        return self._request("delete", Delete(recorded=recorded, payload=proposal.payload))

    def _request(self, verb: str, action: ActionT) -> ApplyRequest[ActionT]:
        return ApplyRequest(
            key=f"lineage/1/{verb}:{self.address}",
            address=self.address,
            action=action,
            references=self.references,
            cancel=threading.Event(),
            progress=lambda _text: None,
        )


def kinds_of(provider: Provider) -> dict[str, ResourceType]:
    return {name: item.load() for name, item in provider.resource_types().items()}


def managed() -> Iterator[ParameterSet]:
    for name, make in PROVIDERS.items():
        for kind in kinds_of(make()).values():
            if kind.kind is Kind.MANAGED and kind.name in BODIES:
                marks = (pytest.mark.jvm,) if name == "kafka" else ()
                yield pytest.param((name, kind.name), id=kind.name, marks=marks)


@pytest.fixture(params=list(managed()))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    provider_name, type_name = request.param
    provider = PROVIDERS[provider_name]()
    kinds = kinds_of(provider)
    kind, project = kinds[type_name], Project(root=tmp_path, lineage="lineage")
    bodies: dict[str, Attributes] = {}
    if provider_name == "kafka":
        bodies["kafka"] = {"bootstrap_servers": request.getfixturevalue("broker").bootstrap}
    references = {
        f"{name}.embedded": _resolved(connection, f"{name}.embedded", bodies.get(name, {}), {}, project)
        for name, connection in kinds.items()
        if connection.kind is Kind.CONNECTION
    }
    address = f"{type_name}.x"
    body = blank(kind.schema) | BODIES[type_name]
    if type_name == "topic":
        body["name"] = f"t-{uuid.uuid4().hex[:12]}"
    for name, attribute in kind.schema.attributes.items():
        if isinstance(attribute.type, RefType) and f"{attribute.type.to[0]}.embedded" in references:
            body[name] = from_json({"$ref": f"{attribute.type.to[0]}.embedded"})
    if "column" in body:
        body["column"] = {
            name: blank(kind.schema.blocks["column"].block) | column
            for name, column in body["column"].items()
        }
    desired = _resolved(kind, address, body, references, project).attributes
    driver = provider.open(project).driver(type_name)
    return World(
        kind=kind, driver=driver, project=project, references=references, desired=desired, address=address
    )


def blank(schema: Block) -> Attributes:
    """A body in which nothing is written."""
    empty: dict[Nesting, object] = {Nesting.SINGLE: None, Nesting.LIST: [], Nesting.MAP: {}}
    return dict.fromkeys(schema.attributes) | {
        name: empty[nested.nesting] for name, nested in schema.blocks.items()
    }


def _resolved(
    kind: ResourceType, address: str, body: Attributes, references: dict[str, Resolved], project: Project
) -> Resolved:
    diagnostics, parsed = Diagnostics(), parse_address(address)
    assert parsed is not None
    attributes = kind.canonical(
        Decoded(address=address, name=parsed.name, attributes=blank(kind.schema) | body),
        references,
        project,
        diagnostics,
    )
    assert not diagnostics.has_errors, [item.summary for item in diagnostics]
    return Resolved(address=address, type=kind.name, attributes=attributes)


def created(world: World) -> Recorded:
    proposal = world.plan(None, world.desired)
    assert proposal.action is Action.CREATE
    assert not proposal.blockers
    outcome = world.driver.apply(world.creation(proposal))
    assert isinstance(outcome, Applied), outcome
    return Recorded(attributes=outcome.attributes, identity=outcome.identity)


def test_canonical_attributes_are_plain_and_known(world: World) -> None:
    assert from_json(json.loads(canonical(world.desired))) == world.desired
    assert is_known(world.desired)


def test_reading_first_changes_nothing(world: World) -> None:
    before = sorted(world.project.root.rglob("*"))
    assert isinstance(world.observe(None), Missing)
    assert sorted(world.project.root.rglob("*")) == before


def test_after_create_there_is_nothing_to_do(world: World) -> None:
    recorded = created(world)
    assert isinstance(world.observe(recorded), Present)
    assert world.plan(recorded, world.desired).action is Action.NO_OP


def test_planning_is_pure(world: World) -> None:
    recorded = created(world)
    planner, first, second = (
        world.kind.planning.planner,
        world.question(recorded, world.desired),
        world.question(recorded, world.desired),
    )
    assert planner is not None
    assert to_json(planner().fingerprint(first)) == to_json(planner().fingerprint(second))
    assert planner().plan(first) == planner().plan(second)


def test_a_repeated_create_finds_its_own_outcome(world: World) -> None:
    proposal = world.plan(None, world.desired)
    first = world.driver.apply(world.creation(proposal))
    again = world.driver.apply(world.creation(proposal))
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert again.identity.get("uuid") == first.identity.get("uuid")


def test_a_lost_result_is_settled_by_reading(world: World) -> None:
    assert isinstance(world.driver, Recoverable)
    proposal = world.plan(None, world.desired)
    request = world.creation(proposal)
    assert world.driver.settle(request) is None
    world.driver.apply(request)
    settled = world.driver.settle(request)
    assert isinstance(settled, Applied)
    recorded = Recorded(attributes=settled.attributes, identity=settled.identity)
    assert world.plan(recorded, world.desired).action is Action.NO_OP


def test_what_is_deleted_is_missing_and_stays_deletable(world: World) -> None:
    recorded = created(world)
    proposal = world.plan(recorded, None)
    assert proposal.action is Action.DELETE
    request = world.deletion(proposal, recorded)
    assert isinstance(world.driver.delete(request), Applied)
    assert isinstance(world.driver.delete(request), Applied)
    assert isinstance(world.observe(recorded), Missing)
    assert world.plan(recorded, None).action is Action.FORGET


def test_what_is_gone_is_made_again_and_told_as_drift(world: World) -> None:
    recorded = created(world)
    world.driver.delete(world.deletion(world.plan(recorded, None), recorded))
    proposal = world.plan(recorded, world.desired)
    assert proposal.action is Action.CREATE
    assert proposal.drift


@pytest.mark.parametrize("name", PROVIDERS)
def test_schemas_can_be_read_by_people(name: str) -> None:
    for offered, kind in kinds_of(PROVIDERS[name]()).items():
        assert kind.name == offered
        assert kind.description
        assert (kind.planning.planner is not None) == (kind.kind is Kind.MANAGED)
        _check_block(kind.schema, kind.name)


def _check_block(schema: Block, where: str) -> None:
    for name, attribute in schema.attributes.items():
        assert attribute.description, f"{where}.{name}"
        assert not attribute.description.endswith(" "), f"{where}.{name}"
    for name, nested in schema.blocks.items():
        _check_block(nested.block, f"{where}.{name}")
    for group in schema.exactly_one_of:
        assert set(group) <= {*schema.attributes, *schema.blocks}, f"{where}: {group}"
