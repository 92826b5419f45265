"""Files as the driver reads them."""

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import unquote

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL
from flareiac.sdk.dataset_names import DatasetName, files_dataset
from flareiac_spark_runtime.sources.bad_records import GOOD, HEADER_WAY, MARKER
from flareiac_spark_runtime.sources.decoding import (
    NO_FIT,
    Text,
    marked_files,
    permissive,
    with_corrupt,
)
from flareiac_spark_runtime.sources.file_values import declared_columns
from flareiac_spark_runtime.sources.files.in_flight import missing_in_flight
from flareiac_spark_runtime.sources.files.judged import Files, judged
from flareiac_spark_runtime.sources.files.reading import IGNORES_SINK_LOG, RECORDS, SINK_LOG, options_of
from flareiac_spark_runtime.sources.path_patterns import as_pattern, literally
from flareiac_spark_runtime.sources.reader_options import resolved_options, strict
from flareiac_spark_runtime.sources.resolved import (
    LostRows,
    Opening,
    ResolvedSource,
    SpecColumn,
    StartProblem,
    StartRefused,
)
from flareiac_spark_runtime.storage import Place

_UNEXPLAINED: Final = re.compile(rf"{re.escape(NO_FIT)}; in file (\S+?)(?=\.?(?:\s|$))")
"""The message for a record that was not explained."""
_REPORTED: Final = "FileStreamSource["
"""The beginning of Spark's description of a stream of files; its path follows."""
_SHOWN: Final = 100
"""Characters of a bad record that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFiles(ResolvedSource):
    """``path`` is a folder or a pattern; ``options`` are those of Spark's reader. ``reading`` None is the
    first version of the rules.
    """

    path: str
    format: str
    kind: Literal["files"] = "files"
    options: Mapping[str, str] = field(default_factory=dict)
    max_files_per_trigger: int | None = None
    max_file_age_ms: int | None = field(default=None, metadata=OPTIONAL)
    reading: int | None = field(default=None, metadata=OPTIONAL)
    columns: tuple[SpecColumn, ...] = ()

    @property
    def folder(self) -> str:
        return self.path

    @property
    def datasets(self) -> tuple[DatasetName, ...]:
        return (files_dataset(self.path),)

    def is_reported(self, description: str, end: Any) -> bool | None:
        del end
        if not description.startswith(_REPORTED):
            return False
        place = unquote(description.removeprefix(_REPORTED).rstrip("]"))
        return (files_dataset(place),) == self.datasets or None

    def open(self, opening: Opening, start: int | None) -> Any:
        del start
        if self.reading is not None:
            return self._open_strictly(opening)
        schema, options = opening.schema(self.columns), strict(self.format, self.options)
        if opening.bad_records:
            schema, options = with_corrupt(schema), permissive(self.options)
        reader = opening.session.readStream.format(self.format).schema(schema).options(**options)
        if self.max_files_per_trigger is not None:
            reader = reader.option("maxFilesPerTrigger", self.max_files_per_trigger)
        if self.max_file_age_ms is not None:
            reader = reader.option("maxFileAge", f"{self.max_file_age_ms}ms")
        frame = reader.load(self.path)
        if not opening.bad_records:
            return frame
        text = Text(
            format=self.format, options=self.options, schema=opening.schema, explained=opening.explains
        )
        return marked_files(frame, self.columns, text)

    def _open_strictly(self, opening: Opening) -> Any:
        """Raises ``StartRefused``."""
        if (problem := self._listed_by_sink_log(opening)) is not None:
            raise StartRefused(problem)
        reader = opening.session.readStream
        if self.max_files_per_trigger is not None:
            reader = reader.option("maxFilesPerTrigger", self.max_files_per_trigger)
        return self._judged(reader, as_pattern(self.path), opening, explained=opening.explains)

    def _judged(self, reader: Any, path: str, opening: Opening, *, explained: bool) -> Any:
        options = options_of(self.format, resolved_options(self.options), self.max_file_age_ms)
        text = Text(format=self.format, options=options, schema=opening.schema, explained=explained)
        files = Files(columns=self.columns, text=text)
        given = permissive(options) if self.format in RECORDS else options
        if self.format == "parquet":
            declared = opening.session.createDataFrame([], files.schema).schema
            frame = declared_columns(opening.session, reader, declared, path, given)
        else:
            frame = reader.format(files.format).schema(files.schema).options(**given).load(path)
        return judged(frame, files, opening)

    def _listed_by_sink_log(self, opening: Opening) -> StartProblem | None:
        """Spark lists a folder that its own sink has written by the log of that sink."""
        log = Path(self.path.removeprefix("file:")) / SINK_LOG
        if opening.session.conf.get(IGNORES_SINK_LOG, None) is not None or not log.exists():
            return None
        return StartProblem(error_class="FOLDER_OF_A_SINK", why=sink_log_text(self.path))

    def explained(self, complaint: str, opening: Opening) -> str:
        match = _UNEXPLAINED.search(complaint) if self.reading is not None else None
        if match is None:
            return complaint
        path = literally(unquote(match.group(1)))
        bad = self._judged(opening.session.read, path, opening, explained=True)
        row = bad.where(f"NOT {GOOD}").select(f"{MARKER}.error", f"{MARKER}.raw").first()
        if row is None or not row[0]:
            return complaint
        raw = bytes(row[1] or b"").decode(errors="replace")
        begins = f"; the record begins with {raw[:_SHOWN]!r}" if raw else ""
        return complaint.replace(NO_FIT, f"{row[0]}{begins}", 1) + self._header_way(raw)

    def _header_way(self, raw: str) -> str:
        """The advice where a record may be the header line of a file."""
        texts = {part.strip().strip('"').lower() for part in re.split(r"[,;\t|]", raw)}
        told = any(name.lower() == "header" for name in self.options)
        if self.format != "csv" or told or not {column.name.lower() for column in self.columns} <= texts:
            return ""
        return f"\n{HEADER_WAY}"

    def lost_in_flight(self, checkpoint: Place, conf: Mapping[str, str]) -> LostRows | None:
        # A log does not name its stream: where another one reads files, too, its lost files count here.
        lost = None if self._passes_over_missing_files(conf) else missing_in_flight(checkpoint)
        if lost is None:
            return None
        batch, files = lost
        others = len(files) - 1
        which = files[0] + (f" and {others:,} more file{'s' * (others > 1)}" if others else "")
        why = (
            f"of the files that it reads {which} {'are' if others else 'is'} gone: Spark would silently pass "
            f"over {'them' if others else 'it'}, and the rows would be missing for good. Put back "
            "what was deleted; or, to go on without these rows, write in the job: "
            'conf = { "spark.sql.files.ignoreMissingFiles" = "true" }.'
        )
        return LostRows(batch=batch, error_class="SOURCE_FILE_GONE", why=why)

    def _passes_over_missing_files(self, conf: Mapping[str, str]) -> bool:
        said = {name.lower(): str(value).lower() for name, value in (*conf.items(), *self.options.items())}
        return "true" in (said.get("spark.sql.files.ignoremissingfiles"), said.get("ignoremissingfiles"))


def sink_log_text(path: str) -> str:
    """The reason why a folder that Spark's own sink has written needs a setting to be read."""
    return (
        f"{path} holds {SINK_LOG}, the log of Spark's own file sink. Spark reads the files that this log "
        "names and passes over all others. Choose in the job: "
        f'conf = {{ "{IGNORES_SINK_LOG}" = "false" }} reads what the sink has committed, "true" reads every '
        "file of the folder, also those that a failed batch of the sink left there."
    )


KIND: Final = ResolvedFiles
