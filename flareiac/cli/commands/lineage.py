"""``lineage``: what is declared, for programs that collect lineage."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from flareiac.app.lineage import lineage as declared
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.render.openlineage import openlineage_events


def lineage(
    invocation: Invocation,
    *,
    openlineage: Annotated[
        bool, typer.Option("--openlineage", help="Events of OpenLineage, one JSON object a line.")
    ] = False,
    variables: VariableOptions,
) -> int:
    """Prints the declared datasets and jobs for programs that collect lineage."""
    if not openlineage:
        raise typer.BadParameter(
            "Write -openlineage for events of OpenLineage; flareiac graph -lineage draws a picture."
        )
    with opened(invocation, variables) as workspace:
        result = declared(workspace)
    complain(invocation.terminal, result.diagnostics, result.sources)
    if result.lineage is None:
        return ExitCode.ERROR
    time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for event in openlineage_events(result.lineage, time=time):
        invocation.terminal.out(write_json(event, ensure_ascii=False) + "\n")
    return ExitCode.DONE
