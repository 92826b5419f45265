"""``adopt``: takes over into the files what changed outside of FlareIaC. ``drift`` itself never writes."""

from typing import Annotated

import typer

from flareiac.app.adopt import Adoption
from flareiac.app.adopt import adopt as adoption_of
from flareiac.app.source_files import write_texts
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import lock_timeout
from flareiac.cli.options import WorkOptions
from flareiac.cli.plan_options import PlanOptions
from flareiac.cli.project import opened
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.planning.make_plan import Maintenance
from flareiac.render.control_characters import printable
from flareiac.render.unified_diff import differences
from flareiac.sdk.command_options import AutoApprove

_WAY_OUT = "Use -auto-approve to write what is shown above."


def adopt(
    invocation: Invocation,
    *,
    place: Annotated[
        str,
        typer.Argument(
            help="An address of the state, or an attribute of it as drift prints it.",
            metavar="ADDRESS[.ATTRIBUTE]",
        ),
    ],
    auto_approve: AutoApprove = False,
    work: WorkOptions,
) -> int:
    """Shows the new lines and writes them once they are approved."""
    terminal = invocation.terminal
    request = PlanOptions(refresh="full", maintenance=Maintenance.EXCLUDE).request()
    with opened(invocation, work, work.parallelism) as workspace:
        adoption = adoption_of(workspace, place, request, timeout=lock_timeout(invocation))
    complain(terminal, adoption.diagnostics, adoption.sources)
    if adoption.is_at_work:
        return ExitCode.LOCKED
    if adoption.diagnostics.has_errors:
        return ExitCode.ERROR
    _show_left(invocation, adoption)
    for text in adoption.there:
        terminal.say(printable(f"{text}. The files say so already: the next apply records it."))
    if not adoption.texts:
        return ExitCode.ERROR if adoption.left else ExitCode.DONE
    for line in differences(adoption.sources, adoption.texts):
        terminal.out(printable(line))
    names = ", ".join(sorted(adoption.texts))
    if not auto_approve and not terminal.ask(f"\nWrite these lines to {names}?", _WAY_OUT):
        terminal.say("Nothing was written.")
        return ExitCode.CANCELLED
    write_texts(invocation.root, adoption.sources, adoption.texts)
    terminal.out(f"\nWrote {names}. Next: flareiac plan shows what is left, flareiac apply records it.")
    return ExitCode.ERROR if adoption.left else ExitCode.DONE


def _show_left(invocation: Invocation, adoption: Adoption) -> None:
    diagnostics = Diagnostics()
    diagnostics.extend(adoption.left)
    complain(invocation.terminal, diagnostics, adoption.sources)
