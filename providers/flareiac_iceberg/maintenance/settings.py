"""The declared settings as typed records. Durations in ms, sizes in bytes, shares as fractions; None: left to
the table or to Iceberg.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final, TypeAlias

from flareiac.kernel.data import Attributes, Data

_MB: Final = 1024**2
DEFAULT_TARGET: Final = 512 * _MB
DEFAULT_DELETE_TARGET: Final = 64 * _MB
DEFAULT_GROUP: Final = 100 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """``sort_by`` are sort fields as data. ``small_*``: thresholds, of which one must be passed."""

    enabled: bool = True
    every: int | None = None
    strategy: str = "binpack"
    sort_by: tuple[Attributes, ...] | None = None
    zorder_by: tuple[str, ...] | None = None
    target_file_size: int | None = None
    min_file_size: int | None = None
    max_file_size: int | None = None
    min_input_files: int = 5
    where: str | None = None
    delete_ratio: float = 0.3
    delete_file_threshold: int | None = None
    max_file_group_size: int = DEFAULT_GROUP
    max_concurrent_groups: int = 5
    partial_progress: Mapping[str, int] | None = None
    rewrite_all: bool = False
    run_if: Mapping[str, float] = field(default_factory=lambda: {"small_files_over": 20})
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotExpiry:
    enabled: bool = True
    every: int | None = None
    older_than: int = 5 * 86_400_000
    retain_last: int = 1
    min_snapshots_to_expire: int = 1
    hold_readers_for: int = 7 * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestRewrite:
    """All of ``run_if`` must be true."""

    enabled: bool = True
    every: int | None = None
    run_if: Mapping[str, int] = field(default_factory=lambda: {"manifests_over": 50, "mean_size_under": _MB})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRewrite:
    enabled: bool = True
    every: int | None = None
    target_file_size: int | None = None
    min_file_size: int | None = None
    max_file_size: int | None = None
    min_input_files: int = 5
    max_file_group_size: int = DEFAULT_GROUP
    max_concurrent_groups: int = 5
    partial_progress: Mapping[str, int] | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanRemoval:
    enabled: bool = True
    every: int = 7 * 86_400_000
    older_than: int = 3 * 86_400_000
    dry_run: bool = False
    prefix_mismatch: str = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    column: str
    keep: int
    enabled: bool = True
    every: int | None = None


Settings: TypeAlias = (
    Compaction | SnapshotExpiry | ManifestRewrite | DeleteRewrite | OrphanRemoval | Retention
)
KINDS: Final[Mapping[str, type[Settings]]] = {
    "retention": Retention,
    "compaction": Compaction,
    "delete_rewrite": DeleteRewrite,
    "manifest_rewrite": ManifestRewrite,
    "snapshot_expiry": SnapshotExpiry,
    "orphan_removal": OrphanRemoval,
}
"""By block, in the order of work: rows go first, so that nothing is rewritten in vain; files that only old
snapshots need go last, and what no snapshot names can be determined only then.
"""


def data_of(settings: Settings) -> Attributes:
    """The settings as plain data, the canonical form of a block."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(settings).items()
    }


def settings_of(attributes: Attributes) -> dict[str, Settings]:
    """The declared and enabled blocks of canonical attributes, in the order of work."""
    found = {
        name: _typed(kind, attributes[name])
        for name, kind in KINDS.items()
        if attributes.get(name) is not None
    }
    return {name: settings for name, settings in found.items() if settings.enabled}


def _typed(kind: type[Settings], data: Data) -> Settings:
    values: Attributes = {
        name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
    }
    return kind(**values)
