"""A small core around the provider: decodes blocks written as dicts, plans, applies, and keeps what an apply
records.
"""

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from flareiac.applying.execute import call_driver
from flareiac.applying.requests import change_of
from flareiac.kernel.data import Attributes, Data, from_json, to_json
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.model.plan import Verb
from flareiac.sdk.actions import Change, Delete, Settleable
from flareiac.sdk.capabilities import Prefetching, Recoverable
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, PlanRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, Recorded
from flareiac_iceberg import provider
from flareiac_iceberg.format.transforms import FUNCTIONS

CALLS = {item.name: item.call for item in FUNCTIONS}
CATALOG = "catalog.lake"
ActionT = TypeVar("ActionT")


def _as_stored(payload: Data) -> Data:
    """After a trip through a plan file."""
    return from_json(json.loads(json.dumps(to_json(payload))))


class Rejected(Exception):
    """The block has errors; ``codes`` tells which."""

    def __init__(self, found: Diagnostics) -> None:
        super().__init__("; ".join(f"{item.code} {item.summary}: {item.detail}" for item in found))
        self.codes = [item.code for item in found]


class Lake:
    """One project with one catalog and the state of its resources."""

    def __init__(
        self, root: Path, catalog: Attributes | None = None, secrets: Mapping[str, Resolved] | None = None
    ) -> None:
        self.project = Project(root=root, lineage="test")
        self.types = {name: item.load() for name, item in provider().resource_types().items()}
        self.state: dict[str, Recorded] = {}
        self.references: dict[str, Resolved] = dict(secrets or {})
        attributes = self.canonical("catalog", "lake", catalog or {})
        self.references |= {CATALOG: Resolved(address=CATALOG, type="catalog", attributes=attributes)}
        self.session = provider().open(self.project)
        self.serial = 0

    def close(self) -> None:
        self.session.close()

    def canonical(self, kind: str, name: str, body: Mapping[str, Any]) -> Attributes:
        """Canonical attributes of a block. Raises ``Rejected``."""
        found = Diagnostics()
        schema = self.types[kind].schema
        decoded = dict.fromkeys([*schema.attributes, *schema.blocks]) | dict(body)
        attributes = self.types[kind].canonical(
            Decoded(address=f"{kind}.{name}", name=name, attributes=decoded),
            self.references,
            self.project,
            found,
        )
        if found.has_errors:
            raise Rejected(found)
        return attributes

    def read_request(
        self, address: str, desired: Attributes | None, import_id: str | None = None
    ) -> ReadRequest:
        return ReadRequest(
            address=address,
            desired=desired,
            recorded=self.state.get(address),
            references=self.references,
            import_id=import_id,
        )

    def read(self, address: str, desired: Attributes | None) -> Observation:
        return self.session.driver(address.split(".")[0]).read(self.read_request(address, desired))

    def plan(self, address: str, body: Mapping[str, Any] | None, **options: Any) -> Proposal:
        """The proposal for a block (None: it was removed), after a trip through a plan file."""
        kind, name = address.split(".")
        desired = None if body is None else self.canonical(kind, name, body)
        planner = self.types[kind].planning.planner
        assert planner is not None
        request = PlanRequest(
            address=address,
            desired=desired,
            recorded=self.state.get(address),
            observed=self.read(address, desired),
            references=self.references,
            project=self.project,
            **options,
        )
        proposal = planner().plan(request)
        json.dumps(to_json([proposal.payload, proposal.planned, planner().fingerprint(request)]))
        return proposal

    def request(self, address: str, proposal: Proposal) -> ChangeRequest:
        verb = Verb.CREATE if proposal.action is Action.REPLACE else Verb(proposal.action)
        stored = replace(proposal, payload=_as_stored(proposal.payload))
        return self.asking(address, change_of(stored, verb, self.state.get(address), {}))

    def deletion(self, address: str, proposal: Proposal) -> ApplyRequest[Delete]:
        action = Delete(recorded=self.state[address], payload=_as_stored(proposal.payload))
        return self.asking(address, action)

    def asking(self, address: str, action: ActionT) -> ApplyRequest[ActionT]:
        self.serial += 1
        return ApplyRequest(
            key=f"test/{self.serial}",
            address=address,
            action=action,
            references=self.references,
            cancel=threading.Event(),
            progress=lambda _text: None,
        )

    def carry_out(self, address: str, proposal: Proposal) -> Outcome:
        """Does what was proposed and records the outcome."""
        assert not proposal.blockers, proposal.blockers
        match proposal.action:
            case Action.NO_OP:
                return Applied(attributes=proposal.planned or {}, identity={})
            case Action.FORGET:
                del self.state[address]
                return Applied(attributes={}, identity={})
            case Action.RECORD:
                assert proposal.planned is not None
                self.state[address] = Recorded(
                    attributes=proposal.planned, identity=self.state[address].identity
                )
                return Applied(attributes=proposal.planned, identity={})
            case Action.DELETE:
                outcome = self.asked(self.deletion(address, proposal))
                if isinstance(outcome, Applied):
                    del self.state[address]
                return outcome
            case Action.REPLACE:
                gone = self.asked(self.deletion(address, proposal))
                assert isinstance(gone, Applied)
                del self.state[address]
            case _:
                pass
        outcome = self.asked(self.request(address, proposal))
        self.record(address, outcome)
        return outcome

    def driver(self, address: str) -> Driver:
        return self.session.driver(address.split(".")[0])

    def asked(self, request: ApplyRequest[Change | Delete]) -> Outcome:
        """As an apply asks: what a driver did before it raised is settled. Raises ``Unsettled`` where that
        cannot be told.
        """
        return call_driver(self.driver(request.address), request, "iceberg")

    def record(self, address: str, outcome: Outcome) -> None:
        if outcome.attributes is not None:
            self.state[address] = Recorded(
                attributes=from_json(to_json(outcome.attributes)),
                identity=from_json(to_json(outcome.identity)),
            )

    def apply(self, address: str, body: Mapping[str, Any] | None, **options: Any) -> Proposal:
        """Plans and carries out; fails the test if that does not succeed."""
        proposal = self.plan(address, body, **options)
        outcome = self.carry_out(address, proposal)
        assert not isinstance(outcome, NotApplied), outcome.diagnostics
        return proposal

    def settle(self, address: str, request: ApplyRequest[Settleable]) -> Outcome | None:
        driver = self.session.driver(address.split(".")[0])
        assert isinstance(driver, Recoverable)
        return driver.settle(request)

    def prefetch(self, requests: Iterable[ReadRequest]) -> Mapping[str, Observation]:
        driver = self.session.driver("table")
        assert isinstance(driver, Prefetching)
        return driver.prefetch(list(requests))

    @property
    def database(self) -> Path:
        return Path(str(self.references[CATALOG].attributes["uri"]).removeprefix("sqlite:///"))

    def other(self) -> SqlCatalog:
        """Another program's view of the same catalog."""
        attributes = self.references[CATALOG].attributes
        return SqlCatalog(
            attributes["name"], uri=f"{attributes['uri']}?timeout=15", warehouse=attributes["warehouse"]
        )

    def other_made(self) -> SqlCatalog:
        """The same, where the catalog may not be there yet."""
        self.database.parent.mkdir(parents=True, exist_ok=True)
        return self.other()

    def table(self, name: str) -> Table:
        catalog = self.other()
        table = catalog.load_table(name)
        catalog.close()
        return table

    def append(self, name: str, rows: list[dict[str, Any]]) -> None:
        table = self.table(name)
        table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))

    def rows(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.table(name).scan().to_arrow().to_pylist()
        return found


def columns(**types: str) -> dict[str, dict[str, Any]]:
    """Column blocks with nothing but a type."""
    return {name: {"type": kind, "comment": None, "tags": None} for name, kind in types.items()}
