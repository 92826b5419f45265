"""Locates the state of a project: its backend with all settings. Every command opens it here. Touches the
project's files and, in an opened store, the place.

The place comes from the ``backend`` block, from what ``init -backend-config`` gave, and from what this
checkout used last (``backend_record``): where they disagree, nothing is opened, because a state that seems
empty would be planned as if nothing existed.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from pathlib import Path
from shlex import quote

from flareiac.app.state_place.backend_record import BackendRecord, read_record
from flareiac.app.state_place.backends import BACKEND_KINDS, state_backend
from flareiac.app.state_place.encryption import cipher_of
from flareiac.config.backend import LOCAL, BackendBlock
from flareiac.config.settings import Settings, read_settings
from flareiac.config.settings_blocks import settings_blocks
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span
from flareiac.model.journal import Moved, decode_entry
from flareiac.sdk.state import Journal, Locating, StateBackend, StateStore
from flareiac.state.cipher import Cipher
from flareiac.state.encrypted_store import EncryptedStore


def both_ways(options: str = "") -> str:
    """Returns the ways out where the place is another one than before. ``options``: what ``init`` has to be
    given with both, because it remembers only what it was given for the place that is used.
    """
    given = f" {options}" if options else ""
    return (
        f"Run flareiac init{given} -migrate-state to move every workspace's state to the new place, or "
        f"flareiac init{given} -reconfigure to use the new place as it is and leave the old one alone."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePlace:
    """A backend with its settings, for the root module in ``root``. ``given``: those of the settings that
    ``init -backend-config`` gave. ``span``: where the configuration names it, in one of ``sources``.
    """

    backend: StateBackend
    root: Path
    settings: Mapping[str, str | bool] = field(default_factory=dict)
    given: Mapping[str, str | bool] = field(default_factory=dict)
    span: Span | None = None
    sources: Mapping[str, Source] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        return self.backend.name

    @property
    def place(self) -> str:
        """The place within its kind, the same text in every checkout; empty where every checkout has a place
        of its own.
        """
        if isinstance(self.backend, Locating):
            with self._at_block():
                return self.backend.location(dict(self.settings), environment=os.environ)
        return ", ".join(f"{name} = {value}" for name, value in sorted(self.settings.items()))

    @property
    def is_shared(self) -> bool:
        """Returns True if other checkouts have the same place."""
        return self.place != ""

    def __str__(self) -> str:
        return f"{self.kind} ({self.place or self.root / '.flareiac' / 'state'})"

    def is_same(self, other: "StatePlace") -> bool:
        return (self.kind, self.place) == (other.kind, other.place)

    def open(self, workspace: str) -> StateStore:
        """The store of one workspace; touches nothing yet. Raises ``Failure``."""
        with self._at_block():
            store = self.backend.open(
                dict(self.settings), root=str(self.root), workspace=workspace, environment=os.environ
            )
        return EncryptedStore(store, project_cipher(self.root))

    def workspaces(self) -> Sequence[str]:
        """The workspaces that hold something, sorted. Raises ``OSError`` or ``Failure``."""
        with self._at_block():
            return self.backend.workspaces(dict(self.settings), root=str(self.root), environment=os.environ)

    def delete(self, workspace: str) -> None:
        """Deletes all of one workspace. Raises ``LockHeld``, ``OSError`` or ``Failure``."""
        self.backend.delete_workspace(
            dict(self.settings), root=str(self.root), workspace=workspace, environment=os.environ
        )

    def prove(self) -> None:
        """Reaches the place and makes it ready. Raises ``OSError`` or ``Failure``."""
        with self._at_block():
            self.backend.prove(dict(self.settings), root=str(self.root), environment=os.environ)

    @contextmanager
    def _at_block(self) -> Iterator[None]:
        """A ``Failure`` of the backend, with the place of the block."""
        try:
            yield
        except Failure as failure:
            if self.span is None or any(diagnostic.subject is not None for diagnostic in failure.diagnostics):
                raise
            placed = [diagnostic.at(subject=self.span) for diagnostic in failure.diagnostics]
            raise Failure(*placed, sources=self.sources) from failure

    def given_options(self, known: Mapping[str, str | bool] | None = None) -> str:
        """The options of ``init`` that lead here: those that are not ``known`` with the same value."""
        texts = {
            name: value if isinstance(value, str) else str(value).lower()
            for name, value in sorted(self.given.items())
            if (known or {}).get(name) != value
        }
        return " ".join(f"-backend-config={quote(f'{name}={text}')}" for name, text in texts.items())

    def record(self, lineages: Mapping[str, str]) -> BackendRecord:
        """Returns the record of the place that this checkout keeps."""
        return BackendRecord(
            kind=self.kind, settings=dict(self.settings), given=dict(self.given), lineages=dict(lineages)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The settings in the ``flareiac`` blocks of a project, and the texts that contain them."""

    settings: Settings
    sources: Mapping[str, Source]


def written_settings(root: Path) -> Written:
    """The settings of a project, read without the rest of its configuration. Raises ``Failure``."""
    diagnostics = Diagnostics()
    parsed = settings_blocks(root, diagnostics)
    settings = read_settings(parsed.blocks, BACKEND_KINDS, diagnostics)
    if diagnostics.has_errors:
        raise Failure(*diagnostics, sources=parsed.sources)
    return Written(settings=settings, sources=parsed.sources)


@cache
def project_cipher(root: Path) -> Cipher:
    """Returns the cipher of a project's state and saved plans: one for a process, so that a key is derived
    once. Raises ``Failure``.
    """
    return cipher_of(written_settings(root).settings.encryption, root)


def state_place(root: Path) -> StatePlace:
    """The place that commands use. Raises ``Failure`` where it is not clear which one that is."""
    written, record = written_settings(root), read_record(root)
    block = written.settings.backend
    kept = record.given if record is not None and record.kind == _kind(block) else {}
    wanted = wanted_place(root, written, kept)
    if record is None:
        if wanted.is_shared:
            _refuse_left_state(wanted, block, written.sources)
        return wanted
    used = recorded_place(root, record)
    if used is not None and used.is_same(wanted):
        return wanted
    last = str(used) if used is not None else f"{record.kind}, which is not installed"
    raise Failure(
        error(
            codes.BACKEND_CHANGED,
            f"This checkout kept its state in {last}; the configuration now says {wanted}. {both_ways()} Or "
            "put back what the configuration said.",
            subject=block.span if block is not None else None,
        ),
        sources=written.sources,
    )


def wanted_place(root: Path, written: Written, given: Mapping[str, str | bool]) -> StatePlace:
    """The place that the configuration names, with settings that it leaves out. Raises ``Failure``."""
    block = written.settings.backend
    backend = installed_backend(_kind(block))
    set_here: Mapping[str, str | bool] = block.settings if block is not None else {}
    settings = {
        **{setting.name: setting.default for setting in backend.settings if setting.default is not None},
        **given,
        **set_here,
    }
    missing = [setting for setting in backend.settings if setting.required and setting.name not in settings]
    if missing and block is not None:
        names = " and ".join(setting.name for setting in missing)
        options = " ".join(f"-backend-config={setting.name}=..." for setting in missing)
        raise Failure(
            error(
                codes.BACKEND_INCOMPLETE,
                f'The backend "{block.kind}" needs {names} ({missing[0].description.rstrip(".")}). Write it '
                f"into the block, or run flareiac init {options}",
                subject=block.span,
            ),
            sources=written.sources,
        )
    used = {name: value for name, value in given.items() if name not in set_here}
    return StatePlace(
        backend=backend,
        root=root,
        settings=settings,
        given=used,
        span=block.span if block is not None else None,
        sources=written.sources,
    )


def recorded_place(root: Path, record: BackendRecord) -> StatePlace | None:
    """The place that was used last; None where its backend is not installed any more."""
    backend = state_backend(record.kind)
    if backend is None:
        return None
    return StatePlace(backend=backend, root=root, settings=record.settings, given=record.given)


def local_place(root: Path) -> StatePlace:
    """The place of projects without a ``backend`` block."""
    return StatePlace(backend=installed_backend(LOCAL), root=root)


def installed_backend(kind: str) -> StateBackend:
    """A backend by its name. Raises ``Failure``."""
    backend = state_backend(kind)
    if backend is None:
        raise Failure(
            error(
                codes.STATE_BACKEND_NOT_INSTALLED,
                f"No installed package provides the state backend {kind!r}. Install the one that does.",
            )
        )
    return backend


def left_workspaces(root: Path) -> Sequence[str]:
    """The workspaces of a local state that was not moved anywhere. Raises ``OSError`` or ``Failure``."""
    place = local_place(root)
    return [name for name in place.workspaces() if moved_to(place.open(name).read_journal()) is None]


def moved_to(journal: Journal) -> str | None:
    """Returns the place that a state with this journal was moved to, as its mark says; None if it was not
    moved. Raises ``Damaged``.
    """
    last = decode_entry(journal.records[-1], "the journal") if journal.records else None
    return last.to if isinstance(last, Moved) else None


def _refuse_left_state(wanted: StatePlace, block: BackendBlock | None, sources: Mapping[str, Source]) -> None:
    left = left_workspaces(wanted.root)
    if not left:
        return
    whose = "" if left == ["default"] else f" (workspaces {', '.join(left)})"
    raise Failure(
        error(
            codes.STATE_NOT_MOVED,
            f"{wanted.root / '.flareiac' / 'state'} holds the state of this project{whose}; the "
            f"configuration says {wanted}. {both_ways()}",
            subject=block.span if block is not None else None,
        ),
        sources=sources,
    )


def _kind(block: BackendBlock | None) -> str:
    return LOCAL if block is None else block.kind
