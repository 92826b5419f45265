"""Encrypted states: a store keeps every promise, nothing is readable in it, and no part can be exchanged."""

import hashlib
from collections.abc import Mapping, Sequence

import pytest

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.state import Damaged, Lease, StateStore
from flareiac.state.cipher import Cipher, Passphrase, Purpose
from flareiac.state.encrypted_store import EncryptedStore
from flareiac.state.envelope import is_encrypted
from tests.state.conformance import Opener, StateStoreConformance, ignore_wait
from tests.state.memory_store import MemoryBackend, MemoryStore, Place

_SECRET = b"a value that no one may see"


def passphrase(text: str) -> Passphrase:
    return Passphrase(name=f"the variable {text.upper()}", read=text.encode)


def cipher(primary: str | None = "primary", fallback: str | None = None) -> Cipher:
    known = [passphrase(text) if text is not None else None for text in (primary, fallback)]
    return Cipher(*known, n=16)


class EncryptedBackend(MemoryBackend):
    """The store in memory, encrypted."""

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> MemoryStore:
        inner = super().open(settings, root=root, workspace=workspace, environment=environment)
        return EncryptedStore(inner, cipher())  # type: ignore[return-value]


class TestEncryptedMemory(StateStoreConformance):
    @pytest.fixture
    def place(self) -> Opener:
        return Opener(backend=EncryptedBackend())

    def let_expire(self, store: StateStore) -> None:
        assert isinstance(store, EncryptedStore)
        store._store.expire()  # type: ignore[attr-defined]


def filled() -> Place:
    """A place with a snapshot, an earlier one, and two records."""
    place = Place()
    store = EncryptedStore(MemoryStore(place), cipher())
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    first = store.write_snapshot(_SECRET + b" 1", expect=None, lease=lease)
    store.write_snapshot(_SECRET + b" 2", expect=first, lease=lease)
    for number in range(2):
        store.append_journal([_SECRET + str(number).encode()], lease)
    lease.release()
    return place


def read(place: Place, by: Cipher) -> list[bytes]:
    """All that a store reads."""
    store = EncryptedStore(MemoryStore(place), by)
    moment = store.read()
    assert moment.snapshot is not None
    earlier = [store.read_history(item.name) for item in store.history()]
    return [moment.snapshot.content, *moment.journal.records, *earlier]


_ALL = [_SECRET + b" 2", _SECRET + b"0", _SECRET + b"1", _SECRET + b" 1"]


def test_nothing_is_readable_without_the_passphrase() -> None:
    place = filled()
    assert read(place, cipher()) == _ALL
    assert not any(_SECRET in item or b"primary" in item for item in (*place.snapshots, *place.journal))
    for other, why in ((cipher("another"), "another passphrase"), (Cipher(), "is encrypted")):
        with pytest.raises(Failure, match=why):
            read(place, other)


def test_the_old_passphrase_reads_and_the_new_one_writes() -> None:
    place = filled()
    both = cipher("new", "primary")
    store = EncryptedStore(MemoryStore(place), both)
    moment = store.read()
    assert moment.snapshot is not None
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"more"], lease)
    assert store.read_journal().records[-1] == b"more", "a journal of two keys is read"
    store.write_snapshot(moment.snapshot.content, expect=moment.snapshot.revision, lease=lease)
    now = EncryptedStore(MemoryStore(place), cipher("new")).read_snapshot()
    assert now is not None
    assert now.content == moment.snapshot.content


def test_encryption_is_turned_on_and_off_by_the_next_write() -> None:
    place = Place()
    plain = MemoryStore(place)
    lease = plain.lock("apply", timeout=0, on_wait=ignore_wait)
    plain.write_snapshot(_SECRET, expect=None, lease=lease)
    plain.append_journal([_SECRET], lease)
    on = EncryptedStore(MemoryStore(place), cipher())
    on.append_journal([_SECRET], lease)
    assert on.read_journal().records == (_SECRET, _SECRET)
    revision = on.write_snapshot(_SECRET, expect="1", lease=lease)
    assert _SECRET not in place.snapshots[-1]
    off = EncryptedStore(MemoryStore(place), cipher(None, "primary"))
    off.write_snapshot(_SECRET, expect=revision, lease=lease)
    assert place.snapshots[-1] == _SECRET


def test_the_journal_goes_on_after_a_write_of_which_some_records_arrived() -> None:
    class Torn(MemoryStore):
        def append_journal(self, records: Sequence[bytes], lease: Lease) -> None:
            super().append_journal(records[:2], lease)
            if len(records) > 2:
                raise OSError(5, "Input/output error")

    place = filled()
    store = EncryptedStore(Torn(place), cipher())
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    with pytest.raises(OSError, match="Input/output"):
        store.append_journal([b"one", b"two", b"three"], lease)
    store.append_journal([b"four", b"five"], lease)
    assert read(place, cipher())[1:7] == [_SECRET + b"0", _SECRET + b"1", b"one", b"two", b"four", b"five"]


def test_every_change_of_what_is_stored_is_noticed() -> None:
    for attack in (_swapped, _left_out, _of_another_snapshot, _taken_for_another):
        place = filled()
        attack(place)
        with pytest.raises(Damaged, match="not what was encrypted"):
            read(place, cipher())
    content = cipher().seal(_SECRET, Purpose.PLAN)
    for at in range(0, len(content), 3):
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        _is_refused(changed)
        _is_refused(content[:at])


def _is_refused(content: bytes) -> None:
    """Asserts that content which still looks encrypted is refused with a reason."""
    if is_encrypted(content):
        with pytest.raises((Damaged, Failure)):
            cipher().open(content, Purpose.PLAN, "plan")


def _swapped(place: Place) -> None:
    place.journal.reverse()


def _left_out(place: Place) -> None:
    place.journal.pop(0)


def _of_another_snapshot(place: Place) -> None:
    place.journal[:] = filled().journal


def _taken_for_another(place: Place) -> None:
    place.snapshots[-1] = place.journal[0]


def test_a_key_is_derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    place, count, real = filled(), 0, hashlib.scrypt

    def counted(*arguments: object, **options: object) -> bytes:
        nonlocal count
        count += 1
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(hashlib, "scrypt", counted)
    by = cipher()
    store = EncryptedStore(MemoryStore(place), by)
    read(place, by)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"more"], lease)
    by.seal(b"plan", Purpose.PLAN)
    assert count == 1
    unused = cipher()
    assert unused.open(b"{}", Purpose.PLAN, "plan") == b"{}"
    assert count == 1
