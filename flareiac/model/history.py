"""Earlier snapshots, and how two of them differ. Pure."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A kept snapshot; ``written`` in UTC seconds, None where that is not known, ``size`` in bytes.
    ``serial`` and ``resources`` (their number) are None where it cannot be read; ``encrypted``: because no
    configured passphrase decrypts it.
    """

    name: str
    written: float | None
    size: int
    serial: int | None
    resources: int | None
    encrypted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The changes of the state by going back, by address: ``added`` is recorded again, ``removed`` no longer,
    ``changed`` as it was.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    outputs: bool


def difference(now: Snapshot, earlier: Snapshot) -> Difference:
    """Returns the changes that make ``earlier`` the state."""
    here, there = now.resources, earlier.resources
    return Difference(
        added=tuple(sorted(there.keys() - here.keys())),
        removed=tuple(sorted(here.keys() - there.keys())),
        changed=tuple(item for item in sorted(here.keys() & there.keys()) if here[item] != there[item]),
        outputs=dict(now.outputs) != dict(earlier.outputs),
    )
