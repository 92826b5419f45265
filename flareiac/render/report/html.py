"""A report as one HTML page, for the browser of a reviewer. Pure but for the files of its frame.

The verdict and what is lost come first, then who notices it, then the rest in the order of the content. Each
change has the place that its address leads to; changes that are alike share one entry.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Final

from flareiac.kernel.addresses import block_type
from flareiac.kernel.diagnostics import Severity
from flareiac.render.policy_text import beside
from flareiac.render.report.content import Change, DueTask, Report, Verdict
from flareiac.render.report.escaping import line
from flareiac.render.report.html_change import Details, change_card, named_reader, prose
from flareiac.render.report.html_filters import Answers, Offered, filters, of_change, of_task
from flareiac.render.report.html_parts import KEYS, Part, contents, footer, scrolled, section, weighed
from flareiac.render.report.lineage import Lineage, Size
from flareiac.render.report.markup import Html, anchor, begun, element, ended, joined, link_to
from flareiac.render.report.picture import picture
from flareiac.render.report.shell import page
from flareiac.render.report.words import TITLES
from flareiac.render.sections import Section

PICTURE: Final = Size(nodes=200, links=600)
"""The lineage that a page can show."""
_MOST_HITS: Final = 300
_MOST_CAUSES: Final = 5
_OPEN: Final = 20
"""So many blocked changes are open from the beginning: each needs a decision."""


def report_html(report: Report) -> str:
    """The whole document."""
    offered = Offered()
    parts = [part for part in _parts(report, offered) if part.content]
    title = f"{report.workspace}: {', '.join(part.text for part in report.verdict.parts)}"
    before = (_header(report), contents(parts), filters(offered, "Effect", "Owner or hit"), begun("main"))
    sections = (piece for part in parts for piece in section(part))
    after = footer(KEYS, report.flareiac_version, report.serial, report.state)
    return page(line(title, 200), (*before, *sections, ended("main"), after))


def _parts(report: Report, offered: Offered) -> Iterator[Part]:
    details = Details()
    yield _changes(report, Section.DESTRUCTIVE, offered, details)
    yield _changes(report, Section.BLOCKED, offered, details)
    yield _rules(report)
    yield _complaints(report, Severity.ERROR)
    yield _hits(report)
    yield _changes(report, Section.RESTARTS, offered, details)
    yield _maintenance(report.maintenance, offered)
    yield _lineage(report)
    yield _changes(report, Section.OTHERS, offered, details)
    yield _outputs(report)
    yield _complaints(report, Severity.WARNING)
    notes = joined(*(element("li", prose(note)) for note in report.notes))
    content = [element("ul", notes)] if report.notes else []
    yield Part(key="notes", title="Notes", count=len(report.notes), content=content)


def _header(report: Report) -> Html:
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(report.time))
    origin = element(
        "p",
        *("Plan of workspace ", element("code", report.workspace), f", {when}"),
        class_="quiet",
    )
    verdict = element("h1", joined(*map(weighed, report.verdict.parts), between=", "))
    said = element("p", prose(report.verdict.sentence)) if report.verdict.sentence else Html("")
    return element("header", origin, verdict, said, class_=_weight(report.verdict))


def _weight(verdict: Verdict) -> str | None:
    """The class of the look of a verdict."""
    if verdict.errored or verdict.destroy or verdict.lose_data or verdict.generation:
        return "grave"
    if any(part.grave for part in verdict.parts):
        return "blocked"
    return "stop" if verdict.restart else None


def _changes(report: Report, section: Section, offered: Offered, details: Details) -> Part:
    by_address = {change.address: change for change in report.changes}
    cards: list[Html] = []
    count = 0
    for group in report.groups:
        if group.section is section:
            change, number = by_address[group.addresses[0]], len(group.addresses)
            answers = of_change(change)
            offered.add(answers, number)
            opened = section is Section.BLOCKED and len(cards) < _OPEN
            cards.append(change_card(change, group.addresses, answers, details, opened=opened))
            count += number
    return Part(key=section.value, title=TITLES[section], count=count, content=cards, filtered=True)


def _complaints(report: Report, severity: Severity) -> Part:
    title = "Errors" if severity is Severity.ERROR else "Warnings"
    entries = [
        element(
            "div",
            *(element("b", prose(each.summary)), " [", element("code", each.code), "] "),
            element("code", each.address) if each.address else None,
            element("p", prose(each.detail)) if each.detail else None,
            class_="card flat",
        )
        for each in report.complaints
        if each.severity is severity
    ]
    return Part(key=title.lower(), title=title, count=len(entries), content=entries)


def _rules(report: Report) -> Part:
    """The rules of the team that are not met, those first that keep the plan from being applied."""
    findings = () if report.policy is None else report.policy.findings
    entries = [
        element(
            "div",
            element("b", f"{each.name} ({each.enforcement.value})"),
            f" {each.answer.value} [",
            *(element("code", each.code), "] "),
            element("code", each.address) if each.address else None,
            element("p", prose(each.message)),
            element("p", prose(", ".join(beside(each))), class_="quiet"),
            class_="card flat",
        )
        for each in sorted(findings, key=lambda each: not each.refuses)
    ]
    return Part(key="rules", title="Rules of the team", count=len(entries), content=entries)


def _hits(report: Report) -> Part:
    """The readers who notice the plan: each once, first those that notice what is destructive."""
    readers: dict[tuple[str, str], list[Change]] = {}
    for change in report.changes:
        for reader in change.readers:
            readers.setdefault((reader.owner, reader.address), []).append(change)
    rows = [
        element(
            "tr",
            element("td", owner or "no owner is declared"),
            element("td", element("code", address)),
            element("td", _causes(changes)),
        )
        for (owner, address), changes in [*readers.items()][:_MOST_HITS]
    ]
    head = element("tr", *(element("th", name, scope="col") for name in ("owner", "reader", "hit by")))
    left = len(readers) - len(rows)
    title = "Who is hit"
    content = joined(
        scrolled(element("table", element("thead", head), element("tbody", *rows)), title, "wide"),
        element("p", f"{left:,} more readers are named at the changes.") if left else None,
    )
    return Part(key="hits", title=title, count=len(readers), content=[content] if readers else [])


def _causes(changes: Sequence[Change]) -> Html:
    links = (element("a", element("code", it.address), href=link_to(it.address)) for it in changes)
    named = [link for link, _ in zip(links, range(_MOST_CAUSES), strict=False)]
    more = f" and {len(changes) - len(named):,} more" if len(changes) > len(named) else None
    return joined(joined(*named, between=", "), more)


def _maintenance(tasks: Sequence[DueTask], offered: Offered) -> Part:
    entries = []
    for task in tasks:
        answers = of_task(task, block_type(task.address))
        offered.add(answers)
        entries.append(_task(task, answers))
    return Part(
        key="maintenance",
        title="Maintenance due",
        count=len(entries),
        content=entries,
        filtered=True,
    )


def _task(task: DueTask, answers: Answers) -> Html:
    forecast = [joined(element("code", name), f": {value:,}") for name, value in task.forecast.items()]
    beside = (
        ("by", "forecast: ", forecast),
        ("by", "held by ", [prose(holder) for holder in task.held]),
        ("hit", "read by ", [named_reader(reader) for reader in task.readers]),
    )
    return element(
        "div",
        *(element("code", task.address, class_="name"), " "),
        *(element("code", task.name), " ", prose(task.what)),
        *(
            element("span", words, joined(*entries, between=", "), class_=look)
            for look, words, entries in beside
            if entries
        ),
        class_="card flat",
        **answers.attributes(),
    )


def _lineage(report: Report) -> Part:
    shown: Lineage = report.lineage
    kinds = {change.address: change.section.value for change in report.changes}
    looks = [section for section in _LOOKS if section.value in kinds.values()]
    legend = element(
        "ul",
        *(element("li", element("span", TITLES[it], class_=f"label {_LOOKS[it]}")) for it in looks),
        element("li", element("span", "stays as it is", class_="label minor")),
        class_="legend",
    )
    left = f"{shown.left_out:,} more resources are not drawn." if shown.left_out else None
    title = "Lineage of what changes"
    content = joined(
        legend,
        scrolled(picture(shown, kinds), title, "picture") if shown.links else None,
        element("p", left, class_="quiet") if left else None,
    )
    return Part(key="lineage", title=title, count=len(shown.nodes), content=[content] if shown.links else [])


_LOOKS: Final = {
    Section.DESTRUCTIVE: "grave",
    Section.BLOCKED: "blocked",
    Section.RESTARTS: "stop",
    Section.OTHERS: "calm",
}


def _outputs(report: Report) -> Part:
    entries = [
        element("pre", line(output.line), id=anchor(f"output.{output.name}")) for output in report.outputs
    ]
    return Part(key="outputs", title="Outputs", count=len(entries), content=entries)
