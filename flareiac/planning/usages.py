"""Collects the usages of all resources, finds those that exclude each other, and the holders that a change
disturbs.
"""

from collections.abc import Iterable, Mapping

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.desired import Desired
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.unanswered import provider_crashed
from flareiac.sdk.changes import Conflict, Impact, Proposal, Reaction, Relation, Usage
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation, Present

_EXCLUSIVE = {
    Relation.REAL_NAME: Conflict(
        code=codes.SAME_OBJECT,
        what="are the same object",
        way_out="Each object belongs to one resource: change the name of one, or remove one block.",
    ),
    Relation.OWNS_LOCATION: Conflict(
        code=codes.SAME_LOCATION,
        what="own the same location",
        way_out="Files of two owners in one place cannot be distinguished. Give each a location of its own.",
    ),
}


def collect(
    desired: Desired, types: Mapping[str, ResourceType], references: Mapping[str, Resolved]
) -> tuple[Usage, ...]:
    """The usages of every desired resource."""
    usages: list[Usage] = []
    for address, resource in desired.resources.items():
        usages.extend(types[resource.address.type].relations.usages(address, resource.attributes, references))
    return tuple(usages)


def collect_seen(
    desired: Desired, types: Mapping[str, ResourceType], observations: Mapping[str, Observation]
) -> tuple[Usage, ...]:
    """The usages of desired resources that observed identities show."""
    usages: list[Usage] = []
    for address, resource in desired.resources.items():
        observed = observations.get(address)
        if isinstance(observed, Present):
            usages.extend(types[resource.address.type].relations.seen_usages(address, observed.identity))
    return tuple(usages)


_USES = (Relation.WRITES, Relation.STREAMS_FROM, Relation.LOOKS_UP, Relation.KEEPS_STATE_IN)


def collect_running(
    snapshot: Snapshot, types: Mapping[str, ResourceType], references: Mapping[str, Resolved]
) -> tuple[Usage, ...]:
    """Returns the usages of what may be running: those of the recorded definitions, whatever is desired of
    them now.
    """
    running: dict[Usage, None] = {}
    for address, record in snapshot.resources.items():
        if record.type in types:
            running.update(
                dict.fromkeys(
                    usage
                    for usage in recorded_usages(address, record, types, references)
                    if usage.relation in _USES
                )
            )
    return tuple(running)


def awake(usages: Iterable[Usage], proposals: Mapping[str, Proposal]) -> tuple[Usage, ...]:
    """The usages of those that may run: a change needs to stop no one else."""
    return tuple(
        usage for usage in usages if usage.holder not in proposals or not proposals[usage.holder].at_rest
    )


def recorded_usages(
    address: str,
    record: ResourceRecord,
    types: Mapping[str, ResourceType],
    references: Mapping[str, Resolved],
) -> tuple[Usage, ...]:
    """The usages of one recorded definition. A record that its type cannot read (edited by hand) is a
    ``Failure``, never a guess.
    """
    try:
        return types[record.type].relations.usages(address, record.attributes, references)
    except Failure:
        raise
    except Exception as bug:
        raise Failure(provider_crashed(address, bug)) from bug


def by_subject(usages: Iterable[Usage]) -> dict[str, tuple[Usage, ...]]:
    """The same usages, by what they are about."""
    usages_by_subject: dict[str, list[Usage]] = {}
    for usage in usages:
        usages_by_subject.setdefault(usage.subject, []).append(usage)
    return {subject: tuple(usages_of) for subject, usages_of in usages_by_subject.items()}


def conflicts(usages: Iterable[Usage], desired: Desired) -> list[Diagnostic]:
    """One error for each pair of holders whose usages exclude each other."""
    first: dict[tuple[Relation, str], Usage] = {}
    diagnostics: list[Diagnostic] = []
    for usage in usages:
        conflict = usage.conflict or _EXCLUSIVE.get(usage.relation)
        if conflict is None:
            continue
        earlier = first.setdefault((usage.relation, usage.subject), usage)
        if earlier.holder == usage.holder:
            continue
        holder = desired.resources.get(usage.holder)
        diagnostics.append(
            error(
                conflict.code,
                f"{earlier.holder} and {usage.holder} {conflict.what}: {usage.subject}."
                f"{usage.reason and f' {usage.reason}'} {conflict.way_out}",
                subject=holder.span if holder else None,
                address=usage.holder,
            )
        )
    return diagnostics


def disturbed(proposals: Mapping[str, Proposal], usages: Iterable[Usage]) -> dict[str, tuple[Impact, ...]]:
    """Returns the impacts of the proposed changes on the holders of what they change, by holder; holders that
    run on through all of them are left out.
    """
    held = by_subject(usages)
    impacts: dict[str, dict[Impact, None]] = {}
    for address, proposal in proposals.items():
        for disturbance in proposal.disturbs:
            for usage in held.get(address, ()):
                if applies(disturbance, usage, address):
                    impacts.setdefault(usage.holder, {})[disturbance] = None
    return {
        holder: tuple(holder_impacts)
        for holder, holder_impacts in impacts.items()
        if any(impact.reaction is not Reaction.RUNS_ON for impact in holder_impacts)
    }


def applies(disturbance: Impact, usage: Usage, subject: str) -> bool:
    """Returns True if a change of the subject disturbs the holder of this usage in this way."""
    same = usage.subject == subject and usage.holder != subject and usage.relation is disturbance.relation
    return same and disturbance.tolerance not in usage.tolerates
