"""``init``: the place of the state, proven, and what the project needs, fetched."""

from typing import Annotated

import typer

from flareiac.app.setup import declared, initialise
from flareiac.app.state_place.setup import Change, StateRequest
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import lock_timeout
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.kernel.diagnostics import Diagnostics


def init(
    invocation: Invocation,
    *,
    backend_config: Annotated[
        list[str] | None,
        typer.Option(
            "--backend-config",
            help="A setting that the backend block leaves out: name=value, or a file of them. May be "
            "repeated.",
            metavar="K=V|FILE",
        ),
    ] = None,
    migrate_state: Annotated[
        bool,
        typer.Option("--migrate-state", help="Move the state of every workspace from where it was last."),
    ] = False,
    reconfigure: Annotated[
        bool,
        typer.Option(
            "--reconfigure", help="Use the place as it is, and forget where the state was and what it was."
        ),
    ] = False,
    upgrade: Annotated[
        bool,
        typer.Option(
            "--upgrade",
            help="Lock the versions that this release of FlareIaC runs with, instead of those that are "
            "locked. The next plan shows what restarts for it.",
        ),
    ] = False,
    variables: VariableOptions,
) -> int:
    """Sets up the state, then lets every provider fetch what the configuration needs."""
    if migrate_state and reconfigure:
        raise typer.BadParameter("-migrate-state and -reconfigure exclude each other.")
    diagnostics = Diagnostics()
    terminal = invocation.terminal
    request = StateRequest(
        given=backend_config or (),
        change=Change.MIGRATE if migrate_state else Change.RECONFIGURE if reconfigure else Change.REFUSE,
        lock_timeout=lock_timeout(invocation),
    )
    with opened(invocation, variables) as workspace:
        where = workspace.set_up_state(request, terminal.say)
        terminal.out(f"State: {where}, workspace {workspace.workspace}.")
        configuration, references = declared(workspace, diagnostics)
        complain(terminal, diagnostics, configuration.sources)
        if diagnostics.has_errors:
            return ExitCode.ERROR
        warnings = Diagnostics()
        for line in initialise(workspace, references, terminal.say, warnings, upgrade=upgrade):
            terminal.out(line)
        complain(terminal, warnings, configuration.sources)
    terminal.out("FlareIaC is initialised here.")
    return ExitCode.DONE
