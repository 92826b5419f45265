"""``new``: a first project."""

from contextlib import suppress
from typing import Annotated

import typer

from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.config.files import is_configuration

FIRST_PROJECT = """\
# A first project: a stream of made-up rows into an Iceberg table, on the embedded engine and catalog.

table "readings" {
  namespace = "demo"
  column "ts" { type = "timestamptz" }
  column "value" { type = "long" }
  partition_by = [day("ts")]
}

stream "ticks" {
  rate { rows_per_second = 5 }
}

checkpoint "readings" {}

job "readings" {
  checkpoint = checkpoint.readings
  trigger    = { processing_time = "2s" }
  input "ticks" { stream = stream.ticks }
  step "read" {
    sql = "SELECT timestamp AS ts, value FROM ticks"
  }
  output "readings" { table = table.readings }
}
"""

_IGNORED = """\
# State of this copy of the project, control directories, logs, the embedded catalog and its tables
.flareiac/
# Saved plans, which may hold settings that others must not see
*.plan
plan.json
"""


def new(
    invocation: Invocation, directory: Annotated[str, typer.Argument(help="Where to put it.")] = "."
) -> int:
    """Writes the project into a directory that holds none."""
    terminal, root = invocation.terminal, invocation.root / directory
    target = root / "main.flare.hcl"
    if root.is_dir() and any(is_configuration(file.name) for file in root.iterdir()):
        terminal.say(f"Error: {root} holds a project already. Give the name of a new directory.")
        return ExitCode.ERROR
    try:
        root.mkdir(parents=True, exist_ok=True)
        target.write_text(FIRST_PROJECT, encoding="utf-8")
        with suppress(FileExistsError), (root / ".gitignore").open("x", encoding="utf-8") as ignored:
            ignored.write(_IGNORED)
    except OSError as problem:
        terminal.say(f"Error: {target} cannot be written: {problem.strerror}.")
        return ExitCode.ERROR
    where = "" if root == invocation.root else f" -chdir={directory}"
    terminal.out(f"Wrote {target}.\nNext: flareiac{where} init, then plan and apply.")
    return ExitCode.DONE
