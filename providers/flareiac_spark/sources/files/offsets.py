"""The offsets of a stream of files in a checkpoint: the list of files that were read, by numbered notes. An
offset is the number of a note, which only makes sense together with the old offsets and commits.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from flareiac_spark.sources.files.overwritten import unread
from flareiac_spark.sources.offsets import CarryOver, Offsets, SourceOnDisk, Write
from flareiac_spark_runtime.checkpoint_log import Damaged, files_in, newest
from flareiac_spark_runtime.sources.files.notes import note_of_offset, noted_files
from flareiac_spark_runtime.storage import Place


class FilesOffsets(Offsets):
    """See ``Offsets``."""

    carry_over = CarryOver.LOG
    named = "files"
    read_again = "reads every file in {} again; files that were deleted since cannot be read again"
    kept_in_log = "which files of {} were read"
    lost = "the files read so far are not known"

    def is_own(self, offset: Any) -> bool:
        return note_of_offset(offset) is not None

    def is_own_log(self, log: Place) -> bool:
        last = newest(log)
        return last is not None and _is_list(log / str(last))

    def missing_from(self, log: Place, offset: Any) -> Place | None:
        last, reached = newest(log), note_of_offset(offset) or 0
        there = reached < 0 or (last is not None and last >= reached)
        return None if there else log / str(reached)

    def folders(self, log: Place) -> tuple[str, ...]:
        last = newest(log)
        if last is None:
            return ()
        path = log / str(last)
        folders: dict[str, None] = {}
        for entry in files_in(path if path.exists() else log / f"{last}.compact"):
            if isinstance(seen := entry.get("path"), str):
                folders["/" + unquote(seen.rpartition("/")[0].removeprefix("file:")).lstrip("/")] = None
        return tuple(folders)

    def describe(self, source: SourceOnDisk, log: Place) -> str:
        noted, folders = list(noted_files(log)), source.folders
        last = unquote(noted[-1].path.rpartition("/")[2]) if noted else ""
        places = ", ".join(folders[:3]) + (" and others" if len(folders) > 3 else "")
        return f"{len(noted)} files read, the last one {last} in {places}"

    def goes_on(self, source: SourceOnDisk) -> str:
        return f"the list of files read in {source.folders_shown} is taken over"

    def unread(self, checkpoints: Sequence[Place]) -> tuple[str, ...]:
        return unread(checkpoints)

    def copy_log(self, old: Place, new: Place, offset: Any, write: Write) -> None:
        reached = note_of_offset(offset)
        for name, entries in _files_up_to(old, reached) if reached is not None and reached >= 0 else ():
            lines = [json.dumps(entry, separators=(",", ":"), ensure_ascii=False) for entry in entries]
            write(new / name, "\n".join(["v1", *lines]))


def _is_list(path: Place) -> bool:
    """Returns True if an entry is one of files; an entry that cannot be read is reported when it is read."""
    try:
        return path.read_bytes()[:1] != b"\0"
    except OSError:
        return True


def _files_up_to(log: Place, last: int) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """A file source's log up to an entry, by the names of its files: the newest compacted one and what came
    after it.

    Spark writes an entry before the offsets that name it, and may have folded this one into a later compacted
    file already.
    """
    names = {entry.name for entry in log.iterdir()}
    compacted = sorted(
        int(name.removesuffix(".compact"))
        for name in names
        if name.endswith(".compact") and name[:1].isdigit()
    )
    base = max((number for number in compacted if number <= last), default=None)
    if base is not None:
        yield f"{base}.compact", files_in(log / f"{base}.compact")
    later = next((number for number in compacted if number > last), None)
    folded = files_in(log / f"{later}.compact") if later is not None else []
    for number in range(0 if base is None else base + 1, last + 1):
        if str(number) in names:
            yield str(number), files_in(log / str(number))
        elif later is not None:
            yield str(number), [entry for entry in folded if entry.get("batchId") == number]
        else:
            raise Damaged(
                log / str(number), "it is not there, and without it the files read so far are not known"
            )
