"""``explain``: the documentation on the terminal."""

from typing import Annotated

import typer

from flareiac.app.explain import everything
from flareiac.app.explain import explain as look_up
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.kernel.data import write_json
from flareiac.render.explain_text import explain_json, explain_text, list_json, list_text
from flareiac.render.markdown import terminal_text
from flareiac.sdk.command_options import Json

Name = Annotated[
    str | None,
    typer.Argument(
        help="A block, BLOCK.ATTRIBUTE, function, code, rule, setting or page. Without it, all names.",
        metavar="[NAME]",
    ),
]


def explain(invocation: Invocation, name: Name = None, as_json: Json = False) -> int:
    """Prints what a name stands for, or all names."""
    terminal = invocation.terminal
    if name is None:
        entries = everything()
        found, text = list_json(entries), list_text(entries)
    else:
        listed, entry = look_up(name)
        found, text = explain_json(listed, entry), explain_text(listed, entry)
    if as_json:
        terminal.out(write_json(found, indent=2))
    else:
        terminal.out_as_is(terminal_text(text, width=terminal.width(), colour=terminal.colour()))
    return ExitCode.DONE
