"""Earlier snapshots, and how two of them differ. Pure."""

from collections.abc import Mapping

from flareiac.kernel.document_differences import document_differences
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
    remark: str = ""
    """What the command that wrote it said of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The changes of the state by going back, by address: ``added`` is recorded again, ``removed`` no longer,
    ``changed`` as it was, with the places of its attributes that differ (no values: one may be sensitive).
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    outputs: bool


def difference(now: Snapshot, earlier: Snapshot) -> Difference:
    """Returns the changes that make ``earlier`` the state."""
    here, there = now.resources, earlier.resources
    return Difference(
        added=tuple(sorted(there.keys() - here.keys())),
        removed=tuple(sorted(here.keys() - there.keys())),
        changed={
            address: tuple(
                each.place
                for each in document_differences(here[address].attributes, there[address].attributes)
            )
            for address in sorted(here.keys() & there.keys())
            if here[address] != there[address]
        },
        outputs=dict(now.outputs) != dict(earlier.outputs),
    )
