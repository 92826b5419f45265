"""The provider of ``data "state"``: one type of data block, and nothing to open."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.codes import NO_CODES, CodeTable
from flareiac.sdk.capabilities import Check, Verdict
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered, Session
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Unreadable

_TYPE: Final = "data.state"


class StatesSession:
    """Nothing is held."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def driver(self, type_name: str) -> Driver:
        assert type_name == _TYPE, type_name
        return self._driver

    def checks(self, references: References) -> Sequence[Check]:
        """Returns a check of each declared state: that it can be read."""
        return [
            self._check(address, reference)
            for address, reference in references.items()
            if reference.type == _TYPE
        ]

    def _check(self, address: str, resolved: Resolved) -> Check:
        request = ReadRequest(address=address, desired=resolved.attributes, recorded=None, references={})
        match self._driver.read(request):
            case Unreadable(diagnostic=diagnostic):
                return Check(
                    name=address, verdict=Verdict.FAIL, text=diagnostic.summary, fix=diagnostic.detail
                )
            case _:
                return Check(name=address, verdict=Verdict.OK, text="can be read")

    def close(self) -> None:
        """Nothing is open."""


def _load() -> ResourceType:
    from flareiac.app.other_states.resource_type import DATA_STATE

    return DATA_STATE


class StatesProvider:
    """Part of the core: it knows how a state is read."""

    name = "states"

    def resource_types(self) -> Mapping[str, Offered]:
        """``data "state"``."""
        return {_TYPE: Offered(load=_load)}

    def functions(self) -> Sequence[Function]:
        """None."""
        return ()

    def codes(self) -> CodeTable:
        """None: its codes are in the core's table."""
        return NO_CODES

    def open(self, project: Project) -> Session:
        """A session."""
        # Imported here: most commands look at the type alone.
        from flareiac.app.other_states.read import OtherStateDriver

        return StatesSession(OtherStateDriver(project))
