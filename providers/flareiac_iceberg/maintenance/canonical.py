"""From the declared blocks to canonical settings: all numbers resolved, everything wrong reported before
Spark sees it. Pure.
"""

from typing import Any, Final

from flareiac.kernel.codes import KNOWN_AFTER_APPLY
from flareiac.kernel.data import Attributes, Data, is_known
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.records import encode
from flareiac.sdk.validators import parse_duration, parse_size
from flareiac_iceberg.maintenance.columns import Surroundings
from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.declarations import DECLARATIONS
from flareiac_iceberg.maintenance.humanize import exact_duration, exact_size
from flareiac_iceberg.maintenance.schema import NAMES

_PARSED: Final = {"duration": parse_duration, "size": parse_size}
_SHOWN: Final = {"duration": exact_duration, "size": exact_size}
_UNITS: Final = {
    name: attribute.unit
    for kind in DECLARATIONS
    for name, attribute in kind.block.attributes.items()
    if attribute.unit
}


def canonical_blocks(
    wanted: Attributes, around: Surroundings, diagnostics: Diagnostics
) -> dict[str, Attributes | None]:
    """Each block as data, None where it is not declared."""
    kinds = {kind.name: kind for kind in DECLARATIONS}
    return {name: _block(kinds[name], wanted.get(name), around, diagnostics) for name in NAMES}


def shown(block: Attributes) -> Attributes:
    """Settings as they would be declared, without those that are left to the table or to Iceberg."""
    return {
        name: _SHOWN[_UNITS[name]](value) if name in _UNITS else value
        for name, value in block.items()
        if value is not None
    }


def without_effect(name: str, wanted: Attributes) -> Diagnostic | None:
    """Complains of a table property that only a kind which is not declared takes notice of."""
    for kind in DECLARATIONS:
        block = wanted.get(kind.name)
        if kind.unused_property is not None and (block is None or block.get("enabled") is False):
            diagnostic = kind.unused_property(name)
            if diagnostic is not None:
                return diagnostic
    return None


def _block(
    kind: Declaration[Any], body: Attributes | None, around: Surroundings, diagnostics: Diagnostics
) -> Attributes | None:
    if body is None:
        return None
    for key, value in body.items():
        if not is_known(value):
            why = (
                f"{kind.name}.{key} must be known when the plan is made. Write it out, or take it from a "
                "variable."
            )
            diagnostics.error(KNOWN_AFTER_APPLY, why, attribute=(kind.name, key))
    given = {key: _parsed(key, value) for key, value in body.items() if value is not None and is_known(value)}
    settings: Attributes = encode(kind.canonical(given, around, diagnostics))
    return settings


def _parsed(key: str, value: Data) -> Data:
    return _PARSED[_UNITS[key]](value) if key in _UNITS else value
