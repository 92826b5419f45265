"""Commands that a provider adds to the command line: a declaration that costs nothing to read, and functions
that are imported when their command runs.

1. The package that the provider's entry point names has a module ``commands``. It imports this module alone,
   and declares the commands by their words::

       COMMANDS = {
           "thing": Group(
               "Look after things.",
               {"polish": Command("flareiac_toy.thing.commands:polish", "Polish a thing.")},
           ),
       }

2. ``flareiac --help`` imports that module, and the package's ``__init__`` with it: neither imports the
   provider.
3. The function takes a ``CommandLine`` (see ``flareiac.sdk.command_line``) and then its arguments and options
   as typer reads them from annotations. It prints through the command line, and returns nothing::

       def polish(line: CommandLine, address: Annotated[str, typer.Argument()]) -> None:
           with line.state_change("thing polish") as project:
               ...

   A ``Failure`` ends the command with its diagnostics and exit code 1. Options that mean the same everywhere
   stand in ``flareiac.sdk.command_options``.
"""

from collections.abc import Mapping
from typing import TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command. ``place``: ``module:function``, imported when the command runs."""

    place: str
    help: str
    reads_only: bool = False
    """True if it changes nothing: the first signal ends it."""
    json_lines: bool = False
    """True if its JSON is one object a line."""


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under one word."""

    help: str
    commands: Mapping[str, Command]


Commands: TypeAlias = Mapping[str, Command | Group]
"""Commands and groups by their word on the command line."""
