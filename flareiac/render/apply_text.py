"""Renders the events of an apply, line by line, and its result, in Terraform's words where tools look for
them.
"""

from collections.abc import Collection, Mapping, Sequence

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.elapsed import elapsed_text
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.desired import OutputValue
from flareiac.model.events import (
    Completed,
    Event,
    Failed,
    Note,
    Progressed,
    Skipped,
    Started,
    is_cancelled,
)
from flareiac.model.plan import Operation, Plan, Verb
from flareiac.render.control_characters import printable
from flareiac.render.counts import applied, changes_of
from flareiac.render.output_text import outputs_text
from flareiac.render.style import Style, Tone

_DOING = {
    Verb.CREATE: "Creating",
    Verb.ADOPT: "Importing",
    Verb.UPDATE: "Modifying",
    Verb.DELETE: "Destroying",
    Verb.FORGET: "Forgetting",
    Verb.RECORD: "Recording",
    Verb.QUIESCE: "Stopping",
    Verb.STAGE: "Working",
    Verb.MAINTAIN: "Maintaining",
}
_DONE = {
    Verb.CREATE: "Creation",
    Verb.ADOPT: "Import",
    Verb.UPDATE: "Modifications",
    Verb.DELETE: "Destruction",
    Verb.FORGET: "Forgetting",
    Verb.RECORD: "Recording",
    Verb.QUIESCE: "Stopping",
    Verb.MAINTAIN: "Maintenance",
}
PATIENCE = 10.0
"""Seconds after which an operation that is still at work is worth a line."""


def event_line(event: Event, colour: bool, *, every: bool = False) -> str | None:
    """The line (or lines) for one event; None for what no one needs to read, such as a bare update of the
    state. ``every`` leaves out nothing but phases.
    """
    style = Style(colour)
    name = "" if isinstance(event, Note) else operation_name(event.operation)
    match event:
        case Started(operation=operation):
            return (
                None
                if _needs_no_line(operation) and not every
                else style.strong(f"{name}: {doing(operation)}...")
            )
        # A phase, and no news
        case Progressed(elapsed=elapsed, message=message) if elapsed < PATIENCE and " " not in message:
            return None
        case Progressed(operation=operation, message=message, elapsed=elapsed):
            detail = f" {printable(message)}" if message else ""
            return (
                f"{name}: Still {_DOING[operation.verb].lower()}... [{elapsed_text(elapsed)} elapsed]{detail}"
            )
        case Completed():
            left_out = _needs_no_line(event.operation) and not event.messages
            return None if left_out and not every else _completed(event, style)
        case Failed(operation=operation, diagnostics=diagnostics) if is_cancelled(diagnostics):
            return style.paint(f"{name}: {doing(operation)} cancelled, not confirmed", Tone.CHANGE)
        case Failed(operation=operation, elapsed=elapsed, diagnostics=diagnostics):
            why = f": {printable(diagnostics[0].summary)}" if diagnostics else ""
            return style.paint(
                f"{name}: {_done(operation)} errored after {elapsed_text(elapsed)}{why}", Tone.REMOVE
            )
        case Skipped(operation=operation, reason=reason):
            return style.paint(f"{name}: Skipped ({_what(operation)}): {printable(reason)}", Tone.CHANGE)
        case Note(message=message):
            return printable(message)


def _completed(event: Completed, style: Style) -> str:
    operation = event.operation
    how = (
        "was completed by the interrupted apply"
        if event.resumed
        else f"complete after {elapsed_text(event.elapsed)}"
    )
    lines = [style.strong(f"{operation_name(operation)}: {_done(operation)} {how}")]
    return "\n".join([*lines, *(f"  {printable(message)}" for message in event.messages)])


def _needs_no_line(operation: Operation) -> bool:
    """Returns True for what only records, and for the stage that starts a resource: the operation after it
    waits until it runs. Any other stage, such as the copy of a checkpoint, may take minutes.
    """
    starts = operation.verb is Verb.STAGE and operation.text == f"start {operation.address}"
    return starts or operation.verb is Verb.RECORD


def operation_name(operation: Operation) -> str:
    """The address, with the kind of maintenance where it is one."""
    return printable(f"{operation.address} ({operation.task})" if operation.task else operation.address)


def doing(operation: Operation) -> str:
    """Returns the words for an operation while it runs: ``Creating``, or the words of a stage."""
    return _DOING[operation.verb] if operation.verb is not Verb.STAGE else _sentence(operation.text)


def _done(operation: Operation) -> str:
    return _DONE[operation.verb] if operation.verb is not Verb.STAGE else f"{_sentence(operation.text)}:"


def _what(operation: Operation) -> str:
    return operation.verb.value if operation.verb is not Verb.STAGE else printable(operation.text)


def _sentence(text: str) -> str:
    return printable(text[:1].upper() + text[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedOperations:
    """The ids of the operations of an apply, by their ends. ``unconfirmed``: those that were cancelled."""

    done: Collection[str] = ()
    failed: Collection[str] = ()
    unconfirmed: Collection[str] = ()
    skipped: Collection[str] = ()


def apply_summary(
    plan: Plan,
    ended: EndedOperations,
    *,
    outputs: Mapping[str, OutputValue] | None = None,
    colour: bool = False,
) -> str:
    """Says how an apply ended; the outputs follow when it was complete."""
    style = Style(colour)
    totals = applied(plan, ended.done)
    if ended.failed or ended.unconfirmed or ended.skipped:
        failed, unconfirmed, done = set(ended.failed), set(ended.unconfirmed), set(ended.done)
        changes = changes_of(plan.operations).values()
        complete = sum(ids <= done for ids in changes)
        broken = sum(bool(ids & failed) for ids in changes)
        open_ = sum(bool(ids & unconfirmed) and not ids & failed for ids in changes)
        cancelled = f"{open_} cancelled, not confirmed, " if open_ else ""
        line = (
            f"Apply incomplete: {complete} done, {broken} failed, {cancelled}"
            f"{len(changes) - complete - broken - open_} skipped."
        )
        after = "What was done is recorded; the next plan shows what is left."
        return f"\n{style.paint(line, Tone.REMOVE)} {after}\n"
    imports = f"{totals.imported} imported, " if totals.imported else ""
    word = "Destroy" if plan.destroy else "Apply"
    line = (
        f"{word} complete! Resources: {imports}{totals.add} added, {totals.change} changed, "
        f"{totals.destroy} destroyed."
    )
    beside = (("Restarted", totals.restart), ("Forgotten", totals.forget), ("Maintained", totals.due))
    line += "".join(f" {name}: {number}." for name, number in beside if number)
    shown = f"\nOutputs:\n\n{outputs_text(outputs)}" if outputs else ""
    return f"\n{style.paint(line, Tone.ADD)}\n{shown}"


def stale_diagnostic(rows: Sequence[tuple[str, str, str, str]]) -> Diagnostic:
    """``stale_text`` as one complaint, for machines."""
    changes = "; ".join(
        f"{address}: {what}: when planned {planned}, now {now}" for address, what, planned, now in rows
    )
    return error(codes.PLAN_STALE, f"{changes}. Nothing was started. Make a new plan and review it.")


def cancelled_text(diagnostics: Sequence[Diagnostic]) -> str:
    """Returns the operations that the user's own cancelling left unconfirmed, in one line; empty where there
    are none.
    """
    unconfirmed: dict[str, dict[str, None]] = {}
    for diagnostic in diagnostics:
        if diagnostic.cancelled and diagnostic.address is not None:
            unconfirmed.setdefault(diagnostic.summary.removeprefix(f"{diagnostic.address} "), {})[
                diagnostic.address
            ] = None
    sentences = [
        f"{summary[:1].upper()}{summary[1:]}: {printable(', '.join(names))}."
        for summary, names in unconfirmed.items()
    ]
    return f"Cancelled. {' '.join(sentences)} flareiac plan shows what is left." if sentences else ""


def stale_text(rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Renders what moved since a plan was made. Each row: address, what, how the plan knew it, how it is
    now.
    """
    lines = ["Error: The plan is stale: what it relied on has changed, so nothing was started.", ""]
    for address, what, planned, now in rows:
        lines.append(f"  {printable(address)}: {printable(what)}")
        lines.extend([f"    when planned: {printable(planned)}", f"    now:          {printable(now)}"])
    return "\n".join([*lines, "", "Make a new plan and review it."]) + "\n"
