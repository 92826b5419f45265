"""The entrances of what FlareIaC stores: state, journal, saved plans, emergency files, the lock of the jars."""

import random
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from flareiac.app.discovery import installed
from flareiac.app.plan_files import read_plan
from flareiac.app.state_place.backend_record import read_record
from flareiac.app.state_place.selection import selection
from flareiac.app.workspace import Workspace
from flareiac.model.emergency import EmergencyHeader, decode_emergency, encode_header, encode_lines
from flareiac.model.plan_file import plan_digest
from flareiac.sdk.state import Damaged
from flareiac.state.read import decode_records
from flareiac_spark.runtime.lock_file import read_lock
from flareiac_state.journal_frames import FrameKind, decode_frames, encode_frames
from tests.compatibility.recording import ARCHIVES, INTERRUPTED
from tests.mutations.documents import damaged_document
from tests.mutations.entrances.entrance import Bug, Entrance, Gate, answer
from tests.mutations.entrances.tables import bits
from tests.mutations.mutate import ANY_TEXT, damaged
from tests.mutations.worlds import JOURNAL, STATE

_PLAN: Final = "change.plan"


@cache
def _recorded() -> dict[str, bytes]:
    """State, journal, saved plan and lock of jars of the recorded project, as a killed apply left them."""
    (archive,) = ARCHIVES.glob(f"*-{INTERRUPTED}.tar.xz")
    wanted = (STATE, JOURNAL, _PLAN, ".flareiac.lock.hcl")
    with tarfile.open(archive) as packed:
        found = {name: packed.extractfile(f"./{name}").read() for name in wanted}  # type: ignore[union-attr]  # files
    # As this version writes it: the early one could not tell records that are not in their place.
    found[JOURNAL] = encode_frames(decode_frames(found[JOURNAL], "").items)[0]
    return found


def _damaged(content: bytes, choose: random.Random) -> bytes:
    kind = choose.random()
    if kind < 0.4:
        return damaged(content, choose, [content], ANY_TEXT)[1]
    return bits(content, choose)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A stored file: what reads it, and what is equal of two of them that hold the same."""

    name: str
    read: Callable[[Path], Any]
    meaning: Callable[[Any], Any]


def _open_stored(item: _Stored) -> Callable[[Path], Gate]:
    """A damaged file is refused, or it means what it meant."""

    def opened(root: Path) -> Gate:
        for name, content in _recorded().items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        whole = _recorded()[item.name]
        expected = item.meaning(item.read(root))

        def enter(content: bytes) -> None:
            (root / item.name).write_bytes(content)
            found = answer(lambda: item.read(root))
            if found is not None and not _is_allowed(item.meaning(found), expected):
                raise Bug(f"{item.name} is read with another meaning")

        return Gate(make=lambda choose: _damaged(whole, choose), enter=enter)

    return opened


def _is_allowed(found: Any, expected: Any) -> bool:
    """Accepts a part of a journal from its beginning: an apply may have been killed while it wrote."""
    return found == expected[: len(found)] if isinstance(expected, list) else bool(found == expected)


def _frames(root: Path) -> list[bytes]:
    try:
        answer(lambda: Workspace(root=root).load_state().snapshot)
        frames = decode_frames((root / JOURNAL).read_bytes(), "the journal").items
    except Damaged:
        return []
    return [frame.payload for frame in frames if frame.kind is FrameKind.RECORD]


def _open_states_in_parts(root: Path) -> Gate:
    """A state without a digest, as an early version or an editor leaves it."""
    whole = _recorded()[STATE]
    (root / STATE).parent.mkdir(parents=True)

    def enter(content: bytes) -> None:
        (root / STATE).write_bytes(content)
        answer(lambda: Workspace(root=root).load_state().snapshot)

    return Gate(
        make=lambda choose: damaged_document(whole, choose, [whole], sealed=choose.random() < 0.3)[1],
        enter=enter,
    )


def _open_emergencies(root: Path) -> Gate:
    records = list(_frames_of(_recorded()[JOURNAL]))
    header = EmergencyHeader(lineage="l", serial=1, after=0, apply="a")
    whole, _ = encode_lines([encode_header(header), *records])

    def enter(content: bytes) -> None:
        try:
            found = decode_emergency(content, "file", lambda line: line)
            decode_records(found.records, "file", str(root), installed().registry.types)
        except Damaged:
            return
        if list(found.records) != records[: len(found.records)]:
            raise Bug("an emergency file is read that is not what was written")

    return Gate(make=lambda choose: _damaged(whole, choose), enter=enter)


def _frames_of(content: bytes) -> Sequence[bytes]:
    return [frame.payload for frame in decode_frames(content, "x").items if frame.kind is FrameKind.RECORD]


def _open_small_files(root: Path) -> Gate:
    """The chosen workspace, the record of the backend, and the lock of the jars."""
    (root / ".flareiac").mkdir()
    readers: dict[str, Callable[[], object]] = {
        ".flareiac/workspace": lambda: selection(root, {}),
        ".flareiac/backend.json": lambda: read_record(root),
        ".flareiac.lock.hcl": lambda: read_lock(root),
    }
    known = {
        ".flareiac/workspace": b"prod\n",
        ".flareiac/backend.json": b'{"format_version": 1, "kind": "s3", "settings": {"bucket": "b", "x": true}, '
        b'"given": {}, "lineages": {"default": "l"}}',
        ".flareiac.lock.hcl": _recorded()[".flareiac.lock.hcl"],
    }

    def make(choose: random.Random) -> tuple[str, bytes]:
        name = choose.choice(list(known))
        if name.endswith("json") and choose.random() < 0.6:
            return name, damaged_document(known[name], choose, [known[name]], sealed=False)[1]
        return name, _damaged(known[name], choose)

    def enter(given: tuple[str, bytes]) -> None:
        name, content = given
        (root / name).write_bytes(content)
        answer(readers[name])

    return Gate(make=make, enter=enter)


_KINDS: Final = {
    "states": _Stored(
        name=STATE, read=lambda root: Workspace(root=root).load_state().snapshot, meaning=lambda found: found
    ),
    "journals": _Stored(name=JOURNAL, read=_frames, meaning=lambda found: found),
    "plan-files": _Stored(name=_PLAN, read=lambda root: read_plan(root, _PLAN), meaning=plan_digest),
}
ENTRANCES: Final = (
    *(Entrance(name=name, share=20_000, open=_open_stored(item)) for name, item in _KINDS.items()),
    Entrance(name="states-in-parts", share=20_000, open=_open_states_in_parts),
    Entrance(name="emergencies", share=20_000, open=_open_emergencies),
    Entrance(name="small-files", share=40_000, open=_open_small_files),
)
