"""The figures that decide about maintenance: what measuring says and deciding reads. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, TypeAlias

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.records import Form, Mismatch, decode
from flareiac_iceberg.maintenance.expiry_rules import History, Mark, history_data, history_of

FILE_SETTINGS: Final = ("compaction", "delete_rewrite", "manifest_rewrite", "retention")

StoredHistory: TypeAlias = Annotated[History, Form(history_data, history_of)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """From the newest snapshot's summary; None where it does not say."""

    files: int | None = 0
    bytes: int | None = 0
    delete_files: int | None = 0
    rows: int | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroups:
    """Files that Iceberg would take for a rewrite, and the files that it would make of them. ``sizes``: less
    than the first is small, the second is wanted, more than the third is large.

    ``few``: so many files are too few for anything, so none was looked at.
    """

    files: int = 0
    small: int = 0
    partitions: int = 0
    min_input_files: int = 0
    sizes: tuple[int, ...] = ()
    groups: int = 0
    rewritten_files: int = 0
    rewritten_bytes: int = 0
    added_files: int = 0
    few: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteFigures(FileGroups):
    """Of data files. ``worn``: with many deleted rows, ``unfit``: small or worn. ``exact``: Iceberg would
    take these very files.
    """

    worn: int = 0
    unfit: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFigures(FileGroups):
    """Of position delete files. ``apart``: one that is written is about one data file only."""

    apart: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSizes:
    """So many manifests, with so many bytes in all."""

    count: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFigures:
    """The manifests of data and of delete files, and how large Iceberg makes them."""

    data: ManifestSizes
    deletes: ManifestSizes
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFigures:
    """The ages of rows by a column of this type, in this unit. ``whole``: by partitions.

    ``ranges``: from when until before when (ms since 1970), rows, files. ``unknown``: files that tell
    nothing. ``guessed``: rows may be fewer than counted.
    """

    type: str
    unit: str
    whole: bool
    ranges: tuple[tuple[int, ...], ...] = ()
    unknown: int = 0
    guessed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPosition:
    """Where the checkpoint of a reader stands: ids of snapshots and when it moved (ms since 1970), or why
    that is not known.
    """

    ids: tuple[int, ...] = ()
    moved_ms: int | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is measured of a table; None for what is not declared.

    ``collects``: gc.enabled. ``measured_ms``: when the files were looked at, which may be the last time, with
    these ``settings``. ``columns``: the types of all columns by path. ``ids``: a digest of all snapshots'
    ids. ``marks``: by maintenance task, the newest of our operations among the current snapshot and its
    ancestors.

    ``under``: other tables that catalogs know with files below the location or around it; ``unlisted``: why
    they do not tell. ``lost``: those of the dropped with files below the location whose metadata is gone, so
    that nothing brings them back. ``looked``: whether these three were asked for.
    """

    uuid: str
    location: str
    metadata_location: str
    snapshot_id: int | None
    format_version: int
    sorted: bool
    collects: bool
    measured_ms: int
    settings: str
    totals: Totals
    ids: str
    spec_ids: tuple[int, ...] = ()
    columns: Mapping[str, str] | None = None
    not_in_spark: tuple[str, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)
    history: StoredHistory | None = None
    rewrite: RewriteFigures | None = None
    deletes: DeleteFigures | None = None
    manifests: ManifestFigures | None = None
    rows: RowFigures | None = None
    place: str = ""
    readers: Mapping[str, ReaderPosition] = field(default_factory=dict)
    under: tuple[str, ...] | None = None
    unlisted: str | None = None
    lost: tuple[str, ...] = ()
    looked: bool = True


def number(summary: Mapping[str, object], name: str) -> int | None:
    """A count of a snapshot's summary, None where it is missing or no number."""
    try:
        return int(str(summary[name]))
    except (KeyError, ValueError):
        return None


def settings_digest(attributes: Attributes) -> str:
    """Of the settings that figures about files depend on."""
    return digest({name: attributes.get(name) for name in FILE_SETTINGS})


def known_figures(data: Attributes) -> Figures | None:
    """Figures that were kept; None where there are none, or those of a version that kept others."""
    try:
        return decode(Figures, data) if data else None
    except Mismatch:
        return None
