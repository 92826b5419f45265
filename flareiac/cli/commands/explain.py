"""``explain``: the documentation on the terminal."""

from typing import Annotated

import typer

from flareiac.app.explain import Explained, everything
from flareiac.app.explain import explain as look_up
from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import CORE
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.other_tools import SUBSTITUTES
from flareiac.config.blocks import instead_of
from flareiac.config.entries import Page
from flareiac.kernel.data import write_json
from flareiac.render.explain_text import explain_json, explain_text, list_json, list_text
from flareiac.render.markdown import terminal_text
from flareiac.sdk.command_options import Json
from flareiac.sdk.commands import Group

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
        document, text = list_json(entries), list_text(entries)
    else:
        explained = _command(name) or look_up(name)
        spread = (explained.name, explained.entry, explained.also)
        document, text = explain_json(*spread), explain_text(*spread)
    if as_json:
        terminal.out(write_json(document, indent=2))
    else:
        terminal.out_as_is(terminal_text(text, width=terminal.width(), colour=terminal.colour()))
    return ExitCode.DONE


def _command(name: str) -> Explained | None:
    """A command that is nothing else beside: blocks are called ``import`` and ``output``, too."""
    words = name.removeprefix("flareiac ").split()
    command = {**CORE, **provided_commands()}.get(words[0]) if words else None
    if isinstance(command, Group) and len(words) > 1:
        command = command.commands.get(words[1])
    if command is None and len(words) == 1 and words[0] in SUBSTITUTES and instead_of(words[0]) is None:
        text = f"There is no command `{words[0]}`. {SUBSTITUTES[words[0]]}\n"
        return Explained(name=name, entry=Page(title=name, text=text))
    if command is None or name in everything():
        return None
    line = f"flareiac {' '.join(words)}"
    text = f"`{line}`\n\n{command.help}\n\nIts options: `{line} -help`.\n"
    return Explained(name=name, entry=Page(title=name, text=text))
