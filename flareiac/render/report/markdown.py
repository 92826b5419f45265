"""A report as Markdown, for a comment in a pull request. Pure.

The first line is a marker that does not show, by which a later comment replaces an earlier one. Then comes
the verdict; the rest is in the order in which a reviewer needs it, and is cut from its end.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from flareiac.kernel.diagnostics import Severity
from flareiac.model.policy import Finding
from flareiac.render.marker import marker, place
from flareiac.render.report.budget import Entry, Part, fitted
from flareiac.render.report.content import Change, Group, Reader, Report, VerdictPart, WorkStep
from flareiac.render.report.escaping import code, fence, label, prose
from flareiac.render.report.lineage import Lineage
from flareiac.render.report.words import MEANINGS, STATES, TITLES, doubts, downtime, replayed
from flareiac.render.sections import Section
from flareiac.sdk.changes import Effect, Relation

LEAST_CHARACTERS: Final = 2_000
"""The verdict, and the numbers of all that is left out, fit into so many."""
MOST_CHARACTERS: Final = 65_000
"""GitHub refuses a comment of more than 65,536."""
_FEW: Final = 3
_MOST_LINES: Final = 200
_LONGEST_NAME: Final = 40
_NO_READER: Final = "none declared"
_DETAILS: Final = "<details><summary>{}</summary>\n"
_ARROWS: Final = {Relation.LOOKS_UP: "-.->", Relation.KEEPS_STATE_IN: "-.-"}


def report_markdown(report: Report, most: int = MOST_CHARACTERS, *, project: str = "") -> str:
    """The report in at most so many characters (at least ``LEAST_CHARACTERS``), without a line feed at its
    end. What is left out is counted and named. ``project`` names it in the marker.
    """

    def trailer(missing: str) -> str:
        return (
            f"*Left out to stay within {most} characters:* {missing}. `flareiac show PLAN` shows all of it."
        )

    def name(text: str) -> str:
        return code(text, _LONGEST_NAME)

    return fitted(_first(report, project), list(_parts(report)), most, trailer=trailer, name=name)


def _first(report: Report, project: str) -> str:
    first = marker("flareiac-report", workspace=report.workspace, project=project)
    parts = [_weighed(part) for part in report.verdict.parts]
    return f"{first}\n{place(project, report.workspace)}{', '.join(parts)}"


def _weighed(part: VerdictPart) -> str:
    return f"**{part.text}**" if part.grave else part.text


def _parts(report: Report) -> Iterator[Part]:
    yield _losing(report)
    yield _blocked(report)
    yield _policy(report)
    yield _complaints(report, Severity.ERROR)
    yield _restarts(report)
    yield _maintenance(report)
    yield _others(report)
    yield _complaints(report, Severity.WARNING)
    yield Part(
        noun="notes",
        head="### Notes\n",
        entries=tuple(Entry(text=f"- {prose(note)}", names=(note,)) for note in report.notes),
    )
    yield _diffs(report)
    yield _picture(report.lineage)
    yield _words(report)


def _losing(report: Report) -> Part:
    changes = [change for change in report.changes if change.section is Section.DESTRUCTIVE]
    owners = any(change.owner for change in changes)
    columns = ["resource", "what", "who reads it", *(["owner"] if owners else [])]
    return Part(
        noun="destructive or state-changing",
        head=_head(TITLES[Section.DESTRUCTIVE], columns),
        entries=tuple(
            _row(
                [
                    code(change.address),
                    f"{prose(change.what)}{_lost(change)}{_drifted(change)}",
                    _readers(change.readers) or (_NO_READER if _losses(change) else ""),
                    *([prose(change.owner)] if owners else []),
                ],
                [change.address],
            )
            for change in changes
        ),
        vital=True,
    )


def _losses(change: Change) -> list[WorkStep]:
    return [step for step in change.steps if step.effect is Effect.LOSES_DATA]


def _lost(change: Change) -> str:
    """The extent of each loss, from the first sentence of its reason: it decides, and no one opens the
    details for it.
    """
    firsts = (step.why.partition(". ")[0].removesuffix(".") for step in _losses(change))
    extents = dict.fromkeys(first[:1].upper() + first[1:] for first in firsts if first)
    return "".join(f". *{prose(extent)}.*" for extent in [*extents][:_FEW])


def _drifted(change: Change) -> str:
    """Names the changes from outside: a decision may depend on them."""
    return "".join(f"; drift: {prose(text)}" for text in change.drift[:_FEW])


def _readers(readers: Sequence[Reader]) -> str:
    return ", ".join(_reader(reader) for reader in readers[:10]) + (
        f" and {len(readers) - 10} more" if len(readers) > 10 else ""
    )


def _reader(reader: Reader) -> str:
    columns = ", ".join(code(name) for name in reader.columns[:10])
    beside = [
        *([columns] if columns else []),
        *([prose(reader.owner)] if reader.owner else []),
        *doubts(reader),
    ]
    return f"{code(reader.address)} ({'; '.join(beside)})" if beside else code(reader.address)


def _blocked(report: Report) -> Part:
    changes = [change for change in report.changes if change.section is Section.BLOCKED]
    return Part(
        noun="blocked",
        head=f"### {TITLES[Section.BLOCKED]}",
        entries=tuple(Entry(text=_blocked_text(change), names=(change.address,)) for change in changes),
        between="\n\n",
        vital=True,
    )


def _blocked_text(change: Change) -> str:
    beside = f" (owner: {prose(change.owner)})" if change.owner else ""
    read = f"\n\nRead by {_readers(change.readers)}." if change.readers else ""
    pieces = [f"**Blocked:** {code(change.address)}{beside}{_drifted(change)}{read}"]
    for blocker in change.blockers:
        pieces.append(f"**{prose(blocker.summary)}** [{code(blocker.code)}]: {prose(blocker.why, 1500)}")
        for way in blocker.ways_out:
            first, _, rest = way.partition("\n")
            pieces.append(f"- Way out: {prose(first, 1500)}")
            if rest.strip():
                pieces.append(fence(rest.split("\n")[:_MOST_LINES], "hcl"))
    return "\n\n".join(pieces)


def _policy(report: Report) -> Part:
    findings = () if report.policy is None else report.policy.findings
    columns = ["rule", "enforcement", "result", "resource", "why", "exception"]
    return Part(
        noun="rules of the team",
        head=_head("Rules of the team", columns),
        entries=tuple(
            _row(
                [
                    code(finding.name),
                    f"**{finding.enforcement.value}**" if finding.refuses else finding.enforcement.value,
                    finding.answer.value,
                    code(finding.address) if finding.address else "the plan",
                    prose(finding.message),
                    _exception(finding),
                ],
                [finding.address or finding.name],
            )
            for finding in sorted(findings, key=lambda finding: not finding.refuses)
        ),
        vital=True,
    )


def _exception(finding: Finding) -> str:
    if not finding.reason:
        return ""
    return (
        f"{'expired on' if finding.is_expired else 'until'} {prose(finding.expires)}: {prose(finding.reason)}"
    )


def _complaints(report: Report, severity: Severity) -> Part:
    title = "Errors" if severity is Severity.ERROR else "Warnings"
    entries = []
    for complaint in report.complaints:
        if complaint.severity is severity:
            where = f" {code(complaint.address)}" if complaint.address else ""
            detail = f": {prose(complaint.detail, 1500)}" if complaint.detail else ""
            text = f"- **{prose(complaint.summary)}** [{code(complaint.code)}]{where}{detail}"
            entries.append(Entry(text=text, names=(complaint.address or complaint.code,)))
    return Part(noun=title.lower(), head=f"### {title}\n", entries=tuple(entries))


def _restarts(report: Report) -> Part:
    alike: dict[tuple[str, ...], list[str]] = {}
    for change in report.changes:
        stop = change.interruption
        if stop is not None:
            state = "".join(map(_weighed, STATES[stop.state]))
            why = f"{prose(stop.why)}{_drifted(change)}"
            cells = (why, downtime(stop), replayed(stop, _FEW), state)
            alike.setdefault(cells, []).append(change.address)
    columns = ["resource", "why", "expected downtime", "replayed batch", "state"]
    return Part(
        noun="restarts and stops",
        head=_head(TITLES[Section.RESTARTS], columns),
        entries=tuple(_row([_names(addresses), *cells], addresses) for cells, addresses in alike.items()),
    )


def _maintenance(report: Report) -> Part:
    columns = ["resource", "task", "what", "forecast", "held by", "who reads it"]
    rows = [
        _row(
            [
                code(task.address),
                code(task.name),
                prose(task.what),
                ", ".join(f"{code(name)}: {number:,}" for name, number in [*task.forecast.items()][:10]),
                "; ".join(prose(holder) for holder in task.held[:_FEW])
                + (f"; and {len(task.held) - _FEW} more" if len(task.held) > _FEW else ""),
                _readers(task.readers),
            ],
            [task.address],
        )
        for task in report.maintenance
    ]
    head = _head("Maintenance due, which apply does as well", columns)
    return Part(noun="maintenance tasks", head=head, entries=tuple(rows))


def _others(report: Report) -> Part:
    by_address = {change.address: change for change in report.changes}
    entries = []
    for group in report.groups:
        change = by_address[group.addresses[0]]
        if group.section in (Section.OTHERS, Section.RESTARTS) and change.interruption is None:
            entries.append(Entry(text=_other(change, group), names=group.addresses))
    for output in report.outputs:
        text = f"- output {code(output.name)}: {code(output.line)}"
        entries.append(Entry(text=text, names=(f"output.{output.name}",)))
    return Part(noun="other changes", head=f"### {TITLES[Section.OTHERS]}\n", entries=tuple(entries))


def _other(change: Change, group: Group) -> str:
    count = len(group.addresses)
    owner = f" (owner: {prose(change.owner)})" if change.owner else ""
    read = f"; **read by** {_readers(change.readers)}" if change.readers else ""
    said = f"{prose(change.what)}{owner}{_drifted(change)}{read}"
    if count == 1:
        return f"- {code(change.address)}: {said}"
    return f"- {count} {prose(change.type)}s: {said} ({_names(group.addresses)})"


def _words(report: Report) -> Part:
    """The meaning of those effects in the report that are words of this program alone."""
    there = {step.effect for change in report.changes for step in change.steps}
    entries = (
        Entry(text=f"- {code(effect.value)}: {meaning}", names=(effect.value,))
        for effect, meaning in MEANINGS.items()
        if effect in there
    )
    return Part(noun="words", head="### Words\n", entries=tuple(entries))


def _diffs(report: Report) -> Part:
    by_address = {change.address: change for change in report.changes}
    entries = []
    for group in report.groups:
        change = by_address[group.addresses[0]]
        if change.diff or change.steps:
            entries.append(Entry(text=_diff(change, group.addresses), names=group.addresses))
    return Part(
        noun="changes in detail",
        head=_DETAILS.format("Changed attributes and steps"),
        entries=tuple(entries),
        tail="\n\n</details>",
        between="\n\n",
    )


def _diff(change: Change, addresses: Sequence[str]) -> str:
    pieces = [f"**{_names(addresses)}**"]
    if change.diff:
        pieces.append(fence(_cut(change.diff), "diff"))
    if change.steps:
        pieces.append(
            "\n".join(
                f"- {prose(step.text)} {code(step.effect.value)}{f': {prose(step.why)}' if step.why else ''}"
                for step in change.steps
            )
        )
    return "\n\n".join(pieces)


def _cut(lines: Sequence[str]) -> list[str]:
    more = [f"  ({len(lines) - _MOST_LINES} more lines)"] if len(lines) > _MOST_LINES else []
    return [*lines[:_MOST_LINES], *more]


def _picture(lineage: Lineage) -> Part:
    numbers = {node.address: f"n{number}" for number, node in enumerate(lineage.nodes)}
    lines = [
        "flowchart LR",
        *(
            f"  {numbers[node.address]}[{label(node.address)}]{':::touched' if node.reason else ''}"
            for node in lineage.nodes
        ),
        *(
            f"  {numbers[link.source]} {_ARROWS.get(link.relation, '-->')} {numbers[link.target]}"
            for link in lineage.links
        ),
        "  classDef touched stroke-width:4px",
    ]
    more = f"\n\n{lineage.left_out} more resources are not drawn." if lineage.left_out else ""
    text = f"{fence(lines, 'mermaid')}{more}"
    return Part(
        noun="pictures",
        single="the picture of the lineage",
        head="### Lineage of what changes\n",
        entries=(Entry(text=text, names=("lineage",)),) if lineage.links else (),
    )


def _head(title: str, columns: Sequence[str]) -> str:
    return f"### {title}\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def _row(cells: Iterable[str], names: Iterable[str]) -> Entry:
    return Entry(text=f"| {' | '.join(cells)} |", names=tuple(names))


def _names(addresses: Sequence[str]) -> str:
    named = ", ".join(code(address) for address in addresses[:_FEW])
    return f"{named} and {len(addresses) - _FEW} more" if len(addresses) > _FEW else named
