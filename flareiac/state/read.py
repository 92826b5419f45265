"""The state as its store holds it, with the journal replayed and every record in the version of its installed
resource type. Touches the state store, by reading only.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.journal import Entry, Recovered, decode_entry, replay
from flareiac.model.relocation import restored
from flareiac.model.remark import Remark
from flareiac.model.snapshot import Snapshot, decode_snapshot, new_snapshot, with_places
from flareiac.model.upgrades import Types, upgraded_entry, upgraded_snapshot
from flareiac.sdk.state import WITHOUT_JOURNAL, Damaged, Moment, StateStore
from flareiac.state.places import with_entry_places


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A state as read: with the journal replayed, and the revision that a write must name (None: nothing
    stored yet).
    """

    recovered: Recovered
    revision: str | None
    torn: bool = False
    root: str = ""
    """The folder of the root module: what is stored is relative to it."""

    @property
    def snapshot(self) -> Snapshot:
        return self.recovered.snapshot

    def remarked(self, remark: Remark | None) -> "Loaded":
        """The state as the next one to write begins: with this remark in place of that of its last writer."""
        recovered = replace(self.recovered, snapshot=replace(self.snapshot, remark=remark))
        return replace(self, recovered=recovered)


def load(store: StateStore, root: str, types: Types) -> Loaded:
    """The state of the root module in ``root``, empty and with a lineage of its own when there is none.
    Records are in the versions of ``types``; ``AS_STORED`` leaves them as they are. Raises ``Damaged`` or
    OSError.
    """
    return understood(store.read(), store.describe(), root, types)


def understood(moment: Moment, where: str, root: str, types: Types) -> Loaded:
    """Decodes the content of a store, for the root module in ``root``; ``where`` says which store, for
    people. Raises ``Damaged``.
    """
    stored, journal = moment.snapshot, moment.journal
    base = decode_state(stored.content, where, root, types) if stored else new_snapshot()
    entries = decode_records(journal.records, f"the journal of {where}", root, types)
    return Loaded(
        recovered=replay(base, entries),
        revision=stored.revision if stored else None,
        torn=journal.torn,
        root=root,
    )


def decode_state(content: bytes, where: str, root: str, types: Types) -> Snapshot:
    """A stored snapshot, for the root module in ``root``. Raises ``Damaged``."""
    snapshot = with_places(decode_snapshot(content, where), lambda data: restored(data, root))
    return upgraded_snapshot(snapshot, types, where)


def decode_records(records: Sequence[bytes], where: str, root: str, types: Types) -> list[Entry]:
    """Stored records of a journal, for the root module in ``root``. Raises ``Damaged``."""
    return [_entry(record, where, lambda data: restored(data, root), types) for record in records]


def _entry(record: bytes, where: str, places: Callable[[Data], Data], types: Types) -> Entry:
    try:
        entry = with_entry_places(decode_entry(record, where), places)
        return upgraded_entry(entry, types, where)
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a journal that FlareIaC wrote"), WITHOUT_JOURNAL) from problem
