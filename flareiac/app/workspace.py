"""The context of every use case: the project, its providers (opened when first needed) and its state. Touches
what it opens.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from flareiac.app.discovery import Installed, InstalledTypes, installed
from flareiac.app.protection import Guard
from flareiac.app.state_place.place import StatePlace, project_cipher, state_place
from flareiac.app.state_place.seen import Expected, check_known, check_seen, is_stored
from flareiac.app.state_place.selection import DEFAULT
from flareiac.app.state_place.setup import StateRequest, set_up_state
from flareiac.config.evaluation import DataBlocks, ReadData
from flareiac.config.files import ModuleFiles
from flareiac.config.files import read as read_file
from flareiac.config.load import Configuration
from flareiac.config.load import load as load_configuration
from flareiac.config.variables import Given, Inputs
from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.os_errors import first_step
from flareiac.kernel.sources import Source
from flareiac.model.snapshot import Snapshot
from flareiac.model.upgrades import AS_STORED, Types
from flareiac.planning.measure import Measurement, measure
from flareiac.planning.observe import observe
from flareiac.sdk.capabilities import Recovering
from flareiac.sdk.driver import Driver
from flareiac.sdk.maintenance import Performing, PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Session
from flareiac.sdk.real_places import real_place
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import Question
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.results import Missing, Observation, Present, Unreadable
from flareiac.sdk.state import WITHOUT_JOURNAL, Damaged, StateStore, WrittenByNewer
from flareiac.sdk.table_tasks import Performed
from flareiac.state.cipher import PassphraseMissing, Purpose
from flareiac.state.read import Loaded
from flareiac.state.read import load as load_state


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableArguments:
    """Values from the command line, in the order given: ``("var", "k=v")`` and ``("file", "path")``."""

    given: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Workspace:
    """One command's view of one project. ``timings`` collects seconds per phase."""

    root: Path
    workspace: str = DEFAULT
    parallelism: int = 10
    lineage: str = ""
    guard: Guard | None = None
    """That of a command that does not only read."""
    variables: VariableArguments = field(default_factory=VariableArguments)
    timings: dict[str, float] = field(default_factory=dict)
    _sessions: dict[str, Session] = field(default_factory=dict)
    _place: StatePlace | None = None
    _store: StateStore | None = None

    @property
    def installed(self) -> Installed:
        return installed()

    @property
    def project(self) -> Project:
        return Project(root=self.root, workspace=self.workspace, lineage=self.lineage, resolve=real_place)

    @property
    def place(self) -> StatePlace:
        """The place of the states of all workspaces. Raises ``Failure``."""
        if self._place is None:
            with _reachable(lambda: "The state"):
                self._place = state_place(self.root)
        return self._place

    @property
    def store(self) -> StateStore:
        """The state of this workspace. Raises ``Failure``."""
        if self._store is None:
            self._store = self.place.open(self.workspace)
        return self._store

    def seal(self, content: bytes) -> bytes:
        """Returns the form in which an emergency file holds a text: encrypted where the state is."""
        return project_cipher(self.root).seal(content, Purpose.EMERGENCY)

    def unseal(self, content: bytes) -> bytes:
        """The inverse of ``seal``. Raises ``Damaged`` or ``Failure``."""
        return project_cipher(self.root).open(content, Purpose.EMERGENCY, "the emergency file")

    def load_state(self, *, even_moved: bool = False, as_stored: bool = False) -> Loaded:
        """The state as it is; its lineage becomes the project's. Raises ``Failure`` when it cannot be read,
        or is not the one that this checkout saw there.

        ``as_stored``: with records of other versions as they are, for commands that ask no provider about
        them. ``even_moved``: so, and also one that was moved to another place, for commands that only show
        it.
        """
        types = AS_STORED if as_stored or even_moved else InstalledTypes()
        with state_errors(self):
            return self._understood(Expected.SEEN, types, even_moved=even_moved)

    def load_or_damage(self, expected: Expected = Expected.SEEN) -> Loaded | Damaged:
        """The same for a command that heals, or what is wrong with the state. One that a later release wrote
        is not damaged; one that cannot be decrypted is where any is expected. Raises ``Failure``.
        """
        with state_errors(self):
            try:
                loaded = self._understood(expected, InstalledTypes())
            except WrittenByNewer:
                raise
            except Damaged as problem:
                return problem
            except PassphraseMissing:
                if expected is not Expected.ANY:
                    raise
                return Damaged(self.store.describe(), "no configured passphrase decrypts it")
            return self._misshapen_journal(loaded) or loaded

    def _misshapen_journal(self, loaded: Loaded) -> Damaged | None:
        """Returns the reason why no apply can find out what an interrupted one did; None where one can."""
        if loaded.recovered.interrupted is None:
            return None
        # Imported here: what intents hold is read of few states.
        from flareiac.app.misshapen_parts import misshapen_intent

        why = misshapen_intent(loaded.recovered.interrupted, self.installed.registry)
        return Damaged(f"the journal of {self.store.describe()}", why, WITHOUT_JOURNAL) if why else None

    def _understood(self, expected: Expected, types: Types, *, even_moved: bool = False) -> Loaded:
        """Raises ``Damaged``, ``OSError``, ``Failure``."""
        place, store = self.place, self.store
        try:
            loaded = load_state(store, str(self.root), types)
        except Damaged:
            if self.guard is not None:
                self.guard.check(None)
            raise
        check_seen(place, self.workspace, loaded, expected=expected, even_moved=even_moved)
        self.lineage = self.lineage or loaded.snapshot.lineage
        if self.guard is None:
            return loaded
        self.guard.check(loaded.snapshot)
        return loaded.remarked(self.guard.remark)

    def set_up_state(self, request: StateRequest, say: Callable[[str], None]) -> StatePlace:
        """The place of the state from now on, proven (see ``init``). Raises ``Failure`` or ``LockHeld``."""
        with _reachable(lambda: str(self.root / ".flareiac"), verb="write"):
            self._place, self._store = set_up_state(self.root, request, say), None
            loaded = load_state(self.store, str(self.root), AS_STORED)
            if self.workspace == DEFAULT or is_stored(loaded):
                check_seen(self._place, self.workspace, loaded)
            else:
                name = self.workspace
                say(f"There is no workspace {name} yet. To make it: flareiac workspace new {name}.")
        return self._place

    def workspaces(self) -> Sequence[str]:
        """The workspaces that hold something, sorted. Raises ``Failure``."""
        with _reachable(lambda: str(self.place), self.place):
            return self.place.workspaces()

    def delete_state(self, name: str) -> None:
        """Deletes all of one workspace. Raises ``Failure`` or ``LockHeld``."""
        with _reachable(lambda: str(self.place), self.place):
            self.place.delete(name)

    def check_known(self) -> None:
        """Refuses a workspace that was never made, before anything is written there. Raises ``Failure``."""
        with _reachable(lambda: str(self.place), self.place):
            check_known(self.place, self.workspace)

    def load_configuration(
        self,
        snapshot: Snapshot,
        diagnostics: Diagnostics,
        *,
        data: ReadData | None = None,
        partial: bool = False,
        texts: Mapping[str, str] | None = None,
    ) -> Configuration:
        """The project's configuration, evaluated with what the state knows of computed values. ``texts``: by
        name, in place of what files hold.

        ``data`` answers for data blocks (``read_data`` asks their systems); without it only those are read
        that need no connection (``read_values``). ``partial``: see ``config.load.DataBlocks``.
        """
        started = time.perf_counter()

        def inputs(files: ModuleFiles) -> Inputs:
            return Inputs(
                environment=os.environ,
                files=files.variables,
                given=_given(self.root, self.variables, diagnostics),
            )

        configuration = load_configuration(
            self.project,
            self.installed.registry,
            inputs,
            snapshot,
            diagnostics,
            DataBlocks(read=data or self.read_values, partial=partial),
            texts,
        )
        self.timings["configuration"] = time.perf_counter() - started
        return configuration

    def session(self, provider: str) -> Session:
        """An open provider; opens it when needed. Raises ``Failure``."""
        return self._session(provider)

    def driver(self, provider: str, kind: str) -> Driver:
        """A driver of an open provider; opens it when needed. Raises ``Failure``."""
        if provider not in self.installed.providers:
            raise Failure(
                error(
                    codes.PROVIDER_NOT_INSTALLED,
                    f"The state holds resources of the provider {provider!r}. Install its package.",
                )
            )
        if kind not in self.installed.registry.types:
            why = (
                f'The installed version of the provider {provider!r} does not know the type "{kind}". '
                "Install the version that the state was written with."
            )
            raise Failure(error(codes.UNKNOWN_RECORDED_TYPE, why))
        return self._session(provider).driver(kind)

    def _session(self, provider: str) -> Session:
        if provider not in self._sessions:
            self._sessions[provider] = self.installed.providers[provider].open(self.project)
        return self._sessions[provider]

    def recover(self, snapshot: Snapshot) -> None:
        """Has what killed writers left half done finished where the state has connections to. Only for
        commands that hold the lock.
        """
        registry = self.installed.registry
        attributes_of = {
            address: attributes
            for record in snapshot.resources.values()
            for address, attributes in record.resolved.items()
        }
        by_provider: dict[str, list[Resolved]] = {}
        for address, attributes in attributes_of.items():
            kind = block_type(address)
            if kind in registry.types and registry.types[kind].kind is Kind.CONNECTION:
                connection = Resolved(address=address, type=kind, attributes=attributes)
                by_provider.setdefault(registry.provider_of[kind], []).append(connection)
        for provider, connections in by_provider.items():
            session = self._session(provider)
            if isinstance(session, Recovering):
                session.recover(connections)

    def observe(self, questions: Sequence[Question]) -> Mapping[str, Observation]:
        """Asks the systems, in parallel."""
        started = time.perf_counter()
        answers = observe(questions, self.driver, parallelism=self.parallelism)
        self.timings["observation"] = self.timings.get("observation", 0.0) + time.perf_counter() - started
        return answers

    def measure(
        self, wanted: Sequence[Measurement]
    ) -> tuple[Mapping[str, Attributes], tuple[Diagnostic, ...]]:
        """Measures what maintenance decides by, in parallel."""
        started = time.perf_counter()
        measured = measure(wanted, self.driver, parallelism=self.parallelism)
        if wanted:
            self.timings["measuring"] = self.timings.get("measuring", 0.0) + time.perf_counter() - started
        return measured

    def perform(self, request: PerformRequest) -> Performed:
        """Has a maintenance task carried out by the provider whose connection it names. Raises
        ``Failure``.
        """
        return self._performing(request.performer.type).perform(request)

    def disturbed(self, address: str, performer: Resolved, references: References) -> Sequence[Diagnostic]:
        """Returns the effects of work on a resource on others of its performer. Raises ``Failure``."""
        return self._performing(performer.type).disturbed(address, performer, references)

    def outcome(self, request: PerformRequest) -> Performed | None:
        """Returns the outcome of a requested maintenance task, as far as its performer knows. Raises
        ``Failure``.
        """
        return self._performing(request.performer.type).outcome(request)

    def _performing(self, kind: str) -> Performing:
        provider = self.installed.registry.provider_of[kind]
        session = self._session(provider)
        assert isinstance(session, Performing), f"{provider} is named as performer and performs nothing"
        return session

    def read_data(self, question: Question) -> Present | Diagnostic:
        """Returns the attributes of a data block, or the reason why they are not known."""
        address = question.request.address
        match self.observe([question])[address]:
            case Present() as present:
                return present
            case Missing(reason=reason):
                return error(
                    codes.DATA_DOES_NOT_EXIST,
                    f"{address} reads what others created, and {reason}.",
                    address=address,
                )
            case Unreadable(diagnostic=diagnostic):
                return diagnostic

    def read_values(self, question: Question) -> Present | Diagnostic | None:
        """The same, of a data block that is read without any connection of the project; None for others."""
        alone = self.installed.registry.types[question.type].declaring.values_only
        return self.read_data(question) if alone else None

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


@contextmanager
def state_errors(workspace: Workspace) -> Iterator[None]:
    """A state that cannot be read is a ``Failure`` that says what to do."""
    with _reachable(workspace.store.describe, workspace.place):
        yield


@contextmanager
def _reachable(
    where: Callable[[], str], place: StatePlace | None = None, *, verb: str = "read"
) -> Iterator[None]:
    """ErrorKind with reading a state, or with making its place ready (``verb``), as a ``Failure``."""
    try:
        yield
    except Damaged as problem:
        raise Failure(
            error(
                codes.STATE_UNREADABLE,
                f"{problem.where}: {problem.why}. Nothing was changed. {_way_out(problem)}",
            )
        ) from problem
    except OSError as failure:
        raise Failure(
            error(
                codes.STATE_UNREACHABLE,
                f"{where()}: {failure.strerror or failure}. Nothing was changed.{first_step(failure, verb)}",
                subject=place.span if place is not None else None,
            ),
            sources=place.sources if place is not None else None,
        ) from failure


def _way_out(problem: Damaged) -> str:
    return problem.way_out or (
        "Record an earlier state again (flareiac state history, flareiac state rollback), or restore it from "
        "a backup."
    )


def _given(root: Path, arguments: VariableArguments, diagnostics: Diagnostics) -> list[Given | Source]:
    given: list[Given | Source] = []
    for kind, text in arguments.given:
        if kind == "file":
            source = read_file(root / text, text, diagnostics, pipes=True)
            given += [source] if source else []
            continue
        name, separator, value = text.partition("=")
        if separator:
            given.append(Given(name=name.strip(), text=value, origin=f"-var {name.strip()}"))
        else:
            diagnostics.error(
                codes.VARIABLE_ARGUMENT_WITHOUT_VALUE, f"-var {text} has no value. Write -var name=value."
            )
    return given
