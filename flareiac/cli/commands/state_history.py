"""``state history`` and ``state rollback``: earlier states."""

from typing import Annotated

import typer

from flareiac.app.state.history import history as kept
from flareiac.app.state.history import rollback as go_back
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.model.history import Difference, Earlier
from flareiac.render.history_text import difference_text, history_json, history_text
from flareiac.sdk.command_options import AutoApprove, Json
from flareiac.sdk.state import Damaged

Wanted = Annotated[
    str,
    typer.Argument(
        help="The serial or the name of an earlier state, see state history.", metavar="SERIAL|NAME"
    ),
]


def history(invocation: Invocation, as_json: Json = False) -> int:
    """Lists the earlier states that are kept."""
    with opened(invocation) as workspace:
        current, earlier = kept(workspace)
    if as_json:
        invocation.terminal.out(write_json(history_json(current, earlier), indent=2))
    else:
        invocation.terminal.out(history_text(current, earlier, width=invocation.terminal.columns()))
    return ExitCode.DONE


def rollback(invocation: Invocation, wanted: Wanted, auto_approve: AutoApprove = False) -> int:
    """Records an earlier state again."""
    terminal = invocation.terminal

    def approve(chosen: Earlier, difference: Difference | Damaged) -> bool:
        terminal.out(difference_text(difference, chosen.serial))
        return auto_approve or terminal.ask("\nDo you want to record this?", way_out="Use -auto-approve.")

    with locked_work(invocation) as work:
        serial = go_back(
            work.workspace, wanted, approve=approve, lock_timeout=work.lock_timeout, emit=work.emit
        )
    if serial is None:
        return ExitCode.CANCELLED
    terminal.out(f"\nThe state is recorded as it was, with the serial {serial}. Run flareiac plan.")
    return ExitCode.DONE
