"""The answers of conditions in the form of Terraform's ``checks``, by block and instance. Pure."""

from collections.abc import Iterable, Sequence

from flareiac.kernel.addresses import module_text, parse_address
from flareiac.kernel.data import Json
from flareiac.model.conditions import GRAVEST_FIRST, ConditionResult, Owning


def checks_json(conditions: Iterable[ConditionResult]) -> list[Json]:
    """Returns one object for each block that has conditions, sorted by address."""
    blocks: dict[tuple[Owning, str], dict[str, list[ConditionResult]]] = {}
    for each in conditions:
        parsed = parse_address(each.address) if each.owning is Owning.RESOURCE else None
        block = str(parsed.block) if parsed is not None else each.address
        blocks.setdefault((each.owning, block), {}).setdefault(each.address, []).append(each)
    return [
        {
            "address": _block(owning, block),
            "status": _status([each for results in instances.values() for each in results]),
            "instances": [_instance(owning, address, results) for address, results in instances.items()],
        }
        for (owning, block), instances in sorted(blocks.items(), key=lambda entry: (entry[0][1], entry[0][0]))
    ]


def _block(owning: Owning, address: str) -> Json:
    parsed = parse_address(address) if owning is Owning.RESOURCE else None
    if parsed is None:
        return {"kind": str(owning), "name": address.rpartition(".")[2], "to_display": address}
    return {
        "kind": str(owning),
        "mode": "data" if parsed.type.startswith("data.") else "managed",
        "name": parsed.name,
        "to_display": address,
        "type": parsed.type.removeprefix("data."),
        **({"module": module_text(parsed.module)} if parsed.module else {}),
    }


def _instance(owning: Owning, address: str, results: Sequence[ConditionResult]) -> Json:
    parsed = parse_address(address) if owning is Owning.RESOURCE else None
    shown: dict[str, Json] = {"to_display": address}
    if parsed is not None and parsed.key is not None:
        shown["instance_key"] = parsed.key
    messages = [each.message for each in results if each.message]
    return {
        "address": shown,
        "status": _status(results),
        **({"problems": [{"message": message} for message in messages]} if messages else {}),
    }


def _status(results: Sequence[ConditionResult]) -> str:
    return str(next(status for status in GRAVEST_FIRST if any(each.status is status for each in results)))
