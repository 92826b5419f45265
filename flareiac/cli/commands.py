"""The command tree. Only wiring: what a command does stands in its module, imported when it runs."""

import typer

from flareiac.cli import checkpoint, core, explain, importing, running, start, state, undrop
from flareiac.cli import table as tables
from flareiac.cli.exit_codes import table

GLOBAL_OPTIONS = (
    "Global options, of every command: -chdir=DIR works in another folder; -input=false never asks; -no-color; "
    "-lock-timeout=60s waits for the state lock."
)

app = typer.Typer(
    name="flareiac",
    help="Plan and apply for streaming lakehouses: streams, checkpoints, Iceberg tables and PySpark jobs in HCL.",
    epilog=f"{GLOBAL_OPTIONS} {table()}",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

for group in (start, core, running, importing, undrop, explain):
    group.register(app)
for command in (
    *app.registered_commands,
    *state.app.registered_commands,
    *checkpoint.app.registered_commands,
    *tables.app.registered_commands,
):
    command.epilog = GLOBAL_OPTIONS
app.add_typer(state.app, name="state")
app.add_typer(checkpoint.app, name="checkpoint")
app.add_typer(tables.app, name="table")
