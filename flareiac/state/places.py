"""Places in the stored state: what lies below the root module is stored relative to it. Pure."""

from collections.abc import Callable
from dataclasses import replace

from flareiac.kernel.data import Data
from flareiac.model.journal import Begun, Entry, Intent, MovedRecords, Result
from flareiac.model.relocation import stored as stored_places
from flareiac.model.snapshot import Snapshot, encode_snapshot, with_places


def encode_state(snapshot: Snapshot, root: str) -> bytes:
    """The bytes of the state of the root module in ``root``: places of connections that lie below it are
    relative to it.
    """
    return encode_snapshot(with_places(snapshot, lambda data: stored_places(data, root)))


def with_entry_places(entry: Entry, places: Callable[[Data], Data]) -> Entry:
    match entry:
        case Result(record=record):
            kept = record.with_places(places) if record is not None else None
            return replace(entry, record=kept, note=places(entry.note))
        case Begun(moved=MovedRecords() as moved):
            records = tuple(record.with_places(places) for record in moved.records)
            dropped = tuple(record.with_places(places) for record in moved.dropped)
            return replace(entry, moved=replace(moved, records=records, dropped=dropped))
        case Intent(operation={"references": references}):
            return replace(entry, operation={**entry.operation, "references": places(references)})
        case _:
            return entry
