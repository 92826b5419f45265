"""Pairs of a resource that leaves the state and a new one that is declared alike, as after a changed label or
key. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence

from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, parse_address
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.model.plan import PlannedResource
from flareiac.sdk.changes import Action

_LEFT = (Action.FORGET, Action.DELETE)


def relabelled(planned: Mapping[str, PlannedResource]) -> Iterator[Diagnostic]:
    """One warning for each new resource that is declared as one that leaves the state was; the names may
    differ.

    Those with the same name are the same object and are paired first: each address that leaves is named by
    one warning at most, unless several new resources are alike so that no pair is certain.
    """
    left = [
        resource
        for resource in planned.values()
        if resource.action in _LEFT and resource.recorded is not None
    ]
    new = [resource for resource in planned.values() if left and _is_new(resource)]
    same = {resource.address: twin for resource in new if (twin := _of_same_name(resource, left)) is not None}
    taken = {twin.address for twin in same.values()}
    for resource in new:
        if resource.address in same:
            yield _same_object(resource, same[resource.address])
            continue
        alike = [other for other in left if other.address not in taken and _are_alike(resource, other)]
        if alike:
            yield _new_object(resource, alike)


def _is_new(resource: PlannedResource) -> bool:
    return (
        resource.recorded is None
        and resource.desired is not None
        and resource.action in (Action.CREATE, Action.ADOPT)
    )


def _of_same_name(resource: PlannedResource, left: Sequence[PlannedResource]) -> PlannedResource | None:
    return next(
        (
            other
            for other in left
            if _are_alike(resource, other) and _name(resource.desired) == _name(other.recorded)
        ),
        None,
    )


def _name(attributes: Attributes | None) -> object:
    return (attributes or {}).get("name")


def _are_alike(resource: PlannedResource, other: PlannedResource) -> bool:
    """Equal but for the name, with something declared that tells them from any other."""
    new, old = resource.desired or {}, other.recorded or {}
    differing = {name for name in {*new, *old} if new.get(name) != old.get(name)}
    return (
        resource.type == other.type
        and differing <= {"name"}
        and any(isinstance(value, dict | list) and value for value in new.values())
    )


def _same_object(resource: PlannedResource, twin: PlannedResource) -> Diagnostic:
    return warning(
        codes.LOOKS_RELABELLED,
        f"{resource.address} and {twin.address} are the same {resource.type} under two addresses, "
        f"and the state knows {twin.address}. To keep it as it is, add{_or_back(resource, twin)}:\n"
        f"{_moved_block(resource, twin)}",
        address=resource.address,
    )


def _new_object(resource: PlannedResource, alike: Sequence[PlannedResource]) -> Diagnostic:
    named = ", ".join(other.address for other in alike)
    what = (
        f"{resource.address} is declared as {named} {'was' if len(alike) == 1 else 'were'}, "
        f"but for its name: this plan makes a new {resource.type} for it."
    )
    twin = alike[0]
    if len(alike) > 1:
        return warning(
            codes.LOOKS_RELABELLED,
            f"{what} To keep one of them under this address, say which:\n"
            f"moved {{\n  from = OLD\n  to   = {resource.address}\n}}",
            address=resource.address,
        )
    kept = "" if _is_unnamed(resource) else f'give it name = "{_name(twin.recorded)}" and '
    return warning(
        codes.LOOKS_RELABELLED,
        f"{what} To keep what exists, {kept}add{_or_back(resource, twin)}:\n{_moved_block(resource, twin)}",
        address=resource.address,
    )


def _is_unnamed(resource: PlannedResource) -> bool:
    """Returns True if the name may follow from the label; a moved block then keeps the recorded one."""
    parsed = parse_address(resource.address)
    return parsed is not None and parsed.name == _name(resource.desired)


def _moved_block(resource: PlannedResource, twin: PlannedResource) -> str:
    return f"moved {{\n  from = {twin.address}\n  to   = {resource.address}\n}}"


def _or_back(resource: PlannedResource, twin: PlannedResource) -> str:
    """The other way out, where one word of the files makes it."""
    new, old = parse_address(resource.address), parse_address(twin.address)
    match new, old:
        case Address(name=now), Address(name=before) if now != before:
            return f' (or write the label "{before}" again)'
        case Address(key=str()), Address(key=str() as before):
            return f' (or write the key "{before}" again)'
        case _:
            return ""
