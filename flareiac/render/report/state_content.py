"""The content of a report on what runs: the state of a project with what the world says of it, typed. Pure.

The cells and remarks are those of ``status``; ``state_html`` beside it is their reading.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.render.reader_status_text import complaints, reader_cells
from flareiac.render.report.content import VerdictPart
from flareiac.render.report.lineage import Lineage, Size, lineage_of
from flareiac.render.status_text import COLUMNS, remarks, status_cells
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.run_status import RunStatus
from flareiac.sdk.statistics import Statistics, StatisticsSheet
from flareiac.sdk.text_table import Column

_GRAVE: Final = frozenset({"failed", "backoff", "unknown"})
"""Phases in which nothing is done."""
WRONG: Final = "something is wrong"
"""The tag of a row that has remarks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One resource. ``cells``: those of the columns of its sheet. ``remarks``: titles and texts of what is
    wrong with it, or has to be known. ``tags``: what it can be chosen by.
    """

    address: str
    type: str
    owner: str
    cells: tuple[str, ...]
    remarks: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The resources of one kind. ``key``: a word for programs. ``legends`` explain cells."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReads:
    """The reads of one outside of the project, as the last apply knew them. ``columns``: None where it may
    read all. ``cells``: those of ``reader_status_text.COLUMNS``. ``complaints``: why its sla is broken or not
    known.
    """

    address: str
    owner: str
    subject: str
    columns: tuple[str, ...] | None
    cells: tuple[str, ...]
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """The last run of a maintenance task. ``at`` in UTC seconds. ``failed``: what was wrong with it."""

    address: str
    name: str
    at: float
    failed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The answers of the world about a state, at a ``time`` (UTC seconds). ``usages``: of the recorded
    definitions.
    """

    time: float
    running: Mapping[str, RunStatus]
    statistics: Mapping[StatisticsSheet, Mapping[str, Statistics]]
    usages: tuple[Usage, ...] = ()
    readers: tuple[ReaderStatus, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReport:
    """All of it. ``others``: the resources that are on no sheet. ``dropped``: those that can be brought
    back.
    """

    flareiac_version: str
    workspace: str
    state: str
    serial: int
    time: float
    verdict: tuple[VerdictPart, ...]
    sheets: tuple[Sheet, ...]
    others: tuple[Row, ...]
    runs: tuple[TaskRun, ...]
    readers: tuple[OutsideReads, ...]
    dropped: tuple[str, ...] = field(default=())
    lineage: Lineage


def state_report_of(
    snapshot: Snapshot, seen: Seen, *, tool_version: str, workspace: str, picture: Size
) -> StateReport:
    """The content of the report on a state and on what is ``seen`` of it."""
    sheets = tuple(sheet for sheet in _sheets(snapshot, seen) if sheet.rows)
    shown = {row.address for sheet in sheets for row in sheet.rows}
    others = tuple(
        Row(address=address, type=record.type, owner=_owner(record), cells=())
        for address, record in sorted(snapshot.resources.items())
        if address not in shown
    )
    wrong = {row.address for sheet in sheets for row in sheet.rows if WRONG in row.tags}
    reasons = {address: WRONG if address in wrong else "recorded" for address in snapshot.resources}
    outside = snapshot.applied.readers if snapshot.applied is not None else ()
    links = [
        *((usage.subject, usage.holder, usage.relation) for usage in seen.usages if not usage.is_outside),
        *((reader.subject, reader.address, Relation.LOOKS_UP) for reader in outside),
    ]
    return StateReport(
        flareiac_version=tool_version,
        workspace=workspace,
        state=snapshot.lineage,
        serial=snapshot.serial,
        time=seen.time,
        verdict=tuple(_verdict(sheets, seen, len(snapshot.resources))),
        sheets=sheets,
        others=others,
        runs=tuple(_runs(snapshot)),
        readers=tuple(_readers(snapshot, seen)),
        dropped=tuple(sorted(snapshot.dropped_by_name())),
        lineage=lineage_of(links, reasons, picture, first=wrong),
    )


def _owner(record: ResourceRecord | None) -> str:
    return record.owner.text if record is not None and record.owner is not None else ""


def _sheets(snapshot: Snapshot, seen: Seen) -> Iterator[Sheet]:
    def row(address: str, cells: Iterable[str], said: Iterable[tuple[str, str]], *tags: str) -> Row:
        record = snapshot.resources.get(address)
        texts = tuple(said)
        return Row(
            address=address,
            type=record.type if record is not None else "",
            owner=_owner(record),
            cells=tuple(cells),
            remarks=texts,
            tags=(*tags, *((WRONG,) if texts or set(tags) & _GRAVE else ())),
        )

    running = tuple(
        row(address, status_cells(status, seen.time), remarks(status), status.phase)
        for address, status in sorted(seen.running.items())
    )
    yield Sheet(key="jobs", title="Jobs", columns=COLUMNS, rows=running)
    for sheet, statistics in seen.statistics.items():
        rows = tuple(
            row(address, answer.cells, answer.trouble) for address, answer in sorted(statistics.items())
        )
        legends = tuple(dict.fromkeys(answer.legend for answer in statistics.values() if answer.legend))
        yield Sheet(
            key=sheet.name, title=sheet.name.capitalize(), columns=sheet.columns, rows=rows, legends=legends
        )


def _counted(number: int, plural: str) -> str:
    return f"{number:,} {plural.removesuffix('s') if number == 1 else plural}"


def _verdict(sheets: Iterable[Sheet], seen: Seen, count: int) -> Iterator[VerdictPart]:
    if not count:
        yield VerdictPart(text="nothing was applied yet")
    for sheet in sheets:
        number = len(sheet.rows)
        yield VerdictPart(text=_counted(number, sheet.key))
        if sheet.key == "jobs":
            phases = Counter(status.phase for status in seen.running.values())
            yield from (
                VerdictPart(text=f"{phases[phase]:,} {phase}", grave=phase in _GRAVE)
                for phase in sorted(phases, key=lambda phase: (phase not in _GRAVE, phase))
            )
        wrong = sum(bool(row.remarks) for row in sheet.rows)
        if wrong:
            yield VerdictPart(text=f"{_counted(wrong, sheet.key)} with remarks", grave=True)
    broken = sum(status.verdict is Verdict.BROKEN for status in seen.readers)
    if broken:
        yield VerdictPart(text=f"{broken:,} sla broken", grave=True)


def _runs(snapshot: Snapshot) -> Iterator[TaskRun]:
    runs = [
        TaskRun(address=address, name=name, at=run.at, failed=run.failed)
        for address, record in sorted(snapshot.resources.items())
        for name, run in sorted(record.maintenance.items())
    ]
    yield from sorted(runs, key=lambda run: not run.failed)


def _readers(snapshot: Snapshot, seen: Seen) -> Iterator[OutsideReads]:
    declared = snapshot.applied.readers if snapshot.applied is not None else ()
    by_name = {(reader.address, reader.subject): reader for reader in declared}
    rows = [(by_name.get((status.reader, status.subject)), status) for status in seen.readers]
    for reader, status in sorted(rows, key=lambda row: not complaints(row[1])):
        yield OutsideReads(
            address=status.reader,
            owner=reader.owner.text if reader is not None and reader.owner is not None else "",
            subject=status.subject,
            columns=reader.columns if reader is not None else None,
            cells=reader_cells(status),
            complaints=complaints(status),
        )
