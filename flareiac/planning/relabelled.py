"""Does a plan let go of one thing and make another that is declared alike? A label that was changed looks so.
Pure.
"""

from collections.abc import Iterator, Mapping

from flareiac.kernel import codes
from flareiac.kernel.addresses import parse_address
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.model.plan import PlannedResource
from flareiac.sdk.changes import Action

_LEFT = (Action.FORGET, Action.DELETE)


def relabelled(planned: Mapping[str, PlannedResource]) -> Iterator[Diagnostic]:
    """One warning for each new resource that is declared as one that leaves the state was, but for its
    name.
    """
    left = [item for item in planned.values() if item.action in _LEFT and item.recorded is not None]
    for item in planned.values() if left else ():
        if (
            item.recorded is not None
            or item.desired is None
            or item.action not in (Action.CREATE, Action.ADOPT)
        ):
            continue
        twin = next(
            (
                other
                for other in left
                if other.type == item.type and _are_alike(item.desired, other.recorded or {})
            ),
            None,
        )
        if twin is not None:
            yield _hint(item, twin)


def _are_alike(new: Attributes, old: Attributes) -> bool:
    """Equal but for the name, with something declared that tells them from any other."""
    differing = {name for name in {*new, *old} if new.get(name) != old.get(name)}
    return differing <= {"name"} and any(isinstance(value, dict | list) and value for value in new.values())


def _hint(item: PlannedResource, twin: PlannedResource) -> Diagnostic:
    parsed = parse_address(twin.address)
    label = getattr(parsed, "name", twin.address)
    named = (twin.recorded or {}).get("name")
    same = named == (item.desired or {}).get("name")
    what = "is the same object under another label" if same else f"would be a new {item.type}, and empty"
    keep = (
        "adopt it with an import block"
        if same
        else f'write name = "{named}" in its block and adopt it with an import block'
    )
    return warning(
        codes.LOOKS_RELABELLED,
        f"{item.address} looks like {twin.address} under another label. The state knows resources by their "
        f"address, so {twin.address} "
        f'leaves it and {item.address} {what}. To keep what exists, write the label "{label}" again; or '
        f"{keep}.",
        address=item.address,
    )
