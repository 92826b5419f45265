"""Reads the checkpoint of one query without a JVM, in Spark 4's layout. Touches the disk, by reading only.

``metadata`` holds the query id; ``offsets/N`` what batch N was to read, ``commits/N`` that it was done;
``sources/I`` what a source notes for itself; ``state/OP/_metadata/metadata`` one stateful operator.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.checkpoint_files.state_files import broken_state
from flareiac_spark.sources.offsets import SourceOnDisk
from flareiac_spark.sources.on_disk import kinds_of, sources_on_disk
from flareiac_spark_runtime.checkpoint_log import (
    COMMITS,
    NUMBER,
    OPERATOR,
    Damaged,
    OffsetsOnDisk,
    json_object,
    lines_of,
    names_in,
    newest,
    numbers,
    read_offsets,
    text_of,
    unreadable,
    whole,
)
from flareiac_spark_runtime.storage import Place, seen_at_once

_ATTEMPTS: Final = 5
"""Spark writes and deletes files meanwhile: what cannot be read counts as damage once nothing has changed."""


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
    positions: tuple[str, ...] = ()
    """The kind of each position in the offsets of the newest batch."""

    @property
    def in_flight(self) -> int | None:
        """The batch that was begun and not committed: the next run does it again, with the same offsets."""
        return self.started if self.started is not None and self.started != self.committed else None


def read_checkpoint(folder: Place) -> CheckpointOnDisk | None:
    """The checkpoint in a folder, or None if no query ever started there. Raises ``Damaged``."""
    for _attempt in range(_ATTEMPTS):
        before = _stand(folder)
        try:
            return _read(seen_at_once(folder))
        except OSError as error:
            damage = unreadable(folder, error)
        except Damaged as error:
            damage = error
        if _stand(folder) == before:
            break
    raise damage


def is_begun(folder: Place) -> bool:
    """Returns True if a query has ever started in a folder. Raises ``Damaged``."""
    try:
        return (folder / "metadata").exists()
    except OSError as error:
        raise unreadable(folder, error) from None


def _read(folder: Place) -> CheckpointOnDisk | None:
    metadata = folder / "metadata"
    if not metadata.exists():
        _refuse_half_a_copy(folder)
        return None
    query_id = json_object(text_of(metadata), metadata).get("id")
    if not isinstance(query_id, str):
        raise Damaged(metadata, "it names no query id")
    committed = newest(folder / "commits")
    started = newest(folder / "offsets")
    _check_logs(folder, started, committed)
    last = read_offsets(folder, started) if started is not None else OffsetsOnDisk(header={}, positions=())
    return CheckpointOnDisk(
        query_id=query_id,
        started=started,
        committed=committed,
        watermark_ms=whole(last.header.get("batchWatermarkMs")),
        begun_ms=whole(last.header.get("batchTimestampMs")),
        conf={str(key): str(value) for key, value in last.header.get("conf", {}).items()},
        sources=sources_on_disk(folder, last.positions),
        operators=_operators(folder / "state", None if committed is None else committed + 1),
        positions=kinds_of(last.positions),
    )


def _stand(folder: Place) -> object:
    """Moves whenever a query that runs here begins or commits a batch: what looks damaged may be two moments
    seen together.
    """
    try:
        return newest(folder / "offsets"), newest(folder / "commits")
    except OSError:
        return None


def _refuse_half_a_copy(folder: Place) -> None:
    """Without ``metadata`` Spark would take the rest for another query's, and go on with its offsets all the
    same.
    """
    log_name = next((log for log in ("offsets", "commits") if newest(folder / log) is not None), None)
    if log_name is not None and preparation_note(folder) is None:
        raise Damaged(
            folder / "metadata",
            f"it is not there, and {log_name} are: half of a checkpoint was copied or deleted",
        )


def preparation_note(folder: Place) -> Mapping[str, Any] | None:
    """The note beside a generation that was prepared and not begun by a query; None without one. Raises
    ``Damaged``.
    """
    note = note_of(folder)
    if not note.exists():
        return None
    seed = json_object(text_of(note), note).get("seeded")
    return seed if isinstance(seed, dict) else None


def note_of(folder: Place) -> Place:
    """The file beside a generation that says how it began."""
    return folder.with_name(f".{folder.name}.starts.json")


def _check_logs(folder: Place, started: int | None, committed: int | None) -> None:
    """Batches are begun and committed one by one; anything else is a copy made in between, or a file lost."""
    if committed is not None:
        path = folder / "commits" / str(committed)
        if started is None or committed > started:
            raise Damaged(
                path,
                f"batch {committed} is committed, and offsets hold "
                f"{'none' if started is None else f'up to {started} only'}",
            )
        json_object(lines_of(path, COMMITS)[-1], path)
    if started is None or started == 0:
        return
    if committed is None or committed < started - 1:
        raise Damaged(
            folder / "commits" / str(started - 1), f"it is not there, and batch {started} was begun after it"
        )
    if started - 1 not in numbers(folder / "offsets"):
        raise Damaged(
            folder / "offsets" / str(started - 1),
            f"it is not there, and Spark needs it to go on after batch {started}",
        )
    read_offsets(folder, started - 1)


def _operators(state: Place, version: int | None) -> tuple[OperatorOnDisk, ...]:
    """``version``: the one that the next batch loads of each store; None before the first commit."""
    there = sorted(int(name) for name in names_in(state) if NUMBER.fullmatch(name))
    if version is not None and (there or state.exists()):
        # Spark numbers the operators of a query from 0, and makes this folder for the first of them.
        lost = next((number for number in range(max(there, default=0)) if number not in there), None)
        if lost is not None or not there:
            raise Damaged(state / str(lost or 0), "it is not there, and committed batches left state in it")
    return tuple(_operator(state, number, version) for number in there)


def _operator(state: Place, number: int, version: int | None) -> OperatorOnDisk:
    path = state / str(number) / "_metadata" / "metadata"
    if not path.exists():
        return OperatorOnDisk(id=number, name="unknown", partitions=None)
    info = json_object(lines_of(path, OPERATOR)[-1], path)
    operator, stores = info.get("operatorInfo"), info.get("stateStoreInfo")
    if not isinstance(operator, dict) or not isinstance(stores, list):
        raise Damaged(path, "it names no operator")
    if version is not None and (broken := broken_state(state, number, stores, version)) is not None:
        raise Damaged(*broken)
    partitions = stores[0].get("numPartitions") if stores and isinstance(stores[0], dict) else None
    return OperatorOnDisk(
        id=number, name=str(operator.get("operatorName", "unknown")), partitions=whole(partitions)
    )
