"""Reads tables that others own. Touches the world by reading only."""

from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.actions import Delete
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.results import Observation, Outcome, Present
from flareiac_iceberg.data_table.schema import READ, frame
from flareiac_iceberg.format.identity import identity_of


class DataTableDriver:
    """Answers as the driver of tables does. Safe to use from several threads."""

    def __init__(self, project: Project, tables: Driver) -> None:
        self._project, self._tables = project, tables

    def read(self, request: ReadRequest) -> Observation:
        """``attributes`` are those of the block with what reading adds."""
        asked = request.desired
        assert asked is not None, "a data block is declared, never recorded"
        decoded = Decoded(address=request.address, name=asked["name"], attributes=dict(asked))
        whole = frame(decoded, request.references, self._project, Diagnostics())
        observed = self._tables.read(replace(request, desired=whole))
        if not isinstance(observed, Present):
            return observed
        attributes = asked | _lasting(observed.attributes) | {"uuid": identity_of(observed.identity).uuid}
        return Present(attributes=attributes, identity=observed.identity, history=observed.history)

    def apply(self, request: ChangeRequest) -> Outcome:
        """No one asks for it."""
        raise NotImplementedError(f"{request.address} is only read")

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """No one asks for it."""
        raise NotImplementedError(f"{request.address} is only read")


def _lasting(observed: Attributes) -> Attributes:
    """Without comments, tags and defaults, which change nothing for those who read rows."""
    columns = {
        path: {**column, "comment": None, "tags": None, "default": None}
        for path, column in observed["columns"].items()
    }
    return {name: observed[name] for name in READ if name in observed} | {"columns": columns}
