"""``state recover``: brings in what an apply could not write to the state."""

from typing import Annotated

import typer

from flareiac.app.state.recover import RecoverReport, recover_state
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work

File = Annotated[str, typer.Argument(help="The file that the last line of the apply names.", metavar="FILE")]


def recover(invocation: Invocation, file: File) -> int:
    """Brings in what the state does not hold yet, and removes the file."""
    with locked_work(invocation) as work:
        report = recover_state(work.workspace, file, lock_timeout=work.lock_timeout, emit=work.emit)
    for line in _lines(report, file):
        invocation.terminal.out(line)
    return ExitCode.DONE


def _lines(report: RecoverReport, file: str) -> list[str]:
    held = report.records - report.added
    lines = [f"{report.added} of {report.records} records were added to the state; {file} is removed."]
    if held:
        lines.append(f"The state held {held} of them already.")
    if report.torn:
        lines.append("The last record of the file was cut off.")
    if report.open or report.torn:
        lines.append("The next flareiac apply finds out by reading how the last operations ended.")
    return lines
