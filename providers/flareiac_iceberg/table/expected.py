"""The table that an update was planned for. Pure."""

from dataclasses import dataclass

from flareiac.kernel.data import Data
from flareiac.kernel.records import decode
from flareiac_iceberg.format.identity import TableIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Which table it is, and which schema, partition spec and sort order are its current ones."""

    uuid: str
    schema_id: int
    spec_id: int
    sort_id: int


def expected_of(identity: TableIdentity) -> Expected:
    """A table of this identity."""
    return Expected(
        uuid=identity.uuid,
        schema_id=identity.schema_id,
        spec_id=identity.spec_id,
        sort_id=identity.sort_id,
    )


def expected(payload: Data) -> Expected | None:
    """The table that a payload was made for; None where it is to be created."""
    found = payload["requirements"]
    return None if found is None else decode(Expected, found)
