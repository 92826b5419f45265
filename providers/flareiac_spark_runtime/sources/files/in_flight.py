"""The check that the files of a batch in flight still exist. Touches the disk, by reading only.

Spark notes the files of a batch before it reads them, and reads those that are noted when it does the batch
again. One that is gone by then is silently passed over: its rows would be missing for good.
"""

from collections.abc import Iterator
from pathlib import Path

from flareiac.kernel.data import parse_json
from flareiac_spark_runtime.checkpoint_log import files_in, newest, numbers, read_offsets
from flareiac_spark_runtime.sources.files.notes import local_path, note_of_offset
from flareiac_spark_runtime.storage import Place


def missing_in_flight(checkpoint: Place) -> tuple[int, list[str]] | None:
    """The batch that was begun and not committed, and the local files that it reads and that are gone; None
    where none is. Raises ``Damaged``, ``OSError``.
    """
    begun, committed = (newest(checkpoint / log) for log in ("offsets", "commits"))
    if begun is None or begun == committed:
        return None
    before = _reached(checkpoint, committed) if committed is not None else {}
    gone = [
        path
        for index, notes in _reached(checkpoint, begun).items()
        for path in _noted(checkpoint / "sources" / str(index), min(before.get(index, [-1])), max(notes))
        if not Path(path).exists()
    ]
    return (begun, list(dict.fromkeys(gone))) if gone else None


def _reached(checkpoint: Place, batch: int) -> dict[int, list[int]]:
    """The newest note that a batch reads, by the number of the log of a source of files; several where it is
    not known which is whose.
    """
    lines = read_offsets(checkpoint, batch).positions
    logs, distinct = len(numbers(checkpoint / "sources")), list(dict.fromkeys(lines))
    # A source that is read at several places has one log and a line for each place. Sources that stand at the
    # same note hide how many lines are whose.
    positions = (
        [[line] for line in lines]
        if len(lines) <= logs
        else [[line] for line in distinct]
        if len(distinct) == logs
        else [distinct] * logs
    )
    by_log = {
        index: [note for line in each if (note := note_of_offset(parse_json(line or "null"))) is not None]
        for index, each in enumerate(positions)
    }
    return {index: notes for index, notes in by_log.items() if notes}


def _noted(log: Place, after: int, last: int) -> Iterator[str]:
    """Local paths in the notes after one up to another. A compacted file holds all notes before it."""
    for number in range(after + 1, last + 1):
        plain = log / str(number)
        whole = (log / f"{each}.compact" for each in sorted(numbers(log)) if each >= number)
        file = plain if plain.exists() else next((each for each in whole if each.exists()), None)
        for entry in files_in(file) if file is not None else ():
            path = str(entry.get("path", ""))
            if entry.get("batchId") == number and path.startswith("file:"):
                yield local_path(path)
