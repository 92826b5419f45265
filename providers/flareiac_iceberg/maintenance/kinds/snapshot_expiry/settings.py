"""The settings of snapshot expiry: durations in ms. Pure."""

from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.columns import Surroundings

_DEFAULTS: Final = "history.expire."
_OWN: Final = ("history.expire.max-snapshot-age-ms", "history.expire.min-snapshots-to-keep")


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotExpiry:
    enabled: bool = True
    every: int | None = None
    older_than: int = 5 * 86_400_000
    retain_last: int = 1
    min_snapshots_to_expire: int = 1
    hold_readers_for: int = 7 * 86_400_000


def canonical(given: Attributes, around: Surroundings, diagnostics: Diagnostics) -> SnapshotExpiry:
    """The settings; warns of table properties that they come before."""
    for name in around.properties:
        if name in _OWN:
            diagnostics.warning(
                codes.PROPERTY_NOT_FOLLOWED,
                f"snapshot_expiry follows its own older_than and retain_last; {name} counts for other tools "
                "only. Remove it, or give both the same value.",
                attribute=("properties",),
            )
    return SnapshotExpiry(**given)


def unused_property(name: str) -> Diagnostic | None:
    """A property that does nothing on a table without snapshot expiry."""
    if not name.startswith(_DEFAULTS):
        return None
    return warning(
        codes.PROPERTY_WITHOUT_EXPIRY,
        f'The property "{name}" only sets defaults for snapshot expiry, and nothing declared here runs it.',
        attribute=("properties",),
    )
