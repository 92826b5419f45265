"""What a ``files`` block means. Pure, but for the count of its backlog."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, Literal

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.definitions import Number, Text
from flareiac.sdk.project import Project
from flareiac.sdk.secret_settings import checked_settings
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark.places import absolute_place
from flareiac_spark.settings import BATCH_SIZE, all_of
from flareiac_spark.sources.file_formats import (
    POSITIONAL,
    READING,
    RECORDS,
    VALUE,
    in_order,
    recorded_folder,
)
from flareiac_spark.sources.files.backlog import files_waiting
from flareiac_spark.sources.files.offsets import FilesOffsets
from flareiac_spark.sources.files.resolved import ResolvedFiles
from flareiac_spark.sources.files.schema import BLOCK
from flareiac_spark.sources.resolved import SpecColumn
from flareiac_spark.sources.source import Places, Source, Surroundings
from flareiac_spark.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesSource(Source):
    """New files of a folder, or of a pattern of folders. ``options`` are those of Spark's reader, by name."""

    block: ClassVar = BLOCK
    offsets: ClassVar = FilesOffsets()
    meaning: ClassVar = READING
    harmless: ClassVar = all_of(BATCH_SIZE, "max_files_per_trigger")
    elsewhere: ClassVar = "source.path"

    kind: Literal["files"] = "files"
    path: str
    format: Text
    options: Mapping[str, Text]
    max_files_per_trigger: Number | None

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
        return replace(source, path=path, options=given), columns

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedFiles:
        return ResolvedFiles(
            path=places.path(self.path),
            format=self.format,
            options=self.options,
            max_files_per_trigger=self.max_files_per_trigger,
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
    def tells_columns_by_place(self) -> bool:
        return self.format in POSITIONAL

    def waiting(self, checkpoint: Place, index: int, project: Project) -> int | None:
        return files_waiting(checkpoint, index, absolute_place(self.path, project), self.options)


KIND: Final = FilesSource
