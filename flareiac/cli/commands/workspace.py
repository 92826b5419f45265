"""``workspace``: several states of one project."""

import os
from typing import Annotated

import typer

from flareiac.app.state import workspaces as use_cases
from flareiac.app.state_place.selection import VARIABLE, choose, selection
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.sdk.command_options import Json

Name = Annotated[str, typer.Argument(help="The name of a workspace.", metavar="NAME")]


def list_(invocation: Invocation, as_json: Json = False) -> int:
    """Lists the workspaces; a star marks the one at work."""
    terminal = invocation.terminal
    with opened(invocation) as workspace:
        workspaces = use_cases.workspaces(workspace)
    selected = workspaces.selected
    if as_json:
        document = {
            "format_version": "1.0",
            "workspaces": list(workspaces.names),
            "selected": selected.name,
            "selected_by": VARIABLE if selected.by_variable else None,
        }
        terminal.out(write_json(document, indent=2))
        return ExitCode.DONE
    for name in workspaces.names:
        terminal.out(f"{'*' if name == selected.name else ' '} {name}")
    if selected.by_variable:
        terminal.say(f"{VARIABLE}={selected.name} wins over what workspace select chose.")
    if not workspaces.exists:
        terminal.say(
            f"There is no workspace {selected.name}, which is selected: flareiac workspace new "
            f"{selected.name} makes it."
        )
    return ExitCode.DONE


def show(invocation: Invocation) -> int:
    """Prints the name of the workspace that commands work in."""
    invocation.terminal.out(selection(invocation.root, os.environ).name)
    return ExitCode.DONE


def new(invocation: Invocation, name: Name) -> int:
    """Makes a workspace and selects it."""
    terminal = invocation.terminal
    with locked_work(invocation) as work:
        use_cases.make(work.workspace, name, timeout=work.lock_timeout, emit=work.emit)
        terminal.out(f"Made the workspace {name}. It manages nothing yet.")
        _use(invocation, name)
    return ExitCode.DONE


def select(
    invocation: Invocation,
    name: Name,
    or_create: Annotated[
        bool, typer.Option("--or-create", help="Make the workspace where there is none.")
    ] = False,
) -> int:
    """Works in another workspace from now on."""
    if or_create:
        with opened(invocation) as workspace:
            missing = name not in use_cases.workspaces(workspace).names
        if missing:
            return new(invocation, name)
    with opened(invocation) as workspace:
        use_cases.select(workspace, name)
    invocation.terminal.out(f"Commands work in the workspace {name} from now on.")
    return ExitCode.DONE


def delete(
    invocation: Invocation,
    name: Name,
    force: Annotated[
        bool,
        typer.Option("--force", help="Delete it although it manages resources, which stay as they are."),
    ] = False,
) -> int:
    """Deletes a workspace, with the history of its state."""
    with opened(invocation) as workspace:
        count = use_cases.delete(workspace, name, force=force)
    left = f" {_stay(count)}, and nothing manages them any more." if count else ""
    invocation.terminal.out(f"Deleted the workspace {name}.{left}")
    return ExitCode.DONE


def _stay(count: int) -> str:
    return "1 resource stays as it is" if count == 1 else f"{count} resources stay as they are"


def _use(invocation: Invocation, name: str) -> None:
    """Selects a workspace, unless the environment variable says which one is at work."""
    terminal = invocation.terminal
    selected = selection(invocation.root, os.environ)
    if selected.by_variable:
        wins = "" if selected.name == name else f" and not {name}"
        terminal.say(f"{VARIABLE} is set: commands work in the workspace {selected.name}{wins}.")
        return
    choose(invocation.root, name)
    terminal.out(f"Commands work in the workspace {name} from now on.")
