"""Reads tables that others own. Touches the world by reading only."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.actions import Delete
from flareiac.sdk.capabilities import Prefetching
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.results import Observation, Outcome, Present
from flareiac_iceberg.data_table.schema import READ, frame
from flareiac_iceberg.format.identity import identity_of


class Tables(Driver, Prefetching, Protocol):
    """The driver of tables, as far as it is asked here."""


class DataTableDriver:
    """Answers as the driver of tables does. Safe to use from several threads."""

    def __init__(self, project: Project, tables: Tables) -> None:
        self._project, self._tables = project, tables

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """Asks each namespace once; what is read only is never complete by that."""
        self._tables.prefetch(tuple(map(self._whole, requests)))
        return {}

    def read(self, request: ReadRequest) -> Observation:
        """``attributes`` are those of the block with what reading adds."""
        observed = self._tables.read(self._whole(request))
        if not isinstance(observed, Present):
            return observed
        attributes = (
            dict(request.desired or {})
            | _lasting(observed.attributes)
            | {"uuid": identity_of(observed.identity).uuid}
        )
        return Present(attributes=attributes, identity=observed.identity, history=observed.history)

    def _whole(self, request: ReadRequest) -> ReadRequest:
        """The same question about a table block that manages nothing."""
        asked = request.desired
        assert asked is not None, "a data block is declared, never recorded"
        decoded = Decoded(address=request.address, name=asked["name"], attributes=dict(asked))
        return replace(request, desired=frame(decoded, request.references, self._project, Diagnostics()))

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
