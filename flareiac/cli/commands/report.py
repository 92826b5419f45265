"""``report``: a saved plan, for those who review it."""

from typing import Annotated, Literal, TypeAlias

import typer

import flareiac
from flareiac.app.discovery import installed
from flareiac.app.plan_files import read_plan
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.kernel.data import write_json
from flareiac.render.report.content import report_of
from flareiac.render.report.html import PICTURE, report_html
from flareiac.render.report.json import report_json
from flareiac.render.report.lineage import FOR_A_COMMENT
from flareiac.render.report.markdown import LEAST_CHARACTERS, MOST_CHARACTERS, report_markdown

Format: TypeAlias = Literal["markdown", "json", "html"]


def report(
    invocation: Invocation,
    *,
    file: Annotated[str, typer.Argument(help="A saved plan.", metavar="PLAN")],
    form: Annotated[
        Format,
        typer.Option("--format", help="markdown (a comment for a pull request), html (a page) or json."),
    ] = "markdown",
    max_chars: Annotated[
        int,
        typer.Option(
            "--max-chars",
            min=LEAST_CHARACTERS,
            help="The most characters of the markdown. What is left out is counted and named.",
        ),
    ] = MOST_CHARACTERS,
) -> int:
    """Prints the report; that of a plan that is blocked, or has errors, too."""
    plan = read_plan(invocation.root, file)
    picture = PICTURE if form == "html" else FOR_A_COMMENT
    types = installed().registry.types
    content = report_of(plan, tool_version=flareiac.__version__, types=types, picture=picture)
    if form == "html":
        invocation.terminal.out_as_is(report_html(content))
    elif form == "json":
        invocation.terminal.out(write_json(report_json(content), compact=True))
    else:
        invocation.terminal.out(report_markdown(content, max_chars))
    return ExitCode.DONE
