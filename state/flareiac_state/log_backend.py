"""State backends whose place is a set of numbered logs. Touches nothing until a store is used."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from flareiac.kernel.data import Attributes, canonical
from flareiac.sdk.state import BackendSetting
from flareiac_state.lease import Terms
from flareiac_state.lock_file import SYSTEM_CLOCK, Clock
from flareiac_state.log_store import LogStore, StoreOptions
from flareiac_state.numbered_log import LogPlace
from flareiac_state.settings import CheckedSettings, checked_workspace


class LogBackend(ABC):
    """See ``flareiac.sdk.state.StateBackend``. ``root`` means nothing: what such a backend keeps is in no
    folder of the project.
    """

    name: str
    settings: tuple[BackendSetting, ...]

    def __init__(self, *, clock: Clock = SYSTEM_CLOCK, terms: Terms | None = None) -> None:
        self.clock, self.terms = clock, terms or Terms()
        self._places: dict[str, LogPlace] = {}
        self._proven: list[LogPlace] = []

    @abstractmethod
    def place(self, settings: CheckedSettings) -> LogPlace:
        """The place that the settings name. Raises ``Failure``."""

    def open(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> LogStore:
        del root
        return self._store(self._place(settings), checked_workspace(workspace), environment)

    def workspaces(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> Sequence[str]:
        del root
        place = self._place(settings)
        return [
            name for name in sorted(place.workspaces()) if self._store(place, name, environment).holds_state()
        ]

    def delete_workspace(
        self, settings: Attributes, *, root: str, workspace: str, environment: Mapping[str, str]
    ) -> None:
        self.open(settings, root=root, workspace=workspace, environment=environment).delete()

    def prove(self, settings: Attributes, *, root: str, environment: Mapping[str, str]) -> None:
        del root, environment
        place = self._place(settings)
        place.prepare()
        self._prove(place)

    def _prove(self, place: LogPlace) -> None:
        """Once for each place and process."""
        if place not in self._proven:
            place.prove()
            self._proven.append(place)

    def _place(self, settings: Attributes) -> LogPlace:
        """One for each settings: it has connections."""
        key = canonical(dict(settings))
        if key not in self._places:
            self._places[key] = self.place(CheckedSettings(self.name, self.settings, settings))
        return self._places[key]

    def _store(self, place: LogPlace, workspace: str, environment: Mapping[str, str]) -> LogStore:
        options = StoreOptions(
            where=place.describe(workspace),
            environment=environment,
            prove=lambda: self._prove(place),
            clock=self.clock,
            terms=self.terms,
        )
        return LogStore(place.log(workspace), workspace, options)
