"""Plain data in the shapes of Terraform's JSON: values without what JSON cannot say, and masks that tell
where that was.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from flareiac.kernel.addresses import Address, module_text, parse_address
from flareiac.kernel.data import Absent, Data, Json, Reference, Unknown
from flareiac.render.redaction import Redacted
from flareiac.sdk.schema import Pattern

TERRAFORM_VERSION = "1.11.4"
"""The version whose formats these are; readers of them check it."""


def provider_name(provider: str) -> str:
    """A provider's full name."""
    return f"flareiac.dev/flareiac/{provider}"


def plain(value: Data) -> Json:
    """JSON data: references are their addresses, what is unknown or absent is left out of objects and null
    elsewhere.
    """
    match value:
        case Reference(address):
            return address
        case Unknown() | Absent():
            return None
        case Redacted():
            return repr(value)
        case dict():
            return plain_object(value)
        case list() | tuple():
            return [plain(element) for element in value]
        case _:
            leaf: Json = value
            return leaf


def plain_object(value: Mapping[str, Data]) -> dict[str, Json]:
    """The same of named values."""
    return {key: plain(member) for key, member in value.items() if not isinstance(member, Unknown | Absent)}


def unknown_mask(value: Data) -> Json:
    """True at each unknown leaf; objects without one are ``{}``, lists keep their length, known leaves are
    False.
    """
    match value:
        case Unknown():
            return True
        case dict():
            masks = {key: unknown_mask(member) for key, member in value.items()}
            return {key: mask for key, mask in masks.items() if _tells(mask)}
        case list() | tuple():
            return [unknown_mask(element) for element in value]
        case _:
            return False


def sensitive_mask(value: Data, patterns: Sequence[Pattern]) -> Json:
    """As ``unknown_mask``, for what must not be shown."""
    if any(not pattern for pattern in patterns):
        return True
    match value:
        case dict():
            masks = {key: sensitive_mask(member, _below(patterns, key)) for key, member in value.items()}
            return {key: mask for key, mask in masks.items() if _tells(mask)}
        case list() | tuple():
            return [sensitive_mask(element, _below(patterns, index)) for index, element in enumerate(value)]
        case _:
            return False


def json_type(value: Data) -> Json:
    """The type of a value in cty's JSON form."""
    match value:
        case bool():
            return "bool"
        case int() | float() | Decimal():
            return "number"
        case str() | Reference():
            return "string"
        case list() | tuple():
            return ["tuple", [json_type(element) for element in value]]
        case dict():
            return ["object", {key: json_type(member) for key, member in value.items()}]
        case _:
            return "dynamic"


def parsed(address: str) -> Address:
    """The parts of an address that the core made."""
    kind, _, name = address.partition(".")
    # The state of an older version may hold a label that is not a name
    return parse_address(address) or Address(kind, name)


def place(address: str) -> dict[str, Json]:
    """``address``, ``module_address``, ``mode``, ``type``, ``name`` and ``index`` of a resource."""
    parts = parsed(address)
    module = module_text(parts.module)
    fields: dict[str, Json] = {"address": address}
    if module:
        fields["module_address"] = module
    fields |= {"mode": "managed", "type": parts.type, "name": parts.name}
    if parts.key is not None:
        fields["index"] = parts.key
    return fields


def module_tree(resources: Iterable[tuple[str, Mapping[str, Json]]]) -> dict[str, Json]:
    """Resource objects, each after its address, sorted into modules as ``root_module`` wants them."""
    return _module(
        "", [(tuple(map(str, parsed(address).module)), resource) for address, resource in resources]
    )


def _module(address: str, inside: Sequence[tuple[tuple[str, ...], Mapping[str, Json]]]) -> dict[str, Json]:
    module: dict[str, Json] = {"address": address} if address else {}
    module["resources"] = [resource for steps, resource in inside if not steps]
    children: dict[str, list[tuple[tuple[str, ...], Mapping[str, Json]]]] = {}
    for steps, resource in inside:
        if steps:
            children.setdefault(steps[0], []).append((steps[1:], resource))
    if children:
        dot = f"{address}." if address else ""
        module["child_modules"] = [_module(dot + name, nested) for name, nested in children.items()]
    return module


def _below(patterns: Sequence[Pattern], step: str | int) -> list[Pattern]:
    return [pattern[1:] for pattern in patterns if pattern and pattern[0] in (None, step)]


def _tells(mask: Data) -> bool:
    match mask:
        case bool():
            return mask
        case list():
            return any(_tells(element) for element in mask)
        case _:
            return bool(mask)
