"""The entry point: reads the command line as Terraform's users type it, runs one command, returns its exit code."""

import gc
import sys
from collections.abc import Sequence

from flareiac.cli import terminal
from flareiac.cli.exit_codes import ExitCode

_GLOBAL_VALUES = {"--chdir": "chdir", "--input": "input", "--lock-timeout": "lock_timeout"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def main() -> None:
    """Runs the command line of this process and exits."""
    # A command makes many records and drops few: the default thresholds spend half of its time on looking for garbage.
    gc.set_threshold(100_000, 50, 50)
    terminal.prepare()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code. Never raises for what a user did or a system answered."""
    given = _separate_globals(_two_dashes(arguments))
    if given is None:
        return int(ExitCode.USAGE)
    if given in (["version"], ["--version"]):
        import flareiac

        terminal.out(f"FlareIaC v{flareiac.__version__}")
        return int(ExitCode.DONE)
    from flareiac.cli.run_command import run_command

    return run_command(given)


def _two_dashes(arguments: Sequence[str]) -> list[str]:
    """``-out=x`` means ``--out=x``; one letter after one dash stays as it is."""
    return [
        f"-{item}" if len(item) > 2 and item[0] == "-" and item[1] != "-" and item[1].isalpha() and item[2:3] != "" else item
        for item in arguments
    ]


def _separate_globals(arguments: list[str]) -> list[str] | None:
    """Takes the options of every command out of the command line; None when one of them lacks its value or takes another."""
    found = terminal.Globals(command_line=tuple(arguments))
    rest: list[str] = []
    waiting = iter(arguments)
    for item in waiting:
        name, separator, value = item.partition("=")
        if item == "--no-color":
            found.no_color = True
        elif name in _GLOBAL_VALUES:
            text = value if separator else next(waiting, None)
            if text is None:
                terminal.say(f"Error: {name.lstrip('-')} needs a value, such as -{name.lstrip('-')}=...")
                return None
            if name == "--input" and text not in _BOOLEANS:
                terminal.say(f"Error: -input={text}: it is true or false.")
                return None
            _set(found, _GLOBAL_VALUES[name], text)
        else:
            rest.append(item)
    terminal.CURRENT = found
    return rest


def _set(found: terminal.Globals, name: str, text: str) -> None:
    match name:
        case "input":
            found.input = _BOOLEANS[text]
        case "chdir":
            found.chdir = text
        case _:
            found.lock_timeout = text
