"""The payloads that a plan hands to the driver of tables, beside the planned attributes. Pure."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign
from flareiac.sdk.definitions import Plain
from flareiac_iceberg.format.identity import TableIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The table that an update was planned for, and the schema, partition spec and sort order that were its
    current ones.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePayload(Foreign):
    """``changes`` as ``changes.encode`` writes them. ``requirements`` None: the table is to be created.
    ``empty``: no row may have been written.
    """

    changes: tuple[Plain, ...]
    requirements: Expected | None
    empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePayload(Foreign):
    """``mode`` is ``drop`` or ``purge``. ``metadata_location`` leads back to the table when no one could
    record another. A replacement holds an ``UpdatePayload``, too.
    """

    mode: str
    metadata_location: str = ""
