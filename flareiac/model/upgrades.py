"""Brings what states, journals and saved plans hold of resources to the versions of the installed resource
types (see ``Recording.upgrades``). Pure.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.records import encode
from flareiac.model.damage import UNREADABLE, misshapen
from flareiac.model.intents import StoredMaintenance, StoredRequest, stored_intent
from flareiac.model.journal import Begun, Entry, Intent, MovedRecords, Result
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.state import Damaged, WrittenByNewer

Types: TypeAlias = Mapping[str, ResourceType]
"""The installed resource types by name. What is recorded of others stays as it is."""
AS_STORED: Final[Types] = {}
"""For readers that only show, count or copy: records stay in the versions that wrote them."""


def upgraded_snapshot(snapshot: Snapshot, types: Types, where: str) -> Snapshot:
    """The snapshot with every record in the version of its installed type. Raises ``WrittenByNewer`` for a
    later version, and ``Damaged`` where an upgrade cannot read a record.
    """
    resources = {
        address: upgraded_record(record, types, where) for address, record in snapshot.resources.items()
    }
    dropped = tuple(upgraded_record(record, types, where) for record in snapshot.dropped)
    return replace(snapshot, resources=resources, dropped=dropped)


def upgraded_entry(entry: Entry, types: Types, where: str) -> Entry:
    """The journal's record in the same way. Raises what decoding raises, too."""
    match entry:
        case Result(record=ResourceRecord() as record):
            return replace(entry, record=upgraded_record(record, types, where))
        case Begun(moved=MovedRecords() as moved):
            records = tuple(upgraded_record(record, types, where) for record in moved.records)
            dropped = tuple(upgraded_record(record, types, where) for record in moved.dropped)
            return replace(entry, moved=replace(moved, records=records, dropped=dropped))
        case Intent():
            return replace(entry, operation=_upgraded_operation(entry.operation, types, where))
        case _:
            return entry


def upgraded_plan(plan: Plan, types: Types, where: str) -> Plan:
    """The saved plan in the same way. Payloads and fingerprints belong to planners and stay as they are."""
    for name, version in plan.types.items():
        known = types[name].recording.schema_version if name in types else version
        if version > known:
            raise WrittenByNewer(
                where,
                f"it was made with version {version} of the type {name}; the installed provider knows "
                f"versions up to {known}",
                "Install the release that made it, or a later one, or make the plan again.",
            )
    return replace(
        plan,
        resources=tuple(_upgraded_planned(resource, types, where) for resource in plan.resources),
        references=_upgraded_references(plan.references, types, where),
        types={
            name: types[name].recording.schema_version if name in types else version
            for name, version in plan.types.items()
        },
    )


def upgraded_record(record: ResourceRecord, types: Types, where: str) -> ResourceRecord:
    """One record in the same way, with that of its last user."""
    user = upgraded_record(record.user, types, where) if record.user is not None else None
    if not _is_behind(record, types, where):
        return record if user is record.user else replace(record, user=user)
    recorded = _upgraded(record, record.attributes, record.identity, types, where)
    return replace(
        record,
        attributes=recorded.attributes,
        identity=recorded.identity,
        schema_version=types[record.type].recording.schema_version,
        user=user,
    )


def _is_behind(record: ResourceRecord | PlannedResource, types: Types, where: str) -> bool:
    """True if an earlier version wrote it. Raises ``WrittenByNewer``."""
    kind = types.get(record.type)
    if kind is None or record.schema_version == kind.recording.schema_version:
        return False
    if record.schema_version > kind.recording.schema_version:
        raise WrittenByNewer(
            where,
            f"it holds {record.address} in version {record.schema_version} of the type {record.type}; the "
            f"installed provider {record.provider} knows versions up to {kind.recording.schema_version}",
            f"A newer release of {record.provider} wrote it: install that release, or a later one.",
        )
    return True


def _upgraded(
    record: ResourceRecord | PlannedResource,
    attributes: Attributes,
    identity: Attributes,
    types: Types,
    where: str,
) -> Recorded:
    start = Recorded(attributes=attributes, identity=identity, schema_version=record.schema_version)
    return _in_steps(record.address, types[record.type], start, where)


def _in_steps(address: str, kind: ResourceType, recorded: Recorded, where: str) -> Recorded:
    try:
        for upgrade in kind.recording.upgrades[max(recorded.schema_version, 1) - 1 :]:
            recorded = upgrade(recorded)
    except UNREADABLE as problem:
        why = f"what it holds of {address} has the wrong shape ({misshapen(problem)})"
        raise Damaged(where, why) from problem
    return replace(recorded, schema_version=kind.recording.schema_version)


def _upgraded_operation(operation: Data, types: Types, where: str) -> Data:
    match stored_intent(operation):
        case StoredRequest() as stored:
            after = _upgraded_request(stored, types, where)
            return operation if after is stored else encode(after)
        case StoredMaintenance(request=request) as stored:
            after = _upgraded_request(request, types, where)
            return operation if after is request else encode(replace(stored, request=after))
        case None:
            return operation


def _upgraded_request(stored: StoredRequest, types: Types, where: str) -> StoredRequest:
    """``record`` waits for the outcome, so that it holds no attributes yet."""
    record, references = stored.record, _upgraded_references(stored.references, types, where)
    if not _is_behind(record, types, where):
        return stored if references == stored.references else replace(stored, references=references)
    planned, recorded, identity = stored.planned, stored.recorded, stored.identity
    if planned is not None:
        planned = _upgraded(record, planned, {}, types, where).attributes
    if recorded is not None:
        before = _upgraded(record, recorded, identity or {}, types, where)
        recorded, identity = before.attributes, before.identity
    return replace(
        stored,
        planned=planned,
        recorded=recorded,
        identity=identity,
        references=references,
        record=replace(record, schema_version=types[record.type].recording.schema_version),
    )


def _upgraded_planned(resource: PlannedResource, types: Types, where: str) -> PlannedResource:
    if not _is_behind(resource, types, where):
        return resource

    def attributes(value: Attributes | None) -> Attributes | None:
        return None if value is None else _upgraded(resource, value, {}, types, where).attributes

    seen = resource.observed if resource.observed is not None else resource.recorded
    identity = resource.identity
    if seen is not None:
        identity = _upgraded(resource, seen, identity, types, where).identity
    return replace(
        resource,
        proposal=replace(resource.proposal, planned=attributes(resource.proposal.planned)),
        desired=attributes(resource.desired),
        recorded=attributes(resource.recorded),
        observed=attributes(resource.observed),
        identity=identity,
        schema_version=types[resource.type].recording.schema_version,
    )


def _upgraded_references(references: References, types: Types, where: str) -> References:
    """References carry no version. They go through all upgrades, which leave alone what is upgraded."""
    return {
        address: _upgraded_reference(address, reference, types, where)
        for address, reference in references.items()
    }


def _upgraded_reference(address: str, reference: Resolved, types: Types, where: str) -> Resolved:
    kind = types.get(reference.type)
    if kind is None or not kind.recording.upgrades:
        return reference
    start = Recorded(attributes=reference.attributes, identity=reference.identity)
    seen = _in_steps(address, kind, start, where)
    return replace(reference, attributes=seen.attributes, identity=seen.identity)
