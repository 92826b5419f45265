"""What does the checkpoint of one query hold? Read without a JVM, in Spark 4's layout. Touches the disk, by reading only.

``metadata`` holds the query id; ``offsets/N`` what batch N was to read, ``commits/N`` that it was done; ``sources/I`` what a source
notes for itself; ``state/OP/_metadata/metadata`` one stateful operator.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BATCH = re.compile(r"\d+")


class Damaged(Exception):
    """A file of the checkpoint can not be understood or read."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOnDisk:
    """One streaming source by its position. ``kind`` is files, rate, table or unknown; ``folders`` are those that files came from."""

    index: int
    kind: str
    offset: str | None
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOnDisk:
    """One stateful operator. ``name`` as Spark calls it: ``stateStoreSave``, ``dedupe``, ``symmetricHashJoin``."""

    id: int
    name: str
    partitions: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointOnDisk:
    """``started`` and ``committed`` are the newest batches in ``offsets`` and ``commits``, None before the first."""

    query_id: str
    started: int | None
    committed: int | None
    watermark_ms: int | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceOnDisk, ...] = ()
    operators: tuple[OperatorOnDisk, ...] = ()

    @property
    def in_flight(self) -> int | None:
        """The batch that was begun and not committed: the next run does it again, with the same offsets."""
        return self.started if self.started is not None and self.started != self.committed else None


def read_checkpoint(folder: Path) -> CheckpointOnDisk | None:
    """The checkpoint in a folder, or None if no query ever started there. Raises ``Damaged``."""
    metadata = folder / "metadata"
    try:
        text = metadata.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as trouble:
        raise Damaged(metadata, _said(trouble)) from None
    query_id = _json(text, metadata).get("id")
    if not isinstance(query_id, str):
        raise Damaged(metadata, "it names no query id")
    started, committed = _newest(folder / "offsets"), _newest(folder / "commits")
    watermark, conf, sources = _offsets(folder, started)
    return CheckpointOnDisk(
        query_id=query_id,
        started=started,
        committed=committed,
        watermark_ms=watermark,
        conf=conf,
        sources=sources,
        operators=_operators(folder / "state"),
    )


def _offsets(folder: Path, batch: int | None) -> tuple[int | None, dict[str, str], tuple[SourceOnDisk, ...]]:
    if batch is None:
        return None, {}, ()
    path = folder / "offsets" / str(batch)
    lines = _lines(path)
    if lines[0] != "v1":
        raise Damaged(path, f"its first line is {lines[0]!r:.40}, expected v1")
    if len(lines) < 3:
        raise Damaged(path, "it ends before the offset of a source")
    header = _json(lines[1], path)
    conf = header.get("conf", {})
    if not isinstance(conf, dict):
        raise Damaged(path, "its settings are no object")
    sources = tuple(_source(folder, index, line, path) for index, line in enumerate(lines[2:]))
    watermark = header.get("batchWatermarkMs")
    return watermark if isinstance(watermark, int) else None, {str(key): str(value) for key, value in conf.items()}, sources


def _source(folder: Path, index: int, line: str, path: Path) -> SourceOnDisk:
    if line == "-":
        return SourceOnDisk(index=index, kind=_kind_by_log(folder, index), offset=None, folders=_folders(folder, index))
    match _any_json(line, path):
        case {"logOffset": _}:
            kind = "files"
        case {"snapshot_id": _}:
            kind = "table"
        case int() | {"0": {"value": _}}:
            kind = "rate"
        case _:
            kind = "unknown"
    return SourceOnDisk(index=index, kind=kind, offset=line, folders=_folders(folder, index) if kind == "files" else ())


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
    path = path if path.exists() else log / f"{newest}.compact"
    found: dict[str, None] = {}
    for line in _lines(path)[1:]:
        seen = _json(line, path).get("path")
        if isinstance(seen, str):
            found["/" + seen.rpartition("/")[0].removeprefix("file:").lstrip("/")] = None
    return tuple(found)


def _operators(state: Path) -> tuple[OperatorOnDisk, ...]:
    return tuple(_operator(state, int(name)) for name in sorted(_names(state), key=lambda name: name.zfill(9)) if name.isdigit())


def _operator(state: Path, number: int) -> OperatorOnDisk:
    path = state / str(number) / "_metadata" / "metadata"
    if not path.exists():
        return OperatorOnDisk(id=number, name="unknown", partitions=None)
    info = _json(_lines(path)[-1], path)
    operator, stores = info.get("operatorInfo"), info.get("stateStoreInfo")
    if not isinstance(operator, dict) or not isinstance(stores, list):
        raise Damaged(path, "it names no operator")
    partitions = stores[0].get("numPartitions") if stores and isinstance(stores[0], dict) else None
    return OperatorOnDisk(id=number, name=str(operator.get("operatorName", "unknown")), partitions=partitions)


def _newest(log: Path) -> int | None:
    numbers = [int(name.removesuffix(".compact")) for name in _names(log) if _BATCH.fullmatch(name.removesuffix(".compact"))]
    return max(numbers, default=None)


def _names(folder: Path) -> list[str]:
    try:
        return [item.name for item in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as trouble:
        raise Damaged(folder, _said(trouble)) from None


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as trouble:
        raise Damaged(path, _said(trouble)) from None
    if not lines:
        raise Damaged(path, "it is empty")
    return lines


def _json(text: str, path: Path) -> dict[str, Any]:
    content = _any_json(text, path)
    if not isinstance(content, dict):
        raise Damaged(path, f"it holds {text!r:.40}, expected a JSON object")
    return content


def _any_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except ValueError as trouble:
        raise Damaged(path, f"it is not JSON: {trouble}") from None


def _said(trouble: Exception) -> str:
    return f"it can not be read: {trouble.strerror or trouble}" if isinstance(trouble, OSError) else "it is not text"
