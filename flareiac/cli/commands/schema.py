"""``schema``: JSON schemas for editors, and for programs that read what the commands print."""

from typing import Annotated

import typer

from flareiac.app.schemas import LANGUAGE, schema_titles
from flareiac.app.schemas import schema as look_up
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.kernel.data import write_json
from flareiac.kernel.diagnostics import did_you_mean
from flareiac.sdk.command_options import Json

Name = Annotated[
    str | None,
    typer.Argument(help="The name of a schema. Without it and without -json, all names.", metavar="[NAME]"),
]


def schema(invocation: Invocation, name: Name = None, as_json: Json = False) -> int:
    """Prints a schema, or the names of all; ``-json`` alone prints that of the language."""
    terminal = invocation.terminal
    if name is None and not as_json:
        titles = schema_titles()
        width = max(map(len, titles))
        terminal.out("\n".join(f"{each:{width}}  {title}" for each, title in titles.items()))
        return ExitCode.DONE
    wanted = name or LANGUAGE
    document = look_up(wanted)
    if document is None:
        names = schema_titles()
        why = f'There is no schema "{wanted}".{did_you_mean(wanted, names)} There are {", ".join(names)}.'
        raise typer.BadParameter(why)
    terminal.out(write_json(document, indent=1))
    return ExitCode.DONE
