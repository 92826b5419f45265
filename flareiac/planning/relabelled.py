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
    left = [item for item in planned.values() if item.action in _LEFT and item.recorded is not None]
    new = [item for item in planned.values() if left and _is_new(item)]
    same = {item.address: twin for item in new if (twin := _of_same_name(item, left)) is not None}
    taken = {twin.address for twin in same.values()}
    for item in new:
        if item.address in same:
            yield _same_object(item, same[item.address])
            continue
        alike = [other for other in left if other.address not in taken and _are_alike(item, other)]
        if alike:
            yield _new_object(item, alike)


def _is_new(item: PlannedResource) -> bool:
    return item.recorded is None and item.desired is not None and item.action in (Action.CREATE, Action.ADOPT)


def _of_same_name(item: PlannedResource, left: Sequence[PlannedResource]) -> PlannedResource | None:
    return next(
        (other for other in left if _are_alike(item, other) and _name(item.desired) == _name(other.recorded)),
        None,
    )


def _name(attributes: Attributes | None) -> object:
    return (attributes or {}).get("name")


def _are_alike(item: PlannedResource, other: PlannedResource) -> bool:
    """Equal but for the name, with something declared that tells them from any other."""
    new, old = item.desired or {}, other.recorded or {}
    differing = {name for name in {*new, *old} if new.get(name) != old.get(name)}
    return (
        item.type == other.type
        and differing <= {"name"}
        and any(isinstance(value, dict | list) and value for value in new.values())
    )


def _same_object(item: PlannedResource, twin: PlannedResource) -> Diagnostic:
    return warning(
        codes.LOOKS_RELABELLED,
        f"{item.address} and {twin.address} are the same {item.type} under two addresses, and the state "
        f"knows {twin.address}. To keep it as it is, run: {_move(item, twin)}{_or_back(item, twin)}",
        address=item.address,
    )


def _new_object(item: PlannedResource, alike: Sequence[PlannedResource]) -> Diagnostic:
    named = ", ".join(other.address for other in alike)
    what = (
        f"{item.address} is declared as {named} {'was' if len(alike) == 1 else 'were'}, but for its name: "
        f"this plan makes a new {item.type} for it."
    )
    twin = alike[0]
    if len(alike) > 1:
        return warning(
            codes.LOOKS_RELABELLED,
            f"{what} To keep one of them under this address, give it that name and run: "
            "flareiac state mv OLD NEW.",
            address=item.address,
        )
    return warning(
        codes.LOOKS_RELABELLED,
        f'{what} To keep what exists, give it name = "{_name(twin.recorded)}" and run: '
        f"{_move(item, twin)}{_or_back(item, twin)}",
        address=item.address,
    )


def _move(item: PlannedResource, twin: PlannedResource) -> str:
    return f"flareiac state mv '{twin.address}' '{item.address}'"


def _or_back(item: PlannedResource, twin: PlannedResource) -> str:
    """The other way out, where one word of the files makes it."""
    new, old = parse_address(item.address), parse_address(twin.address)
    match new, old:
        case Address(name=now), Address(name=before) if now != before:
            return f'; or write the label "{before}" again.'
        case Address(key=str()), Address(key=str() as before):
            return f'; or write the key "{before}" again.'
        case _:
            return "."
