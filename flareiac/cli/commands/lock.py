"""``lock status`` and ``lock release``: who holds the state lock."""

from typing import Annotated

import typer

from flareiac.app.state.lock_control import lock_status, release_lock
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.render.lock_text import lock_json, lock_text
from flareiac.sdk.command_options import Json

LockId = Annotated[str, typer.Argument(help="The id that lock status shows.", metavar="ID")]


def status(invocation: Invocation, as_json: Json = False) -> int:
    """Shows who holds the lock."""
    with opened(invocation) as workspace:
        info = lock_status(workspace)
    if as_json:
        invocation.terminal.out(write_json(lock_json(info), indent=2))
    else:
        invocation.terminal.out(lock_text(info))
    return ExitCode.DONE if info is None else ExitCode.LOCKED


def release(invocation: Invocation, lock_id: LockId) -> int:
    """Takes the lock away from who holds it."""
    terminal = invocation.terminal
    with opened(invocation) as workspace:
        info = release_lock(workspace, lock_id)
    terminal.out(f"The state lock of {info.owner} on {info.host} ({info.operation}) is released.")
    terminal.say(
        f"Warning: if process {info.pid} on {info.host} is still at work, it can record nothing more, and "
        "stops at its next write. Make sure that it has ended before you apply; the next apply finds out "
        "what it did."
    )
    return ExitCode.DONE
