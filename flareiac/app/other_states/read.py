"""Reads the outputs that the state of another project records. Touches its place, by reading only."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from flareiac.app.other_states.schema import OUTPUTS, PATH
from flareiac.app.state_place.backend_record import read_record
from flareiac.app.state_place.backends import state_backend
from flareiac.app.state_place.place import project_cipher, recorded_place
from flareiac.app.state_place.seen import is_stored
from flareiac.config.backend import LOCAL
from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.desired import OutputValue
from flareiac.model.upgrades import AS_STORED
from flareiac.sdk.actions import Delete
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Members, Observation, Outcome, Present, Unreadable
from flareiac.sdk.state import Damaged, StateBackend, WrittenByNewer
from flareiac.state.encrypted_store import EncryptedStore
from flareiac.state.read import Loaded, understood

_KEYS: Final = {codes.STATE_IS_ENCRYPTED.id, codes.WRONG_PASSPHRASE.id}
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherState:
    """The place of another project's state. ``root``: the folder of its root module, for a local one."""

    backend: StateBackend
    settings: Attributes
    root: Path
    workspace: str

    @property
    def is_local(self) -> bool:
        return self.backend.name == LOCAL

    def workspaces(self) -> list[str]:
        """Returns the workspaces with a state, sorted. Raises ``OSError`` or ``Failure``."""
        names = self.backend.workspaces(self.settings, root=str(self.root), environment=os.environ)
        return sorted(names)


class OtherStateDriver:
    """Reads; nothing of another project is changed. Safe to use from several threads."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def read(self, request: ReadRequest) -> Observation:
        """``attributes`` holds the outputs by name."""
        asked = request.desired
        assert asked is not None, "a data block is declared, never recorded"
        state = _other_state(asked, self._project)
        try:
            where, loaded = _load(state, self._project)
        except Failure as failure:
            return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))
        interrupted = loaded.recovered.interrupted is not None
        return present(loaded.snapshot.outputs, asked["defaults"], where, interrupted=interrupted)

    def apply(self, request: ChangeRequest) -> Outcome:
        """No one asks for it."""
        raise NotImplementedError(f"{request.address} is only read")

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """No one asks for it."""
        raise NotImplementedError(f"{request.address} is only read")


def _other_state(asked: Attributes, project: Project) -> OtherState:
    backend = state_backend(asked["backend"])
    assert backend is not None, "the schema takes installed backends alone"
    settings = {name: value for name, value in asked["config"].items() if value is not None}
    root = project.root / settings.pop(PATH.name, "") if backend.name == LOCAL else project.root
    return OtherState(
        backend=backend,
        settings=settings,
        root=Path(os.path.normpath(root)),
        workspace=asked["workspace"],
    )


def _load(state: OtherState, project: Project) -> tuple[str, Loaded]:
    """The state, and where it is, for people. Raises ``Failure``."""
    where = state.workspace
    try:
        store = state.backend.open(
            state.settings, root=str(state.root), workspace=state.workspace, environment=os.environ
        )
        where = store.describe()
        moment = EncryptedStore(store, project_cipher(project.root)).read()
        loaded = understood(moment, where, str(state.root), AS_STORED)
        if not is_stored(loaded):
            raise Failure(error(codes.NO_OTHER_STATE, _nothing_there(state, where)))
    except Damaged as problem:
        fix = (
            problem.way_out
            if isinstance(problem, WrittenByNewer)
            else "Restore it where that project is applied."
        )
        why = f"{problem.where}: {problem.why}. {fix}"
        raise Failure(error(codes.OTHER_STATE_UNREADABLE, why)) from problem
    except Failure as failure:
        if failure.diagnostics[0].code not in _KEYS:
            raise
        raise Failure(error(codes.OTHER_STATE_ENCRYPTED, _locked(where))) from failure
    except OSError as exc:
        why = f"{where}: {exc.strerror or exc}. Restore access to it, for reading."
        raise Failure(error(codes.OTHER_STATE_UNREACHABLE, why)) from exc
    if (moved := loaded.recovered.moved) is not None:
        why = (
            f"The state in {where} was moved to {moved}; what is left here is as old as the move. Name the "
            "new place in backend and config."
        )
        raise Failure(error(codes.OTHER_STATE_MOVED, why))
    return where, loaded


def _locked(where: str) -> str:
    return (
        f"No passphrase that this project names opens {where}. Name that of the other project in the "
        "flareiac block; as a fallback it only reads:\n\n"
        '    encryption {\n      fallback {\n        env = "THEIR_PASSPHRASE"\n      }\n    }'
    )


def _nothing_there(state: OtherState, where: str) -> str:
    """Explains why there is nothing to read, as far as that can be found out."""
    if state.is_local and not state.root.is_dir():
        return f"There is no folder {state.root}. path is relative to the root module of this project."
    elsewhere = _kept_elsewhere(state) if state.is_local else ""
    known = [workspace for workspace in state.workspaces() if workspace != state.workspace]
    if known:
        hint = did_you_mean(state.workspace, known)
        ways = f"{hint} There are the workspaces {', '.join(known)}."
    else:
        ways = " Apply that project first, or correct backend and config."
    return f"Nothing is stored in {where}.{elsewhere}{ways}"


def _kept_elsewhere(state: OtherState) -> str:
    """Returns a sentence on the place where the project of a folder keeps its state instead; empty where none
    is known.
    """
    with suppress(Failure, OSError):
        record = read_record(state.root)
        place = recorded_place(state.root, record) if record is not None else None
        if place is not None and place.is_shared:
            return f" The project of that folder keeps its state in {place}."
    return ""


def present(
    recorded: Mapping[str, OutputValue],
    defaults: Mapping[str, Data],
    where: str,
    *,
    interrupted: bool = False,
) -> Present:
    """Returns the attributes that expressions may use of recorded outputs; ``where`` they are recorded, for
    people. ``interrupted``: an apply there has not ended.
    """
    known = {name: output for name, output in recorded.items() if not output.sensitive}
    values = {**defaults, **{name: output.value for name, output in known.items()}}
    types = {name: output.type for name, output in known.items()}
    lacks = partial(_lacking, recorded, interrupted, where)
    return Present(attributes={OUTPUTS: values}, members={OUTPUTS: Members(types=types, lacks=lacks)})


def _lacking(
    recorded: Mapping[str, OutputValue], interrupted: bool, where: str, name: str
) -> tuple[Code, str]:
    """Returns the code and the text for an output that is not available."""
    if name in recorded:
        return codes.OTHER_OUTPUT_SENSITIVE, (
            f'The output "{name}" in {where} is sensitive, so that its value was never stored. Refer to '
            f'the secret itself: secret "{name}" {{ env = "..." }}, or another form.'
        )
    names = sorted(output_name for output_name, output in recorded.items() if not output.sensitive)
    listed = f"{', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
    has = did_you_mean(name, names) or (f" It has {listed}." if names else " It has no outputs yet.")
    unfinished = " An apply of that project has not ended: outputs are recorded at its end." * interrupted
    return codes.NO_OTHER_OUTPUT, (
        f'There is no output "{name}" in {where}.{has}{unfinished} Declare it there and apply, or give a '
        f"value here: defaults = {{ {name} = ... }}."
    )
