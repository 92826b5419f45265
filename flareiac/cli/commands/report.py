"""``report``: a saved plan for those who review it, or what runs."""

import time
from typing import Annotated, Literal, TypeAlias

import typer

import flareiac
from flareiac.app.discovery import installed
from flareiac.app.plan_files import read_plan
from flareiac.app.prices import read_prices, with_costs
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import Project
from flareiac.cli.plan_options import Cost
from flareiac.kernel.data import write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.render.report.content import report_of
from flareiac.render.report.html import PICTURE, report_html
from flareiac.render.report.json import report_json
from flareiac.render.report.lineage import FOR_A_COMMENT
from flareiac.render.report.markdown import LEAST_CHARACTERS, MOST_CHARACTERS, report_markdown

Format: TypeAlias = Literal["markdown", "json", "html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOptions:
    """The options of the markdown."""

    max_chars: Annotated[
        int,
        typer.Option(
            "--max-chars",
            min=LEAST_CHARACTERS,
            help="The most characters of the markdown. What is left out is counted and named.",
        ),
    ] = MOST_CHARACTERS
    project: Project = ""


def report(
    invocation: Invocation,
    *,
    file: Annotated[
        str | None, typer.Argument(help="A saved plan.", metavar="PLAN", show_default=False)
    ] = None,
    state: Annotated[
        bool, typer.Option("--state", help="Instead of a plan, what runs: a page (-format=html).")
    ] = False,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="markdown (a comment for a pull request, the default of a plan), html (a page) or json.",
            show_default=False,
        ),
    ] = None,
    comment: CommentOptions,
    cost: Cost = None,
) -> int:
    """Prints the report; that of a plan that is blocked, or has errors, too."""
    if state:
        if file is not None:
            raise typer.BadParameter("-state takes no plan: it shows what runs.")
        if form not in (None, "html"):
            raise typer.BadParameter(
                f"-state prints -format=html alone, not {form}: status -json and show -json have the rest."
            )
        if cost:
            raise typer.BadParameter("-cost is about a plan, and -state takes none.")
        _report_state(invocation)
    elif file is None:
        raise typer.BadParameter("Missing argument 'PLAN'; -state shows what runs.")
    else:
        _report_plan(invocation, file, form or "markdown", comment, cost)
    return ExitCode.DONE


def _report_plan(
    invocation: Invocation, file: str, form: Format, comment: CommentOptions, cost: str | None
) -> None:
    prices = read_prices(invocation.root, cost) if cost else None
    # The plan has no name here, so that its memory is free once the content is made.
    content = report_of(
        with_costs(read_plan(invocation.root, file), prices, cost),
        tool_version=flareiac.__version__,
        types=installed().registry.types,
        picture=PICTURE if form == "html" else FOR_A_COMMENT,
    )
    if form == "html":
        # The texts in it are printable and masked; its script would not run if anything of it were replaced.
        invocation.terminal.out_as_is(report_html(content))
    elif form == "json":
        invocation.terminal.out(write_json(report_json(content), compact=True))
    else:
        invocation.terminal.out(report_markdown(content, comment.max_chars, project=comment.project))


def _report_state(invocation: Invocation) -> None:
    # Imported here: the report of a plan asks the world nothing, and is short of memory.
    from flareiac.app.inspect import status as running
    from flareiac.app.service_levels import outside_readers
    from flareiac.app.statistics import statistics
    from flareiac.app.usages import recorded_usages
    from flareiac.cli.project import opened
    from flareiac.render.report.state_content import Seen, state_report_of
    from flareiac.render.report.state_html import state_html

    with opened(invocation) as workspace:
        snapshot = workspace.load_state().snapshot
        seen = Seen(
            time=time.time(),
            running=running(workspace, snapshot),
            statistics=statistics(workspace, snapshot),
            usages=recorded_usages(workspace, snapshot),
            readers=outside_readers(workspace, snapshot),
        )
        content = state_report_of(
            snapshot,
            seen,
            tool_version=flareiac.__version__,
            workspace=workspace.project.workspace,
            picture=PICTURE,
        )
    invocation.terminal.out_as_is(state_html(content))
