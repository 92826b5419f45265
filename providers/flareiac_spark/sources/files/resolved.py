"""Files as the driver reads them. Travels with it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.decoding import Text, marked_files, permissive, with_corrupt
from flareiac_spark.sources.files.in_flight import missing_in_flight
from flareiac_spark.sources.reader_options import strict
from flareiac_spark.sources.resolved import LostRows, Opening, ResolvedSource, SpecColumn
from flareiac_spark.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFiles(ResolvedSource):
    """``path`` is a folder or a pattern; ``options`` are those of Spark's reader."""

    path: str
    format: str
    kind: Literal["files"] = "files"
    options: Mapping[str, str] = field(default_factory=dict)
    max_files_per_trigger: int | None = None
    columns: tuple[SpecColumn, ...] = ()

    @property
    def folder(self) -> str:
        return self.path

    def open(self, opening: Opening, start: int | None) -> Any:
        del start
        schema, options = opening.schema(self.columns), strict(self.format, self.options)
        if opening.bad_records:
            schema, options = with_corrupt(schema), permissive(self.options)
        reader = opening.session.readStream.format(self.format).schema(schema).options(**options)
        if self.max_files_per_trigger is not None:
            reader = reader.option("maxFilesPerTrigger", self.max_files_per_trigger)
        frame = reader.load(self.path)
        if not opening.bad_records:
            return frame
        text = Text(
            format=self.format, options=self.options, schema=opening.schema, explained=opening.explains
        )
        return marked_files(frame, self.columns, text)

    def lost_in_flight(self, checkpoint: Place, conf: Mapping[str, str]) -> LostRows | None:
        # A log does not name its stream: where another one reads files, too, its lost files count here.
        found = None if self._passes_over_missing_files(conf) else missing_in_flight(checkpoint)
        if found is None:
            return None
        batch, files = found
        others = len(files) - 1
        which = files[0] + (f" and {others:,} more file{'s' * (others > 1)}" if others else "")
        why = (
            f"of the files that it reads {which} {'are' if others else 'is'} gone: Spark would pass over "
            f"{'them' if others else 'it'} without a word, and the rows would be missing for good. Put back "
            "what was deleted; or, to go on without these rows, write in the job: "
            'conf = { "spark.sql.files.ignoreMissingFiles" = "true" }.'
        )
        return LostRows(batch=batch, error_class="SOURCE_FILE_GONE", why=why)

    def _passes_over_missing_files(self, conf: Mapping[str, str]) -> bool:
        said = {name.lower(): str(value).lower() for name, value in (*conf.items(), *self.options.items())}
        return "true" in (said.get("spark.sql.files.ignoremissingfiles"), said.get("ignoremissingfiles"))


KIND: Final = ResolvedFiles
