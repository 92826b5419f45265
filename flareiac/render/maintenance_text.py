"""Maintenance for people: what is due, what it is expected to do, who holds something back; and in few words
what is not due.
"""

from collections.abc import Iterator, Sequence

from flareiac.model.plan import Plan, PlannedTask
from flareiac.render.control_characters import printable
from flareiac.render.readers_text import readers_text
from flareiac.render.resource_text import RenderOptions, labelled, wrapped


def due_section(plan: Plan, look: RenderOptions) -> list[str]:
    """The section, or nothing where no maintenance is declared. What is not due is counted, and reported with
    ``detail = "full"``.
    """
    due = [task for task in plan.tasks if task.task.due]
    rest = [task for task in plan.tasks if not task.task.due]
    held = [task for task in rest if task.task.held]
    shown = rest if look.detail == "full" else held
    lines = [line for task in due for line in _entry(task, look)]
    quiet = [look.style.quiet(line) for task in shown for line in _entry(task, look)]
    left = len(rest) - len(shown)
    if left and (lines or quiet):
        others = "other kind of maintenance is" if left == 1 else "other kinds of maintenance are"
        quiet.append(look.style.quiet(f"  {left} {others} not due (-detail=full tells why)"))
    if not lines and not quiet:
        return []
    return ["\n".join([look.style.strong(_title(plan, due)), "", *lines, *quiet])]


def _title(plan: Plan, due: Sequence[PlannedTask]) -> str:
    """Names the command that runs what is due, so that no one reads the section as work for somebody else."""
    if not due:
        return "Not due yet:"
    if plan.blocked or plan.errored:
        return "Due:"
    also = "also " if plan.changes or plan.output_changes else ""
    return f"Maintain {also}runs:" if plan.maintenance_only else f"Apply {also}runs:"


def _entry(planned_task: PlannedTask, look: RenderOptions) -> Iterator[str]:
    task, mark = planned_task.task, "*" if planned_task.task.due else "#"
    text, first, following = f"{planned_task.address}: {task.name}: {task.summary}", f"  {mark} ", "      "
    if task.effect is None:
        yield wrapped(printable(text), look.width, first, following)
    else:
        yield labelled(text, task.effect, look, first, following)
    if task.readers:
        yield wrapped(printable(readers_text(task.readers)), look.width, "      # ", "      #   ")
    for holder in task.held:
        yield wrapped(printable(f"held: {holder}"), look.width, "      # ", "      #   ")
