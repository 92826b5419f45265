"""The content of an intent in the journal: enough to find out how an operation ended when the plan is gone.
Pure.
"""

import threading
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Final, Literal, assert_never

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, decode, named
from flareiac.model.plan import PlannedResource, Verb
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.actions import (
    Adopt,
    Change,
    Create,
    CustomAction,
    Delete,
    PerformStage,
    Quiesce,
    Revive,
    Settleable,
    Update,
)
from flareiac.sdk.references import StoredReferences
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Recorded
from flareiac.sdk.table_tasks import StoredWork

REVIVE: Final = "revive"
_ASKED_AGAIN: Final = (Verb.QUIESCE, Verb.STAGE)
"""No driver is asked how they ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """The stored part of a request: enough to settle the operation when the plan is gone. ``record`` waits
    for the outcome. ``action`` says which of ``planned``, ``recorded`` and ``payload`` mean something.
    """

    key: str
    address: str
    action: str
    planned: Attributes | None
    recorded: Attributes | None
    identity: Attributes | None
    payload: Data
    references: StoredReferences
    record: ResourceRecord
    stage: str = field(default="", metadata=SPARSE)

    def request(self) -> ApplyRequest[Settleable] | None:
        """Returns the request that the driver is to settle; None for an action that is not settled. Raises
        ``ValueError`` where a part of the action is missing.
        """
        if self.action in _ASKED_AGAIN:
            return None
        return ApplyRequest(
            key=self.key,
            address=self.address,
            action=self._action(),
            references=self.references,
            cancel=threading.Event(),
            progress=lambda _text: None,
        )

    def _action(self) -> Settleable:
        match self.action:
            case Verb.CREATE:
                return Create(planned=self._planned(), recorded=self._known(), payload=self.payload)
            case Verb.ADOPT:
                return Adopt(planned=self._planned(), payload=self.payload)
            case Verb.UPDATE:
                return Update(planned=self._planned(), recorded=self._recorded(), payload=self.payload)
            case Verb.DELETE:
                return Delete(recorded=self._recorded(), payload=self.payload)
            case name if name == REVIVE:
                return Revive(recorded=self._recorded(), then=self.payload["then"])
            case name:
                return CustomAction(name=name, recorded=self._recorded(), payload=self.payload)

    def _planned(self) -> Attributes:
        if self.planned is None:
            raise ValueError(f"{self.action} has nothing planned")
        return self.planned

    def _recorded(self) -> Recorded:
        if (known := self._known()) is None:
            raise ValueError(f"{self.action} has nothing recorded")
        return known

    def _known(self) -> Recorded | None:
        if self.recorded is None:
            return None
        return replace(self.record, attributes=self.recorded, identity=self.identity or {}).recorded()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMaintenance:
    """The stored part of maintenance: enough to find out its outcome when the plan is gone."""

    address: str
    action: Literal["maintain"] = "maintain"
    task: str = field(metadata=named("duty"))
    id: str
    forecast: Mapping[str, int]
    work: StoredWork
    performer: str
    request: StoredRequest


def stored_request(
    request: ApplyRequest[Settleable | Quiesce | PerformStage], resource: PlannedResource | ResourceRecord
) -> StoredRequest:
    """Builds the stored part of a request about a resource."""
    blank = stored_references(request, resource)
    match request.action:
        case Create() as change:
            return _with_change(blank, Verb.CREATE, change)
        case Adopt() as change:
            return _with_change(blank, Verb.ADOPT, change)
        case Update() as change:
            return _with_change(blank, Verb.UPDATE, change)
        case PerformStage(name=name, change=change):
            return replace(_with_change(blank, Verb.STAGE, change), stage=name)
        case Delete(recorded=recorded, payload=payload):
            return _with_recorded(blank, Verb.DELETE, recorded, payload)
        case Quiesce(recorded=recorded):
            return _with_recorded(blank, Verb.QUIESCE, recorded, None)
        case Revive(recorded=recorded, then=then):
            return _with_recorded(blank, REVIVE, recorded, {"then": then})
        case CustomAction(name=name, recorded=recorded, payload=payload):
            return _with_recorded(blank, name, recorded, payload)
        case other:
            assert_never(other)


def stored_references(
    request: ApplyRequest[object], resource: PlannedResource | ResourceRecord
) -> StoredRequest:
    """Builds the stored part of a request of which only the references matter, as for maintenance."""
    return StoredRequest(
        key=request.key,
        address=request.address,
        action=Verb.MAINTAIN,
        planned=None,
        recorded=None,
        identity=None,
        payload=None,
        references=request.references,
        record=ResourceRecord(
            address=resource.address,
            type=resource.type,
            provider=resource.provider,
            attributes={},
            dependencies=resource.dependencies,
            protected=resource.protected,
            owner=resource.owner,
            schema_version=resource.schema_version,
        ),
    )


def _with_change(blank: StoredRequest, verb: Verb, change: Change) -> StoredRequest:
    return replace(_with_recorded(blank, verb, change.recorded, change.payload), planned=change.planned)


def _with_recorded(
    blank: StoredRequest, action: str, recorded: Recorded | None, payload: Data
) -> StoredRequest:
    return replace(
        blank,
        action=str(action),
        recorded=None if recorded is None else recorded.attributes,
        identity=None if recorded is None else recorded.identity,
        payload=payload,
    )


def stored_intent(data: Data) -> StoredRequest | StoredMaintenance | None:
    """Decodes an intent; None for maintenance of which it says too little. Raises what decoding raises
    (``UNREADABLE``).
    """
    if data["action"] == Verb.MAINTAIN:
        return decode(StoredMaintenance, data, complete=True) if "work" in data else None
    stored = decode(StoredRequest, data, complete=True)
    # Each part may have the right shape, and one that the action needs be missing. Found while the journal is
    # read, that is damage with a place; later it would be an error in the middle of finding out.
    stored.request()
    return stored
