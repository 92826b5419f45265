"""``show``: a saved plan, or the state."""

from typing import Annotated

import typer

import flareiac
from flareiac.app.discovery import installed
from flareiac.app.plan_files import read_plan
from flareiac.app.prices import read_prices, with_costs
from flareiac.app.statistics import statistics
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.plan_options import Cost, DisplayOptions
from flareiac.cli.plan_output import print_plan_text
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.render.plan_json import plan_json
from flareiac.render.state_text import show_json, state_text
from flareiac.sdk.command_options import Json


def show(
    invocation: Invocation,
    *,
    file: Annotated[
        str | None, typer.Argument(help="A saved plan; without one, the state.", metavar="[PLAN]")
    ] = None,
    as_json: Json = False,
    display: DisplayOptions,
    cost: Cost = None,
) -> int:
    """Shows a plan where one is named, else the state."""
    if file is None:
        if cost:
            raise typer.BadParameter("-cost is about a saved plan, and none is named.")
        _show_state(invocation, as_json=as_json)
    else:
        _show_plan(invocation, file, display, as_json=as_json, cost=cost)
    return ExitCode.DONE


def _show_plan(
    invocation: Invocation, file: str, display: DisplayOptions, *, as_json: bool, cost: str | None
) -> None:
    prices = read_prices(invocation.root, cost) if cost else None
    terminal, plan = invocation.terminal, with_costs(read_plan(invocation.root, file), prices, cost)
    if as_json:
        schemas = installed().registry.schemas
        document = plan_json(plan, tool_version=flareiac.__version__, schemas=schemas)
        terminal.out(write_json(document, compact=True))
    else:
        print_plan_text(terminal, plan, display)
        complain(terminal, plan.diagnostics)


def _show_state(invocation: Invocation, *, as_json: bool) -> None:
    with opened(invocation) as workspace:
        snapshot = workspace.load_state().snapshot
        sheets = statistics(workspace, snapshot)
    statistics_of = {address: row for rows in sheets.values() for address, row in rows.items()}
    schemas = installed().registry.schemas
    if as_json:
        document = show_json(snapshot, schemas=schemas, statistics=statistics_of)
        invocation.terminal.out(write_json(document, indent=2))
    else:
        invocation.terminal.out(state_text(snapshot, schemas=schemas, statistics=statistics_of))
