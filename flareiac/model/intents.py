"""What an intent in the journal holds: enough to find out how an operation ended when the plan is gone.
Pure.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.records import SPARSE, decode, named
from flareiac.model.plan import PlannedResource, Verb
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.references import StoredReferences
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.table_tasks import StoredWork


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """What the journal keeps of a request: enough to settle the operation when the plan is gone. ``record``
    waits for the outcome.
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

    def request(self, cancel: threading.Event, progress: Callable[[str], None]) -> ApplyRequest:
        """The request as it was made, with new ways to cancel it and to hear of it."""
        known = replace(self.record, attributes=self.recorded or {}, identity=self.identity or {}).recorded()
        return ApplyRequest(
            key=self.key,
            address=self.address,
            action=self.action,
            planned=self.planned,
            recorded=None if self.recorded is None else known,
            payload=self.payload,
            references=self.references,
            cancel=cancel,
            progress=progress,
            stage=self.stage,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMaintenance:
    """What the journal keeps of maintenance: enough to find out what came of it when the plan is gone."""

    address: str
    action: Literal["maintain"] = "maintain"
    task: str = field(metadata=named("duty"))
    id: str
    forecast: Mapping[str, int]
    work: StoredWork
    performer: str
    request: StoredRequest


def stored_request(request: ApplyRequest, resource: PlannedResource | ResourceRecord) -> StoredRequest:
    """What the journal keeps of a request about a resource."""
    recorded = request.recorded
    return StoredRequest(
        key=request.key,
        address=request.address,
        action=request.action,
        planned=request.planned,
        recorded=None if recorded is None else recorded.attributes,
        identity=None if recorded is None else recorded.identity,
        payload=request.payload,
        references=request.references,
        stage=request.stage,
        record=ResourceRecord(
            address=resource.address,
            type=resource.type,
            provider=resource.provider,
            attributes={},
            dependencies=resource.dependencies,
            protected=resource.protected,
            schema_version=resource.schema_version,
        ),
    )


def stored_intent(data: Data) -> StoredRequest | StoredMaintenance | None:
    """What an intent holds; None for maintenance of which it says too little. Raises what decoding raises
    (``UNREADABLE``).
    """
    if data["action"] != Verb.MAINTAIN:
        return decode(StoredRequest, data, complete=True)
    return decode(StoredMaintenance, data, complete=True) if "work" in data else None
