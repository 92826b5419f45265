"""One command line: what every command gets beside its own options."""

import threading
from dataclasses import field
from pathlib import Path

from flareiac.cli.terminal import Terminal
from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The options of every command, wherever they stand on the command line, and what comes of a signal."""

    directory: str = ""
    """The value of -chdir."""
    lock_timeout: str = "0s"
    reason: str = ""
    """The value of -reason."""
    command: str = ""
    """The words of a command that does not only read; empty for one that does."""
    arguments: tuple[str, ...] = ()
    """The command line in the order it was typed."""
    terminal: Terminal = field(default_factory=Terminal)
    cancel: threading.Event = field(default_factory=threading.Event)
    """Set by the first SIGINT or SIGTERM; a second one ends the process."""

    @property
    def root(self) -> Path:
        return Path(self.directory or ".").resolve()
