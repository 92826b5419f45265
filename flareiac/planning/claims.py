"""Who holds what: collects the claims of all resources, finds those that exclude each other, and whom a change disturbs."""

from collections.abc import Iterable, Mapping

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.model.desired import Desired
from flareiac.sdk.changes import Claim, Disturbance, Proposal, Relation
from flareiac.sdk.provider import Resolved, ResourceType

_EXCLUSIVE = {
    Relation.REAL_NAME: (
        "FIP010",
        "are the same object",
        "Each object belongs to one resource: change the name of one, or remove one block.",
    ),
    Relation.CHECKPOINTS_IN: (
        "FIP011",
        "use the same checkpoint",
        "A checkpoint holds the offsets and state of one job; two jobs would corrupt it. Declare a checkpoint block for each job.",
    ),
    Relation.OWNS_LOCATION: (
        "FIP012",
        "own the same location",
        "Files of two owners in one place can not be told apart. Give each a location of its own.",
    ),
}


def collect(desired: Desired, types: Mapping[str, ResourceType], references: Mapping[str, Resolved]) -> tuple[Claim, ...]:
    """The claims of every desired resource."""
    found: list[Claim] = []
    for address, resource in desired.resources.items():
        found.extend(types[resource.address.type].claims(address, resource.attributes, references))
    return tuple(found)


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
        rule = _EXCLUSIVE.get(claim.relation)
        if rule is None:
            continue
        earlier = first.setdefault((claim.relation, claim.subject), claim)
        if earlier.holder == claim.holder:
            continue
        code, what, way_out = rule
        holder = desired.resources.get(claim.holder)
        found.append(
            error(
                code,
                f"{earlier.holder} and {claim.holder} {what}: {claim.subject}",
                f"{claim.reason} {way_out}".strip(),
                subject=holder.span if holder else None,
                address=claim.holder,
            )
        )
    return found


def disturbed(proposals: Mapping[str, Proposal], claims: Iterable[Claim]) -> dict[str, tuple[Disturbance, ...]]:
    """What the proposed changes ask of the holders of what they change, by holder."""
    held = by_subject(claims)
    found: dict[str, list[Disturbance]] = {}
    for address, proposal in proposals.items():
        for disturbance in proposal.disturbs:
            for claim in held.get(address, ()):
                if claim.relation is disturbance.relation and claim.holder != address:
                    found.setdefault(claim.holder, []).append(disturbance)
    return {holder: tuple(items) for holder, items in found.items()}
