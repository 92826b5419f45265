"""The ways out that a plan offers for an object that another state manages, whatever the object is. Pure."""

from flareiac.sdk.requests import PlanRequest


def takes_over(request: PlanRequest) -> bool:
    """Returns True if an import block takes the object over. A block that stays after it was applied takes
    nothing back: two of them would take turns.
    """
    return request.takeover and request.recorded is None


def ways_out(
    request: PlanRequest,
    import_id: str,
    instead: str,
    *,
    where: str = "nothing is applied from the other state any more",
) -> tuple[str, ...]:
    """The ways out of a plan that is blocked for it. ``instead``: what to do without the object; ``where``:
    when it is safe to take it over. Of a recorded object, the other state has taken it over.
    """
    taken = f'import {{\n  to = {request.address}\n  id = "{import_id}"\n  takeover = true\n}}'
    if request.recorded is None:
        return (instead, f"to take it over, where {where}:\n{taken}")
    return (
        f"to leave it to that state: flareiac state rm {request.address}, and delete the block",
        f"to take it back: flareiac state rm {request.address}, and then:\n{taken}",
    )
