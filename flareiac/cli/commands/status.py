"""``status``: what the jobs are doing, and how the tables are kept."""

import json
import time
from typing import Annotated

import typer

from flareiac.app.inspect import status as job_rows
from flareiac.app.survey import surveys
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import invocation_of
from flareiac.cli.options import Json
from flareiac.cli.project import opened
from flareiac.render.status_text import status_json, status_text
from flareiac.render.survey_text import survey_json, survey_text


def status(
    context: typer.Context,
    as_json: Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Draw it again every two seconds.")] = False,
) -> int:
    """Shows the status once, or until it is interrupted."""
    invocation = invocation_of(context)
    terminal = invocation.terminal
    while True:
        with opened(invocation) as bench:
            snapshot = bench.load_state().snapshot
            rows, tables = job_rows(bench, snapshot), surveys(bench, snapshot)
        if as_json:
            terminal.out(json.dumps({**status_json(rows), "tables": survey_json(tables)}, indent=2))
        else:
            jobs = [status_text(rows, now=time.time())] if rows or not tables else []
            shown = [*jobs, *filter(None, [survey_text(tables, now=time.time())])]
            terminal.out("\n".join(shown))
        if not watch or invocation.cancel.wait(2.0):
            return ExitCode.DONE
