"""What a resource refers to through others, and what of it is recorded with the resource. Pure."""

from collections.abc import Iterable, Mapping

from flareiac.kernel.data import Attributes, references
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import Kind, ResourceType


def reached(start: Iterable[str], known: Mapping[str, Resolved]) -> list[str]:
    """The known addresses among ``start`` and everything that their attributes refer to, directly or through others, each once."""
    stack, found = list(start), dict[str, None]()
    while stack:
        address = stack.pop()
        if address not in found and address in known:
            found[address] = None
            stack.extend(references(known[address].attributes))
    return list(found)


def connections_of(
    dependencies: Iterable[str], attributes: Attributes, known: Mapping[str, Resolved], types: Mapping[str, ResourceType]
) -> dict[str, Attributes]:
    """The attributes of every connection and declaration that a resource reaches, by address.

    An apply records this with the resource and the next plan compares with it, so both call this function.
    """
    found = reached((*dependencies, *references(attributes)), known)
    return {address: known[address].attributes for address in found if types[known[address].type].kind is not Kind.MANAGED}
