"""``state pull`` and ``state push``: the whole state as a document."""

import sys
from typing import Annotated

import typer

from flareiac.app.state.content import pull as pull_state
from flareiac.app.state.content import push as push_state
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work
from flareiac.cli.project import opened
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error

File = Annotated[
    str, typer.Argument(help="A file in the format of state pull; - reads standard input.", metavar="FILE|-")
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace the state even if FILE belongs to another state or is older than it."
    ),
]


def pull(invocation: Invocation) -> int:
    """Prints the state."""
    with opened(invocation) as workspace:
        pulled = pull_state(workspace)
    if pulled.interrupted:
        invocation.terminal.say(
            "Warning: an apply was interrupted, and some of what it did is not known yet. The next flareiac "
            "apply finds out."
        )
    if pulled.content:
        invocation.terminal.out_as_is(pulled.content.decode())
    else:
        invocation.terminal.say("There is no state yet: nothing was applied.")
    return ExitCode.DONE


def push(invocation: Invocation, file: File, force: Force = False) -> int:
    """Makes a document the state."""
    name = "standard input" if file == "-" else file
    content = _read(invocation, file, name)
    with locked_work(invocation) as work:
        done = push_state(
            work.workspace, content, name, force=force, lock_timeout=work.lock_timeout, emit=work.emit
        )
    invocation.terminal.out(done)
    return ExitCode.DONE


def _read(invocation: Invocation, file: str, name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else (invocation.root / file).read_bytes()
    except OSError as failure:
        why = f"{name}: {failure.strerror or failure}. Nothing was changed."
        raise Failure(error(codes.NOT_A_STATE_FILE, why)) from failure
