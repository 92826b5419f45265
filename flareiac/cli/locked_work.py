"""The parts that commands which take the lock share: the time for which they wait for it, and the place of
their messages.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from flareiac.app.workspace import Workspace
from flareiac.cli.invocation import Invocation
from flareiac.cli.project import opened
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.events import Event
from flareiac.render.apply_text import event_line
from flareiac.sdk.validators import parse_duration


@dataclass(frozen=True, slots=True)
class LockedWork:
    """The parts that a command needs which takes the lock.

    ``lock_timeout`` in seconds; ``emit`` writes an event on standard error.
    """

    workspace: Workspace
    lock_timeout: float
    emit: Callable[[Event], None]


@contextmanager
def locked_work(invocation: Invocation) -> Iterator[LockedWork]:
    """The project for a command that takes the lock. Raises ``typer.BadParameter``."""
    timeout = lock_timeout(invocation)
    terminal = invocation.terminal
    with opened(invocation) as workspace:
        yield LockedWork(
            workspace, timeout, lambda event: terminal.say(event_line(event, colour=False) or "")
        )


def lock_timeout(invocation: Invocation) -> float:
    """Seconds to wait for the lock. Raises ``typer.BadParameter``."""
    timeout = parse_duration(invocation.lock_timeout)
    if timeout is None:
        raise typer.BadParameter(f'-lock-timeout={invocation.lock_timeout} is not a duration such as "60s".')
    return timeout / 1000
