"""The provider of ``consumer``: one type of declaration, and nothing to open."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered, Session
from flareiac.sdk.resource_type import ResourceType
from flareiac_consumers import codes

CONSUMER: Final = "consumer"


class ConsumersSession:
    """Nothing is held, and nothing is managed."""

    def driver(self, type_name: str) -> Driver:
        """Raises ``LookupError``: a consumer exists in the configuration alone."""
        raise LookupError(f"{type_name} has no driver")

    def close(self) -> None:
        """Nothing is open."""


def _load() -> ResourceType:
    from flareiac_consumers.resource_type import CONSUMER_TYPE

    return CONSUMER_TYPE


class ConsumersProvider:
    """The provider that the entry point returns."""

    name = "consumers"

    def resource_types(self) -> Mapping[str, Offered]:
        """``consumer``."""
        return {CONSUMER: Offered(load=_load)}

    def functions(self) -> Sequence[Function]:
        """None."""
        return ()

    def codes(self) -> CodeTable:
        """The codes of the package."""
        return code_table(codes)

    def open(self, project: Project) -> Session:
        """A session."""
        del project
        return ConsumersSession()
