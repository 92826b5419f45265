"""The entry point: reads the command line as Terraform's users type it, and runs one command."""

import gc
import sys
from collections.abc import Sequence

import flareiac
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.terminal import Terminal, prepare_output

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def main() -> None:
    """Runs the command line of this process and exits."""
    # A command makes many records and drops few: with the default thresholds, the search for garbage takes
    # half of its time.
    gc.set_threshold(100_000, 50, 50)
    prepare_output()
    code = run(sys.argv[1:])
    gc.freeze()  # else the interpreter searches all of them once more before it ends
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code. Never raises for what a user did or a system answered."""
    typed = _two_dashes(arguments)
    values = {"--chdir": "", "--lock-timeout": "0s", "--input": "true", "--reason": ""}
    terminal = Terminal(no_color="--no-color" in typed)
    given = _without_globals(typed, values, terminal)
    if given is None:
        return int(ExitCode.USAGE)
    terminal.may_ask = _BOOLEANS[values["--input"]]
    if given in (["version"], ["--version"]):
        terminal.out(f"FlareIaC v{flareiac.__version__}")
        return int(ExitCode.DONE)
    # Imported here: a command that prints the version does not wait for the parser of options.
    from flareiac.cli.invocation import Invocation
    from flareiac.cli.run_command import run_command

    invocation = Invocation(
        directory=values["--chdir"],
        lock_timeout=values["--lock-timeout"],
        reason=values["--reason"],
        arguments=tuple(typed),
        terminal=terminal,
    )
    return run_command(given, invocation)


def _two_dashes(arguments: Sequence[str]) -> list[str]:
    """``-out=x`` means ``--out=x``; one letter after one dash stays as it is."""
    return [
        f"-{argument}"
        if len(argument) > 2 and argument[0] == "-" and argument[1] != "-" and argument[1].isalpha()
        else argument
        for argument in arguments
    ]


def _without_globals(arguments: list[str], values: dict[str, str], terminal: Terminal) -> list[str] | None:
    """Moves the global options into ``values``; None when one lacks its value or has a wrong one."""
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        name, separator, value = argument.partition("=")
        if name in values:
            text = value if separator else next(waiting, None)
            if text is None:
                terminal.say(f"Error: {name.lstrip('-')} needs a value, such as -{name.lstrip('-')}=...")
                return None
            if name == "--input" and text not in _BOOLEANS:
                terminal.say(f"Error: -input={text}: it is true or false.")
                return None
            values[name] = text
        elif argument != "--no-color":
            rest.append(argument)
    return rest
