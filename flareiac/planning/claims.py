"""Who holds what: collects the claims of all resources, finds those that exclude each other, and whom a
change disturbs.
"""

from collections.abc import Iterable, Mapping

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.desired import Desired
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.unanswered import provider_crashed
from flareiac.sdk.changes import Claim, Conflict, Impact, Proposal, Reaction, Relation
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType

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
) -> tuple[Claim, ...]:
    """The claims of every desired resource."""
    found: list[Claim] = []
    for address, resource in desired.resources.items():
        found.extend(types[resource.address.type].claims(address, resource.attributes, references))
    return tuple(found)


_USES = (Relation.WRITES, Relation.STREAMS_FROM, Relation.LOOKS_UP)


def collect_running(
    snapshot: Snapshot, types: Mapping[str, ResourceType], references: Mapping[str, Resolved]
) -> tuple[Claim, ...]:
    """Who may be running on what: the claims of the definitions that are recorded, whatever is desired of
    them now.
    """
    found: dict[Claim, None] = {}
    for address, record in snapshot.resources.items():
        if record.type in types:
            found.update(
                dict.fromkeys(
                    claim
                    for claim in recorded_claims(address, record, types, references)
                    if claim.relation in _USES
                )
            )
    return tuple(found)


def awake(claims: Iterable[Claim], proposals: Mapping[str, Proposal]) -> tuple[Claim, ...]:
    """The claims of those that may run: a change needs to stop no one else."""
    return tuple(
        claim for claim in claims if claim.holder not in proposals or not proposals[claim.holder].at_rest
    )


def recorded_claims(
    address: str,
    record: ResourceRecord,
    types: Mapping[str, ResourceType],
    references: Mapping[str, Resolved],
) -> tuple[Claim, ...]:
    """The claims of one recorded definition. A record that its type cannot read (edited by hand) is a
    ``Failure``, never a guess.
    """
    try:
        return types[record.type].claims(address, record.attributes, references)
    except Failure:
        raise
    except Exception as bug:
        raise Failure(provider_crashed(address, bug)) from bug


def by_subject(claims: Iterable[Claim]) -> dict[str, tuple[Claim, ...]]:
    """The same claims, by what they are about."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.subject, []).append(claim)
    return {subject: tuple(items) for subject, items in found.items()}


def conflicts(claims: Iterable[Claim], desired: Desired) -> list[Diagnostic]:
    """One error for each pair of holders whose claims exclude each other."""
    first: dict[tuple[Relation, str], Claim] = {}
    found: list[Diagnostic] = []
    for claim in claims:
        conflict = claim.conflict or _EXCLUSIVE.get(claim.relation)
        if conflict is None:
            continue
        earlier = first.setdefault((claim.relation, claim.subject), claim)
        if earlier.holder == claim.holder:
            continue
        holder = desired.resources.get(claim.holder)
        found.append(
            error(
                conflict.code,
                f"{earlier.holder} and {claim.holder} {conflict.what}: {claim.subject}. {claim.reason} "
                f"{conflict.way_out}",
                subject=holder.span if holder else None,
                address=claim.holder,
            )
        )
    return found


def disturbed(proposals: Mapping[str, Proposal], claims: Iterable[Claim]) -> dict[str, tuple[Impact, ...]]:
    """What the proposed changes ask of the holders of what they change, by holder; those that all run on are
    left out.
    """
    held = by_subject(claims)
    found: dict[str, dict[Impact, None]] = {}
    for address, proposal in proposals.items():
        for disturbance in proposal.disturbs:
            for claim in held.get(address, ()):
                if applies(disturbance, claim, address):
                    found.setdefault(claim.holder, {})[disturbance] = None
    return {
        holder: tuple(items)
        for holder, items in found.items()
        if any(item.reaction is not Reaction.RUNS_ON for item in items)
    }


def applies(disturbance: Impact, claim: Claim, subject: str) -> bool:
    """Whether a change of the subject disturbs the holder of this claim in this way."""
    same = claim.subject == subject and claim.holder != subject and claim.relation is disturbance.relation
    return same and disturbance.tolerance not in claim.tolerates
