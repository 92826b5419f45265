"""What commands that take the lock share: how long they wait for it, and where they say what they do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from flareiac.cli import terminal

if TYPE_CHECKING:  # what a command needs is imported when it runs
    from flareiac.app.bench import Bench
    from flareiac.model.events import Event


@dataclass(frozen=True, slots=True)
class Work:
    """``lock_timeout`` in seconds; ``emit`` says an event on standard error."""

    bench: "Bench"
    lock_timeout: float
    emit: "Callable[[Event], None]"


@contextmanager
def working() -> Iterator[Work]:
    """The project of the command line, closed afterwards. Raises ``typer.BadParameter``."""
    from flareiac.app.bench import Bench
    from flareiac.render.apply_text import event_line

    timeout = lock_timeout()
    bench = Bench(root=terminal.CURRENT.root)
    try:
        yield Work(bench, timeout, lambda event: terminal.say(event_line(event, colour=False) or ""))
    finally:
        bench.close()


def lock_timeout() -> float:
    """Seconds. Raises ``typer.BadParameter``."""
    from flareiac.sdk.validators import parse_duration

    timeout = parse_duration(terminal.CURRENT.lock_timeout)
    if timeout is None:
        raise typer.BadParameter(f'-lock-timeout={terminal.CURRENT.lock_timeout} is not a duration such as "60s".')
    return timeout / 1000
