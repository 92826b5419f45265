"""``why``: what led to the plan of an address."""

from collections.abc import Sequence
from typing import Annotated

import typer

import flareiac
from flareiac.app.discovery import installed
from flareiac.app.plan_files import read_plan
from flareiac.app.why import addresses_in, block_places, quotable_rules
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import WorkOptions
from flareiac.cli.plan_options import PlanOptions, Refreshed
from flareiac.kernel.data import write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.model.plan import Plan
from flareiac.render.resource_text import Detail
from flareiac.render.why.content import Lookups, why_of
from flareiac.render.why.text import why_text
from flareiac.sdk.command_options import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of the answers."""

    as_json: Json = False
    detail: Annotated[
        Detail, typer.Option("--detail", help="How much is shown: summary, changes or full.")
    ] = "changes"


def why(
    invocation: Invocation,
    *,
    addresses: Annotated[
        list[str],
        typer.Argument(
            help="An address, a block with all of its instances, or a glob, as -target takes it.",
            metavar="ADDRESS...",
        ),
    ],
    file: Annotated[
        str | None,
        typer.Option("--plan", help="Answer from this saved plan alone; no system and no state is read."),
    ] = None,
    form: Form,
    refresh: Refreshed = "changed",
    work: WorkOptions,
) -> int:
    """Prints the answers, from a saved plan or from one that is made for them."""
    types, rules = installed().registry.types, quotable_rules()
    if file is not None:
        lookups = Lookups(types=types, rules=rules, saved_in=file)
        _print(invocation, read_plan(invocation.root, file), addresses, lookups, form)
        return ExitCode.DONE
    # Imported here: a saved plan is answered from without what makes one.
    from flareiac.app.plan import plan as make_plan
    from flareiac.cli.project import opened

    with opened(invocation, work, work.parallelism) as workspace:
        report = make_plan(workspace, PlanOptions(refresh=refresh).request())
    if report.plan is not None:
        lookups = Lookups(types=types, rules=rules, places=block_places(report.configuration))
        _print(invocation, report.plan, addresses, lookups, form)
    complain(invocation.terminal, report.diagnostics, report.sources)
    return ExitCode.ERROR if report.plan is None or report.diagnostics.has_errors else ExitCode.DONE


def _print(
    invocation: Invocation, plan: Plan, addresses: Sequence[str], lookups: Lookups, form: Form
) -> None:
    terminal = invocation.terminal
    answers = why_of(plan, addresses_in(plan, addresses), lookups, tool_version=flareiac.__version__)
    if form.as_json:
        terminal.out(write_json(encode(answers), indent=2))
        return
    text = why_text(
        answers,
        plan,
        colour=terminal.colour(),
        width=terminal.width(),
        types=lookups.types,
        detail=form.detail,
    )
    terminal.out(text)
