"""Reading a remote state without its lock: records never change, so that what the newest one builds on is one
consistent moment. Touches the log, by reading only.
"""

from collections.abc import Sequence

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import Damaged, Journal, Moment, Stored, WrittenByNewer
from flareiac_state.log_record import (
    RESTORE,
    Header,
    Record,
    RecordKind,
    SnapshotMark,
    decode_record,
    missing_record,
    split_entries,
)
from flareiac_state.numbered_log import Newest, NumberedLog

_ATTEMPTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Tip:
    """The newest record, when it was written, and when it was read, both by the place's clock."""

    record: Record
    written: float
    now: float

    @property
    def header(self) -> Header:
        return self.record.header.dated(self.written)


class LogReader:
    """Reads one workspace."""

    def __init__(self, log: NumberedLog, workspace: str, where: str) -> None:
        self._log, self._workspace, self._where = log, workspace, where
        self._last: Tip | None = None

    def tip(self) -> Tip | None:
        """The newest record; None where there is none. Raises ``Damaged``."""
        newest = self._log.newest()
        for _ in range(_ATTEMPTS):
            if newest is None:
                return None
            record = self._known(newest) or self._newest_record(newest.number)
            if record is not None:
                self._last = Tip(record=record, written=newest.written, now=newest.now)
                return self._last
            newest = self._log.newest()
        raise Damaged(self._where, "its newest record is listed and cannot be read", RESTORE)

    def record(self, number: int) -> Record | None:
        return self._records([number])[0]

    def _newest_record(self, number: int) -> Record | None:
        try:
            return self.record(number)
        except WrittenByNewer:
            raise
        except Damaged as problem:
            raise Damaged(
                problem.where,
                f"{problem.why}, and the newest record says who holds the lock",
                f"Restore it from a backup; or, when no command is running, delete {self._log.name(number)} "
                "and nothing else: the record before it is then the newest, and plan shows what differs.",
            ) from problem

    def moment(self, *, journal: bool = True, snapshot: bool = True) -> Moment:
        """Snapshot and journal, or one of them alone. Raises ``Damaged``."""
        tip = self.tip()
        for _ in range(_ATTEMPTS):
            if tip is None:
                return Moment(snapshot=None, journal=Journal(records=()))
            numbers = _numbers(tip.header, journal=journal, snapshot=snapshot)
            records = self._records(numbers)
            if None not in records:
                return _moment(tip, [record for record in records if record is not None])
            # A writer that put a new snapshot in place meanwhile has collected what the former one needed.
            last, tip = tip, self.tip()
            if tip is not None and tip.header.number == last.header.number:
                raise missing_record(numbers[records.index(None)], self._where)
        raise Damaged(self._where, "its records are deleted while they are read", RESTORE)

    def snapshot(self, mark: SnapshotMark) -> bytes | None:
        """The content of a snapshot; None when it is gone."""
        record = self.record(mark.number)
        return record.payload if record is not None else None

    def _known(self, newest: Newest) -> Record | None:
        last = self._last
        if last is None or (last.record.header.number, last.written) != (newest.number, newest.written):
            return None
        return last.record

    def _records(self, numbers: Sequence[int]) -> list[Record | None]:
        contents = self._log.read(numbers)
        return [
            decode_record(contents[number], workspace=self._workspace, number=number, where=self._where)
            if number in contents
            else None
            for number in numbers
        ]


def _numbers(tip: Header, *, journal: bool, snapshot: bool) -> list[int]:
    """The numbers of the records to read beside the newest one."""
    numbers = []
    if snapshot and tip.snapshot is not None and tip.snapshot.number != tip.number:
        numbers.append(tip.snapshot.number)
    if journal and tip.entries:
        numbers += range(tip.start + 1, tip.number)
    return numbers


def _moment(tip: Tip, others: Sequence[Record]) -> Moment:
    records = [*others, tip.record]
    mark = tip.header.snapshot
    stored = [record for record in records if mark is not None and record.header.number == mark.number]
    entries = [
        entry
        for record in records
        if record.header.kind is RecordKind.JOURNAL
        for entry in split_entries(record.payload)
    ]
    return Moment(
        snapshot=Stored(content=stored[0].payload, revision=mark.revision) if mark and stored else None,
        journal=Journal(records=tuple(entries)),
    )
