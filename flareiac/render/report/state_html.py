"""The report on what runs as one HTML page. Pure but for the files of its frame."""

import time
from collections.abc import Iterator
from typing import Final

from flareiac.kernel.elapsed import elapsed_text
from flareiac.render.reader_status_text import COLUMNS
from flareiac.render.report.escaping import line
from flareiac.render.report.html_filters import Answers, Offered, filters
from flareiac.render.report.html_parts import KEYS, Part, contents, footer, scrolled, section, weighed
from flareiac.render.report.markup import Html, anchor, begun, element, ended, joined, link_to
from flareiac.render.report.picture import picture
from flareiac.render.report.shell import page
from flareiac.render.report.state_content import WRONG, Row, Sheet, StateReport
from flareiac.sdk.text_table import Column

_WRONG_LOOK: Final = "destructive"
"""The class of the look of what loses data in a plan is that of what is wrong in a state."""


def state_html(report: StateReport) -> str:
    """The whole document."""
    offered = Offered()
    parts = [part for part in _parts(report, offered) if part.content]
    title = f"{report.workspace}: {', '.join(part.text for part in report.verdict)}"
    before = (_header(report), contents(parts), filters(offered, "State", "Owner"), begun("main"))
    sections = (piece for part in parts for piece in section(part))
    after = footer(KEYS[:2], report.flareiac_version, report.serial, report.state)
    return page(line(title, 200), (*before, *sections, ended("main"), after))


def _header(report: StateReport) -> Html:
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(report.time))
    return element(
        "header",
        element(
            "p", "What runs in workspace ", element("code", report.workspace), f", {when}", class_="quiet"
        ),
        element("h1", joined(*map(weighed, report.verdict), between=", ")),
        class_="grave" if any(part.grave for part in report.verdict) else None,
    )


def _parts(report: StateReport, offered: Offered) -> Iterator[Part]:
    for sheet in report.sheets:
        yield _sheet(sheet, offered)
    yield _readers(report)
    yield _runs(report)
    yield _lineage(report)
    yield _others(report, offered)
    names = [element("ul", *(element("li", element("code", name)) for name in report.dropped))]
    title = "Dropped, to be brought back by undrop"
    yield Part(key="dropped", title=title, count=len(report.dropped), content=names if report.dropped else [])


def _table(title: str, columns: tuple[Column, ...], rows: list[Html]) -> Html:
    heads = (
        element("th", column.title, scope="col", class_="number" if column.right else None)
        for column in columns
    )
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *rows))
    return scrolled(table, title, "wide")


def _sheet(sheet: Sheet, offered: Offered) -> Part:
    rows = [_row(row, sheet.columns, offered) for row in _wrong_first(sheet)]
    columns = (*_FIRST, *sheet.columns)
    legends = [element("p", text, class_="quiet") for text in sheet.legends]
    content = [_table(sheet.title, columns, rows), *legends]
    return Part(key=sheet.key, title=sheet.title, count=len(sheet.rows), content=content, filtered=True)


_FIRST: Final = (Column("RESOURCE"), Column("OWNER"))


def _wrong_first(sheet: Sheet) -> list[Row]:
    return sorted(sheet.rows, key=lambda row: WRONG not in row.tags)


def _row(row: Row, columns: tuple[Column, ...], offered: Offered) -> Html:
    answers = _answers(row)
    offered.add(answers)
    wrong = WRONG in row.tags
    said = [element("div", element("b", title), ": ", element("bdi", text)) for title, text in row.remarks]
    name = element("a", element("code", row.address), href=link_to(row.address))
    return element(
        "tr",
        element("th", name, *said, scope="row"),
        element("td", row.owner),
        *_cells(columns, row.cells),
        id=anchor(row.address),
        class_="wrong" if wrong else None,
        **answers.attributes(),
    )


def _cells(columns: tuple[Column, ...], cells: tuple[str, ...]) -> Iterator[Html]:
    for column, cell in zip(columns, cells, strict=True):
        yield element("td", cell, class_="number" if column.right else None)


def _answers(row: Row) -> Answers:
    return Answers(type=row.type, effects=row.tags, owners=(row.owner,) if row.owner else ())


def _readers(report: StateReport) -> Part:
    title = "Readers outside of the project"
    rows = [
        element(
            "tr",
            element(
                "th",
                element("code", reader.address),
                *(element("div", element("bdi", text)) for text in reader.complaints),
                scope="row",
            ),
            element("td", reader.owner),
            element("td", _read(reader.subject, reader.columns)),
            *_cells(COLUMNS, reader.cells),
            class_="wrong" if reader.complaints else None,
        )
        for reader in report.readers
    ]
    table = _table(title, (Column("READER"), Column("OWNER"), Column("OF"), *COLUMNS), rows)
    return Part(key="readers", title=title, count=len(rows), content=[table] if rows else [])


def _read(address: str, columns: tuple[str, ...] | None) -> Html:
    name = element("a", element("code", address), href=link_to(address))
    if columns is None:
        return name
    return joined(name, " (", joined(*(element("code", column) for column in columns), between=", "), ")")


def _runs(report: StateReport) -> Part:
    rows = [
        element(
            "tr",
            element("th", element("a", element("code", run.address), href=link_to(run.address)), scope="row"),
            element("td", element("code", run.name)),
            element("td", f"{elapsed_text(max(0.0, report.time - run.at))} ago"),
            element("td", element("b", run.failed, class_="grave") if run.failed else "done"),
        )
        for run in report.runs
    ]
    table = _table(
        "Maintenance", (Column("RESOURCE"), Column("TASK"), Column("LAST RUN"), Column("OUTCOME")), rows
    )
    return Part(key="maintenance", title="Maintenance", count=len(rows), content=[table] if rows else [])


def _lineage(report: StateReport) -> Part:
    shown = report.lineage
    kinds = {node.address: _WRONG_LOOK for node in shown.nodes if node.reason == WRONG}
    left = f"{shown.left_out:,} more resources are not drawn." if shown.left_out else None
    content = [scrolled(picture(shown, kinds), "Lineage", "picture")] if shown.links else []
    if left:
        content.append(element("p", left, class_="quiet"))
    return Part(key="lineage", title="Lineage", count=len(shown.nodes), content=content)


def _others(report: StateReport, offered: Offered) -> Part:
    entries = []
    for row in report.others:
        answers = _answers(row)
        offered.add(answers)
        owner = joined(", owner: ", element("b", row.owner)) if row.owner else None
        name = element("code", row.address)
        attributes = answers.attributes()
        entries.append(element("div", name, owner, id=anchor(row.address), class_="card flat", **attributes))
    return Part(key="others", title="Other resources", count=len(entries), content=entries, filtered=True)
