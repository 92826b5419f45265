"""The work on Iceberg tables that one provider decides and another one carries out. Records.

Imports the standard library alone: it travels to clusters as a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

OPERATION: Final = "flareiac.operation"
"""Key in a snapshot's summary: the id of the maintenance task by which it was made. By it a repeated one is
known, and one that was not recorded.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteDataFiles:
    """``sort_order`` as the procedure takes it, None for the table's own. ``options`` are Iceberg's, by their
    own names.
    """

    strategy: Literal["binpack", "sort", "zorder"]
    sort_order: str | None = None
    where: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["rewrite_data_files"] = "rewrite_data_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteDeleteFiles:
    """Position deletes; ``options`` as above."""

    options: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["rewrite_delete_files"] = "rewrite_delete_files"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteManifests:
    """All manifests of the current partition spec."""

    kind: Literal["rewrite_manifests"] = "rewrite_manifests"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireSnapshots:
    """Those that are older than a time (ms since 1970), but for the newest ``retain_last`` and the heads of
    branches and tags.

    A branch's own retention comes before ``older_than_ms``; where one of ``held`` would go by it, nothing
    may.
    """

    older_than_ms: int
    retain_last: int
    held: tuple[int, ...] = ()
    kind: Literal["expire_snapshots"] = "expire_snapshots"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveOrphans:
    """Files below the table's location that no metadata names and that are older than a time (ms since 1970).

    ``prefix_mismatch``: error, ignore or delete, where the same place is written in two ways.
    """

    older_than_ms: int
    dry_run: bool = False
    prefix_mismatch: str = "error"
    kind: Literal["remove_orphans"] = "remove_orphans"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRows:
    """Rows whose ``column`` (of type ``type``: Iceberg's name) is before a time (ms since 1970, UTC)."""

    column: str
    type: str
    before_ms: int
    kind: Literal["delete_rows"] = "delete_rows"


TableTask: TypeAlias = (
    RewriteDataFiles | RewriteDeleteFiles | RewriteManifests | ExpireSnapshots | RemoveOrphans | DeleteRows
)
