"""The meaning of a ``files`` block. Pure, but for the count of its backlog."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar, Final, Literal

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE
from flareiac.sdk.changes import Blocker
from flareiac.sdk.dataset_names import DatasetName, files_dataset
from flareiac.sdk.definitions import Number, Text
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark.places import absolute_place
from flareiac_spark.settings import BATCH_SIZE, all_of
from flareiac_spark.sources.doubtful_options import doubtful_options
from flareiac_spark.sources.file_formats import (
    POSITIONAL,
    READING,
    VALUE,
    in_order,
    recorded_folder,
)
from flareiac_spark.sources.files.backlog import SEVEN_DAYS_MS, files_left, files_read
from flareiac_spark.sources.files.folder_text import blockers, notes, old_rules
from flareiac_spark.sources.files.offsets import FilesOffsets
from flareiac_spark.sources.files.schema import BLOCK
from flareiac_spark.sources.folder_look import FilesLeft, FilesRead, FolderLook, FolderNote
from flareiac_spark.sources.source import Places, Source, Surroundings
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.sources.bad_records import DECIDED_BY_BAD_RECORDS
from flareiac_spark_runtime.sources.files.reading import FIRST, NEWEST, RECORDS, RECURSIVE, reads_lines
from flareiac_spark_runtime.sources.files.resolved import ResolvedFiles
from flareiac_spark_runtime.sources.resolved import SpecColumn
from flareiac_spark_runtime.storage import Place

_READING: Final = replace(READING, attributes=(*READING.attributes, "reading"))
_WRITTEN: Final = "reading_is_written"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesSource(Source):
    """New files of a folder, or of a pattern of folders. ``options`` are those of Spark's reader, by name.

    ``reading`` None is the first version of the rules, which a stream has that was recorded before there were
    versions. ``reading_is_written``: whether the configuration says the version.
    """

    block: ClassVar = BLOCK
    offsets: ClassVar = FilesOffsets()
    meaning: ClassVar = _READING
    harmless: ClassVar = (
        *all_of(BATCH_SIZE, "max_files_per_trigger"),
        *all_of("which old files are read", "max_file_age"),
        *all_of("who says by which rules files are read", _WRITTEN),
    )
    names: ClassVar = (_WRITTEN,)
    elsewhere: ClassVar = "source.path"

    kind: Literal["files"] = "files"
    path: str
    format: Text
    options: Mapping[str, Text]
    max_files_per_trigger: Number | None
    max_file_age: Text | None = field(default=None, metadata=OPTIONAL)
    reading: Number | None = field(default=None, metadata=OPTIONAL)
    reading_is_written: bool = field(default=False, metadata=SPARSE)

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        diagnostics = around.diagnostics
        if not columns and block["format"] == "text":
            columns = [VALUE]
        if not columns:
            diagnostics.error(
                codes.FILE_COLUMNS_MISSING,
                'Spark does not look into files to find out. Write column "name" { type = "..." } for each.',
                attribute=("files",),
            )
        source = cls.of_block(block)
        path = recorded_folder(source.path, ("files", "path"), around.project, diagnostics)
        given = checked_settings(source.options, ("files", "options"), around.references, diagnostics)
        for name, why in doubtful_options(given):
            if around.judges_records and name.lower() in DECIDED_BY_BAD_RECORDS:
                continue  # bad_records refuses the option, which is error enough
            diagnostics.warning(codes.READER_OPTION_LOSES, why, attribute=("files", "options", name))
        return replace(source, path=path, options=given).with_version(), columns

    def with_version(self) -> "FilesSource":
        """As it is recorded: what does not say by which rules files are read is read by the newest ones."""
        if self.reading is None:
            return replace(self, reading=NEWEST)
        return replace(self, reading=None if self.reading == FIRST else self.reading, reading_is_written=True)

    @property
    def age_limit_ms(self) -> int | None:
        """Files that are older than the newest one read by more than this are passed over; None: none is."""
        if self.max_file_age is not None:
            return parse_duration(self.max_file_age)
        return SEVEN_DAYS_MS if self.reading is None else None

    def keeping(self, recorded: Source) -> Source:
        if not isinstance(recorded, FilesSource) or self.reading_is_written or recorded.shown != self.shown:
            return self
        return replace(self, reading=recorded.reading)

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedFiles:
        return ResolvedFiles(
            path=places.path(self.path),
            format=self.format,
            options=self.options,
            max_files_per_trigger=self.max_files_per_trigger,
            max_file_age_ms=parse_duration(self.max_file_age or ""),
            reading=self.reading,
            columns=in_order(columns, order),
        )

    @property
    def shown(self) -> str:
        return f"files in {self.path}"

    @property
    def place(self) -> str:
        return self.path

    @property
    def folder(self) -> str:
        return self.path

    @property
    def bad_record_fields(self) -> tuple[str, ...]:
        return ("raw", "error", "file") if self.format in RECORDS else ()

    @property
    def always_judges(self) -> bool:
        return self.reading is not None and self.format in RECORDS

    def lineage_parts(self, references: References, project: Project) -> tuple[str | DatasetName, ...]:
        del references
        return (files_dataset(str(absolute_place(self.path, project))),)

    def folder_read(
        self, columns: Sequence[Column], logs: Sequence[tuple[Place, int]], project: Project
    ) -> FilesRead | None:
        age, oldest, read = self.age_limit_ms, None, frozenset[str]()
        if age is not None and len({place for place, _index in logs}) == len(logs) > 0:
            try:
                known, newest = files_read(*logs[0])
            except (Damaged, OSError):
                return None
            oldest, read = (newest - age if newest else None), frozenset(known)
        return FilesRead(
            folder=absolute_place(self.path, project),
            format=self.format,
            options=self.options,
            columns=tuple(SpecColumn(name=each.name, type=each.type) for each in columns),
            json_lines=reads_lines(self.format, self.options),
            oldest_ms=oldest,
            read=read,
        )

    def folder_notes(self, look: FolderLook, *, begun: bool) -> Iterator[FolderNote]:
        recursive = any(name.lower() == RECURSIVE.lower() for name in self.options)
        first = self.reading is None
        return notes(look, first=first, begun=begun, recursive=recursive, limit_ms=self.age_limit_ms)

    def folder_blockers(self, look: FolderLook | None, conf: Mapping[str, str]) -> Iterator[Blocker]:
        return iter(()) if self.reading is None else blockers(look, self.options, self.path, conf)

    @property
    def old_rules(self) -> str:
        return old_rules(self.format) if self.reading is None and not self.reading_is_written else ""

    @property
    def may_have_other_columns(self) -> bool:
        # Spark adds those that the names of folders hold: dt=2026-01-02/a.json
        return self.reading is None

    @property
    def tells_columns_by_place(self) -> bool:
        return self.format in POSITIONAL

    def files_left(self, checkpoint: Place, index: int, project: Project) -> FilesLeft | None:
        return files_left(
            checkpoint,
            index,
            absolute_place(self.path, project),
            self.options,
            age_ms=self.age_limit_ms,
            below=self.reading is not None,
        )


KIND: Final = FilesSource
