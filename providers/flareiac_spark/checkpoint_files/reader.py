"""Reads the checkpoint of one query without a JVM, in Spark 4's layout. Touches the disk, by reading only.

``metadata`` holds the query id; ``offsets/N`` what batch N was to read, ``commits/N`` that it was done;
``sources/I`` what a source notes for itself; ``state/OP/_metadata/metadata`` one stateful operator.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from flareiac_spark.checkpoint_files.state_files import broken_state

_VERSION: Final = re.compile(r"v[0-9]{1,4}")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_OFFSETS: Final = ("v1",)
_COMMITS: Final = ("v1", "v2")
_FILES: Final = ("v1",)
_OPERATOR: Final = ("v1", "v2")
"""Versions that Spark 4.1 writes and reads, by log."""
_ATTEMPTS: Final = 5


class Damaged(Exception):
    """A file of the checkpoint cannot be understood or read."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class TooNew(Damaged):
    """A file of the checkpoint is in a layout that a newer Spark writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOnDisk:
    """One streaming source. ``kind`` is files, rate, table or unknown; ``folders`` are those that files came
    from.

    ``index`` is the number of its own log below ``sources``. A query that reads one source several times has
    a position for each time in its offsets, and one log.
    """

    index: int
    kind: str
    offset: str | None
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOnDisk:
    """One stateful operator. ``name`` as Spark calls it: ``stateStoreSave``, ``dedupe``,
    ``symmetricHashJoin``.
    """

    id: int
    name: str
    partitions: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOnDisk:
    """``started`` and ``committed`` are the newest batches in ``offsets`` and ``commits``, None before the
    first.

    ``begun_ms`` is when the newest batch was begun; both times are UTC milliseconds.
    """

    query_id: str
    started: int | None
    committed: int | None
    watermark_ms: int | None = None
    begun_ms: int | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceOnDisk, ...] = ()
    operators: tuple[OperatorOnDisk, ...] = ()

    @property
    def in_flight(self) -> int | None:
        """The batch that was begun and not committed: the next run does it again, with the same offsets."""
        return self.started if self.started is not None and self.started != self.committed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsOnDisk:
    """One entry of ``offsets``: what was in force, and the position of each source as Spark wrote it (None:
    none yet).
    """

    header: Mapping[str, Any]
    positions: tuple[str | None, ...]


def read_checkpoint(folder: Path) -> CheckpointOnDisk | None:
    """The checkpoint in a folder, or None if no query ever started there. Raises ``Damaged``."""
    for _attempt in range(_ATTEMPTS):
        before = _stand(folder)
        try:
            return _read(folder)
        except OSError as trouble:
            damage = Damaged(folder, _why_unreadable(trouble))
        except Damaged as trouble:
            damage = trouble
        if _stand(folder) == before:
            break
    raise damage


def read_offsets(folder: Path, batch: int) -> OffsetsOnDisk:
    """What a batch was to read. Raises ``Damaged``."""
    path = folder / "offsets" / str(batch)
    lines = _lines(path, _OFFSETS)
    if len(lines) < 3:
        raise Damaged(path, "it ends before the offset of a source")
    header = _json(lines[1], path)
    if not isinstance(header.get("conf", {}), dict):
        raise Damaged(path, "its settings are no object")
    for line in lines[2:]:
        if line != "-":
            _any_json(line, path)
    return OffsetsOnDisk(header=header, positions=tuple(None if line == "-" else line for line in lines[2:]))


def batches(folder: Path, log: str) -> list[int]:
    """Numbers of the entries of a log, such as ``offsets``, ascending. Raises ``Damaged``."""
    return sorted(_numbers(folder / log))


def files_in(path: Path) -> list[dict[str, Any]]:
    """The entries of one file of a file source's log: ``path``, ``timestamp``, ``batchId``. Raises
    ``Damaged``.
    """
    return [_json(line, path) for line in _lines(path, _FILES)[1:]]


def log_offsets(folder: Path, batch: int) -> dict[int, int]:
    """The newest note that a batch reads of each source of files, by the number of the source's log. Raises
    ``Damaged``.
    """
    found: dict[int, int] = {}
    for index, line in _sources(folder, read_offsets(folder, batch).positions):
        match _any_json(line, folder / "offsets" / str(batch)) if line is not None else None:
            case {"logOffset": int(reached)}:
                found[index] = reached
            case _:
                pass
    return found


def is_begun(folder: Path) -> bool:
    """Whether a query has ever started in a folder. Raises ``Damaged``."""
    try:
        return (folder / "metadata").exists()
    except OSError as trouble:
        raise Damaged(folder, _why_unreadable(trouble)) from None


def _read(folder: Path) -> CheckpointOnDisk | None:
    metadata = folder / "metadata"
    if not metadata.exists():
        _refuse_half_a_copy(folder)
        return None
    query_id = _json(_text(metadata), metadata).get("id")
    if not isinstance(query_id, str):
        raise Damaged(metadata, "it names no query id")
    committed = _newest(folder / "commits")
    started = _newest(folder / "offsets")
    _check_logs(folder, started, committed)
    newest = read_offsets(folder, started) if started is not None else OffsetsOnDisk(header={}, positions=())
    path = folder / "offsets" / str(started)
    return CheckpointOnDisk(
        query_id=query_id,
        started=started,
        committed=committed,
        watermark_ms=_whole(newest.header.get("batchWatermarkMs")),
        begun_ms=_whole(newest.header.get("batchTimestampMs")),
        conf={str(key): str(value) for key, value in newest.header.get("conf", {}).items()},
        sources=tuple(
            _source(folder, index, line, path) for index, line in _sources(folder, newest.positions)
        ),
        operators=_operators(folder / "state", None if committed is None else committed + 1),
    )


def _stand(folder: Path) -> object:
    """Moves whenever a query that runs here begins or commits a batch: what looks damaged may be two moments
    seen together.
    """
    try:
        return _newest(folder / "offsets"), _newest(folder / "commits")
    except OSError:
        return None


def _refuse_half_a_copy(folder: Path) -> None:
    """Without ``metadata`` Spark would take the rest for another query's, and go on with its offsets all the
    same.
    """
    found = next((log for log in ("offsets", "commits") if _newest(folder / log) is not None), None)
    if found is not None and preparation_note(folder) is None:
        raise Damaged(
            folder / "metadata",
            f"it is not there, and {found} are: half of a checkpoint was copied or deleted",
        )


def preparation_note(folder: Path) -> Mapping[str, Any] | None:
    """What is noted beside a generation that was prepared and not begun by a query; None where nothing is.
    Raises ``Damaged``.
    """
    note = note_of(folder)
    if not note.exists():
        return None
    found = _json(_text(note), note).get("seeded")
    return found if isinstance(found, dict) else None


def note_of(folder: Path) -> Path:
    """The file beside a generation that says how it began."""
    return folder.with_name(f".{folder.name}.starts.json")


def _check_logs(folder: Path, started: int | None, committed: int | None) -> None:
    """Batches are begun and committed one by one; anything else is a copy made in between, or a file lost."""
    if committed is not None:
        path = folder / "commits" / str(committed)
        if started is None or committed > started:
            raise Damaged(
                path,
                f"batch {committed} is committed, and offsets hold "
                f"{'none' if started is None else f'up to {started} only'}",
            )
        _lines(path, _COMMITS)
    if started is None or started == 0:
        return
    if committed is None or committed < started - 1:
        raise Damaged(
            folder / "commits" / str(started - 1), f"it is not there, and batch {started} was begun after it"
        )
    if started - 1 not in _numbers(folder / "offsets"):
        raise Damaged(
            folder / "offsets" / str(started - 1),
            f"it is not there, and Spark needs it to go on after batch {started}",
        )


def _sources(folder: Path, positions: Sequence[str | None]) -> list[tuple[int, str | None]]:
    """Each source with the number of its log, once: Spark numbers the logs by the first place at which a
    source is read.
    """
    logs = sum(name.isdigit() for name in _names(folder / "sources"))
    distinct = list(dict.fromkeys(positions))
    if (
        len(positions) > logs > 0
        and _files_are_there(folder, distinct)
        and not _files_are_there(folder, positions)
    ):
        return (
            list(enumerate(distinct))
            if len(distinct) == logs
            else [(index, distinct[0]) for index in range(logs)]
        )
    return list(enumerate(positions))


def _files_are_there(folder: Path, positions: Sequence[str | None]) -> bool:
    """Whether each position of files is in the log of its number."""
    for index, line in enumerate(positions):
        try:
            reached = json.loads(line or "{}")
        except (ValueError, RecursionError):
            return False
        if isinstance(reached, dict) and isinstance(reached.get("logOffset"), int):
            newest = _newest(folder / "sources" / str(index))
            if reached["logOffset"] >= 0 and (newest is None or newest < reached["logOffset"]):
                return False
    return True


def _source(folder: Path, index: int, line: str | None, path: Path) -> SourceOnDisk:
    if line is None:
        return SourceOnDisk(
            index=index, kind=_kind_by_log(folder, index), offset=None, folders=_folders(folder, index)
        )
    match _any_json(line, path):
        case {"logOffset": int(reached)}:
            kind = "files"
            _check_files(folder, index, reached)
        case {"snapshot_id": int()}:
            kind = "table"
        case bool():
            kind = "unknown"
        case int() | {"0": {"value": _}}:
            kind = "rate"
        case _:
            kind = "unknown"
    return SourceOnDisk(
        index=index, kind=kind, offset=line, folders=_folders(folder, index) if kind == "files" else ()
    )


def _check_files(folder: Path, index: int, reached: int) -> None:
    log = folder / "sources" / str(index)
    newest = _newest(log)
    if reached >= 0 and (newest is None or newest < reached):
        raise Damaged(
            log / str(reached),
            "it is not there, and the offsets name it: the files read so far are not known",
        )


def _kind_by_log(folder: Path, index: int) -> str:
    log = folder / "sources" / str(index)
    return "table" if (log / "offsets").is_dir() else "files" if _newest(log) is not None else "unknown"


def _folders(folder: Path, index: int) -> tuple[str, ...]:
    """Folders of the files that a file source has seen, by its newest note."""
    log = folder / "sources" / str(index)
    newest = _newest(log)
    if newest is None:
        return ()
    path = log / str(newest)
    found: dict[str, None] = {}
    for entry in files_in(path if path.exists() else log / f"{newest}.compact"):
        if isinstance(seen := entry.get("path"), str):
            found["/" + unquote(seen.rpartition("/")[0].removeprefix("file:")).lstrip("/")] = None
    return tuple(found)


def _operators(state: Path, version: int | None) -> tuple[OperatorOnDisk, ...]:
    """``version``: the one that the next batch loads of each store; None before the first commit."""
    return tuple(
        _operator(state, number, version)
        for number in sorted(int(name) for name in _names(state) if _NUMBER.fullmatch(name))
    )


def _operator(state: Path, number: int, version: int | None) -> OperatorOnDisk:
    path = state / str(number) / "_metadata" / "metadata"
    if not path.exists():
        return OperatorOnDisk(id=number, name="unknown", partitions=None)
    info = _json(_lines(path, _OPERATOR)[-1], path)
    operator, stores = info.get("operatorInfo"), info.get("stateStoreInfo")
    if not isinstance(operator, dict) or not isinstance(stores, list):
        raise Damaged(path, "it names no operator")
    if version is not None and (broken := broken_state(state, number, stores, version)) is not None:
        raise Damaged(*broken)
    partitions = stores[0].get("numPartitions") if stores and isinstance(stores[0], dict) else None
    return OperatorOnDisk(
        id=number, name=str(operator.get("operatorName", "unknown")), partitions=_whole(partitions)
    )


def _newest(log: Path) -> int | None:
    return max(_numbers(log), default=None)


def _numbers(log: Path) -> set[int]:
    """Batches of a log, compacted ones too; checksums and temporary files are none."""
    return {
        int(name.removesuffix(".compact"))
        for name in _names(log)
        if _NUMBER.fullmatch(name.removesuffix(".compact"))
    }


def _names(folder: Path) -> list[str]:
    try:
        return [item.name for item in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _lines(path: Path, versions: tuple[str, ...]) -> list[str]:
    lines = _text(path).removesuffix("\n").split("\n")
    if lines == [""]:
        raise Damaged(path, "it is empty")
    version = lines[0]
    if version not in versions and _VERSION.fullmatch(version) and int(version[1:]) > int(versions[-1][1:]):
        raise TooNew(path, f"it is in version {version}, and Spark 4.1 reads up to {versions[-1]}")
    if version not in versions:
        raise Damaged(path, f"its first line is {version!r:.40}, expected {' or '.join(versions)}")
    return lines


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as trouble:
        raise Damaged(path, _why_unreadable(trouble)) from None


def _json(text: str, path: Path) -> dict[str, Any]:
    content = _any_json(text, path)
    if not isinstance(content, dict):
        raise Damaged(path, f"it holds {text!r:.40}, expected a JSON object")
    return content


def _any_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as trouble:
        raise Damaged(path, f"it is not JSON: {trouble}") from None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _why_unreadable(trouble: Exception) -> str:
    return (
        f"it cannot be read: {trouble.strerror or trouble}"
        if isinstance(trouble, OSError)
        else "it is not text"
    )
