"""Three-way comparison, attribute by attribute: what was declared against what was recorded and what is
there.

Pure. Only declared (desired) attributes count: a value that only the world has is never a change.
"""

from decimal import Decimal

from flareiac.kernel.data import ABSENT, UNKNOWN, Attributes, Data
from flareiac.kernel.paths import Path
from flareiac.sdk.changes import AttributeChange, Origin


def classify(
    desired: Attributes, recorded: Attributes | None, observed: Attributes | None
) -> tuple[AttributeChange, ...]:
    """Every declared attribute whose desired, recorded and observed values are not all the same.

    Dicts are compared key by key, lists as a whole. None in ``desired`` means not managed. ``observed`` None
    means that there is nothing to compare with (absent or not asked), so only config changes are found. A key
    that was recorded (so: once declared) but is no longer desired is a removal (``new`` is ABSENT); a key
    that is only observed is unmanaged and left out.
    """
    attribute_changes: list[AttributeChange] = []
    _walk(
        (),
        desired,
        ABSENT if recorded is None else recorded,
        ABSENT if observed is None else observed,
        recorded is None,
        observed is None,
        attribute_changes,
    )
    return tuple(attribute_changes)


def _walk(
    path: Path,
    desired: Data,
    recorded: Data,
    observed: Data,
    unrecorded: bool,
    unobserved: bool,
    changes: list[AttributeChange],
) -> None:
    if desired is None and path:
        return
    if isinstance(desired, dict):
        was = recorded if isinstance(recorded, dict) else {}
        live = observed if isinstance(observed, dict) else {}
        keys = list(desired) + [key for key in was if key not in desired]
        for key in keys:
            _walk(
                (*path, key),
                desired.get(key, ABSENT),
                was.get(key, ABSENT),
                live.get(key, ABSENT),
                unrecorded,
                unobserved,
                changes,
            )
        return
    if desired is ABSENT and recorded is None:
        return
    config = unrecorded or not _same(desired, recorded)
    drift = not unobserved and not unrecorded and not _same(observed, recorded) and recorded is not None
    settled = not unobserved and _same(desired, observed)
    if (not config and not drift) or (unrecorded and settled):
        return
    if desired is ABSENT and settled and not drift:
        return
    origin = Origin.BOTH if config and drift else Origin.CONFIG if config else Origin.DRIFT
    live_value = recorded if unobserved else observed
    changes.append(AttributeChange(path=path, origin=origin, old=recorded, new=desired, live=live_value))


def _same(left: Data, right: Data) -> bool:
    if left is UNKNOWN or right is UNKNOWN:
        return left is right
    return (type(left) is type(right) or (_is_number(left) and _is_number(right))) and bool(left == right)


def _is_number(value: Data) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
