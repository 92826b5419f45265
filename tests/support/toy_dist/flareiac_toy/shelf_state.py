"""The toy backend: states on a shelf, a folder that several checkouts share."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.state import BackendSetting, StateStore
from flareiac_state.local import LocalBackend

FULL = Code("TOY008", "The shelf takes nothing")


class ShelfBackend:
    """Keeps states in ``board``, below ``row``; ``light`` says how one reaches it."""

    name = "shelf"
    settings: tuple[BackendSetting, ...] = (
        BackendSetting(name="board", description="The folder.", required=True),
        BackendSetting(name="row", description="A folder in it.", default="main"),
        BackendSetting(name="light", description="Whose light.", default="day"),
        BackendSetting(name="locked", description="Whether it takes nothing.", default=False),
    )

    def location(self, settings: Attributes, *, environment: Mapping[str, str]) -> str:
        """The folder, whatever light it is seen in."""
        del environment
        return f"{settings['board']}/{settings['row']}"

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> StateStore:
        return LocalBackend().open(
            {}, root=self._folder(settings, root), workspace=workspace, environment=environment
        )

    def workspaces(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> Sequence[str]:
        folder = self._folder(settings, root)
        return LocalBackend().workspaces({}, root=folder, environment=environment)

    def delete_workspace(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> None:
        folder = self._folder(settings, root)
        LocalBackend().delete_workspace({}, root=folder, workspace=workspace, environment=environment)

    def prove(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> None:
        """A locked one takes nothing."""
        if settings["locked"]:
            raise Failure(error(FULL, f"{settings['board']} is locked. Unlock it."))
        LocalBackend().prove({}, root=self._folder(settings, root), environment=environment)

    def _folder(self, settings: Attributes, root: str) -> str:
        return str(Path(root) / settings["board"] / settings["row"])
