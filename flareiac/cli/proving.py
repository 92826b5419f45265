"""The question that ``-prove`` asks of drivers: on this machine, with what holds it up on the terminal."""

from flareiac.app.prove import Asking
from flareiac.cli.invocation import Invocation


def asking_here(invocation: Invocation) -> Asking:
    """The question of one command."""
    say = invocation.terminal.say
    return Asking(locally=True, progress=lambda text: say(f"{text}..."), cancel=invocation.cancel)
