"""Whether the files of a batch in flight still exist. Touches the disk, by reading only.

Spark notes the files of a batch before it reads them, and reads those that are noted when it does the batch
again. One that is gone by then is passed over without a word: its rows would be missing for good.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote


def missing_in_flight(checkpoint: Path) -> tuple[int, list[str]] | None:
    """The batch that was begun and not committed, and the local files that it reads and that are gone; None
    where none is.

    What cannot be understood is left to Spark, which refuses it. Raises ``OSError``.
    """
    begun, committed = (max(_numbers(checkpoint / log), default=None) for log in ("offsets", "commits"))
    if begun is None or begun == committed:
        return None
    before = _reached(checkpoint, committed) if committed is not None else {}
    gone = [
        path
        for index, last in _reached(checkpoint, begun).items()
        for path in _noted(checkpoint / "sources" / str(index), before.get(index, -1), last)
        if not Path(path).exists()
    ]
    return (begun, list(dict.fromkeys(gone))) if gone else None


def _reached(checkpoint: Path, batch: int) -> dict[int, int]:
    """The newest note that a batch reads, by the number of the log of a source of files."""
    lines = (checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[2:]
    logs = len(_numbers(checkpoint / "sources"))
    distinct = list(dict.fromkeys(lines))
    positions = lines if len(lines) == logs else distinct if len(distinct) == logs else []
    return {
        index: reached for index, line in enumerate(positions) if (reached := _log_offset(line)) is not None
    }


def _log_offset(line: str) -> int | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    reached = found.get("logOffset") if isinstance(found, dict) else None
    return reached if isinstance(reached, int) else None


def _noted(log: Path, after: int, last: int) -> Iterator[str]:
    """Local paths in the notes after one up to another. A compacted file holds all notes before it."""
    for number in range(after + 1, last + 1):
        plain = log / str(number)
        whole = (log / f"{each}.compact" for each in sorted(_numbers(log)) if each >= number)
        file = plain if plain.exists() else next((each for each in whole if each.exists()), None)
        for line in file.read_text(encoding="utf-8").splitlines()[1:] if file is not None else ():
            entry = json.loads(line)
            path = str(entry.get("path", ""))
            if entry.get("batchId") == number and path.startswith("file:"):
                yield "/" + unquote(path.removeprefix("file:")).lstrip("/")


def _numbers(folder: Path) -> set[int]:
    try:
        names = [item.name.removesuffix(".compact") for item in folder.iterdir()]
    except FileNotFoundError:
        return set()
    return {int(name) for name in names if name.isdigit()}
