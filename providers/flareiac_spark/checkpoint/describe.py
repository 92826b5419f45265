"""Describes a checkpoint for ``checkpoint show``. Touches the disk, by reading only."""

from collections.abc import Iterator
from typing import Final

from flareiac.sdk.project import Project
from flareiac.sdk.results import Recorded
from flareiac_spark.checkpoint.description import (
    Began,
    DescribedBatch,
    DescribedCheckpoint,
    DescribedFolder,
    DescribedQuery,
    DescribedSource,
)
from flareiac_spark.checkpoint.move import left_behind
from flareiac_spark.checkpoint.sizes import size_of
from flareiac_spark.checkpoint_files.generations import Generation, contents
from flareiac_spark.checkpoint_files.layout import recorded_layout
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk, preparation_note
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.observation.checkpoint import number_in_use, removable
from flareiac_spark.places import place_of
from flareiac_spark.sources.offsets import SourceOnDisk
from flareiac_spark.sources.source import offsets_of
from flareiac_spark_runtime.checkpoint_log import Damaged, batches, read_offsets, whole
from flareiac_spark_runtime.storage import Place

_LAST: Final = 5


def describe(recorded: Recorded, project: Project) -> DescribedCheckpoint:
    """The description of a checkpoint's folders on disk. Raises ``Damaged``, ``OSError``."""
    checkpoint, layout = CheckpointDefinition.of(recorded.attributes), recorded_layout(recorded.identity)
    location, current = place_of(checkpoint.location, project), checkpoint.generation
    content = contents(location)
    generations = content.generations if content is not None else ()
    numbered = [(generation, number_in_use(generation, layout, current)) for generation in generations]
    spare = removable({number for _generation, number in numbered}, current, checkpoint.keep_generations)
    return DescribedCheckpoint(
        location=str(location),
        generation=current,
        keep_generations=checkpoint.keep_generations,
        generations=tuple(
            _folder(generation, number, current, number in spare and generation.number > 0)
            for generation, number in numbered
        ),
        queries=tuple(
            _query(generation, generation.checkpoint, number)
            for generation, number in numbered
            if generation.checkpoint is not None and number == current
        ),
        left=tuple(str(place) for place in left_behind(layout, project).copies),
    )


def _folder(generation: Generation, number: int, in_use: int, spare: bool) -> DescribedFolder:
    return DescribedFolder(
        output=generation.output,
        number=number,
        folder=str(generation.folder),
        standing=generation.standing.value,
        in_use=number == in_use,
        removable=spare,
        bytes=size_of(generation.folder),
        damage=str(generation.damage) if generation.damage is not None else None,
        began=_began(generation.folder),
    )


def _began(folder: Place) -> Began | None:
    try:
        note = preparation_note(folder)
    except Damaged:
        return None
    if note is None:
        return None
    return Began(start_from=note.get("start_from"), query_id=note.get("query_id"), batch=note.get("batch"))


def _query(generation: Generation, on_disk: CheckpointOnDisk, number: int) -> DescribedQuery:
    return DescribedQuery(
        output=generation.output,
        number=number,
        query_id=on_disk.query_id,
        started=on_disk.started,
        committed=on_disk.committed,
        in_flight=on_disk.in_flight,
        watermark_ms=on_disk.watermark_ms or None,
        last_batches=tuple(_last_batches(generation.folder, on_disk)),
        sources=tuple(_source(generation.folder, source) for source in on_disk.sources),
        operators=on_disk.operators,
        pinned=dict(sorted(on_disk.conf.items())),
    )


def _last_batches(folder: Place, on_disk: CheckpointOnDisk) -> Iterator[DescribedBatch]:
    for batch in batches(folder, "offsets")[-_LAST:]:
        try:
            begun = whole(read_offsets(folder, batch).header.get("batchTimestampMs"))
        except Damaged:
            begun = None
        committed = on_disk.committed is not None and batch <= on_disk.committed
        yield DescribedBatch(batch=batch, begun_ms=begun, committed=committed)


def _source(folder: Place, source: SourceOnDisk) -> DescribedSource:
    return DescribedSource(
        index=source.index, kind=source.kind, offset=source.offset, text=_words(folder, source)
    )


def _words(folder: Place, source: SourceOnDisk) -> str:
    if source.offset is None:
        return "nothing was read of it yet"
    log = folder / "sources" / str(source.index)
    return offsets_of(source.kind).describe(source, log)
