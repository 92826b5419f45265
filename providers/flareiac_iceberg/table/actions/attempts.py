"""Tries a change again while other writers commit first."""

import random
import threading
from collections.abc import Iterator
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.target import Target

ATTEMPTS: Final = 20
"""Commits that are tried beside busy writers before giving up: as many as new tables let streams try again
(``DEFAULT_PROPERTIES`` of ``format.spec``). Beside a loop of 12 commits a second a stream with Iceberg's 4
retries died, and one with 20 lived (measured).
"""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0
"""Seconds. The loop that was measured left a stream no turn while it ran, so each further attempt backs
off.
"""


def attempts(cancel: threading.Event) -> Iterator[int]:
    """The numbers of the attempts, from 0, with longer and longer pauses between them. Ends early when the
    command is cancelled.
    """
    pause = _FIRST_PAUSE
    for attempt in range(ATTEMPTS):
        yield attempt
        if cancel.wait(pause * random.uniform(0.5, 1.0)):  # noqa: S311  # spreads retries, guards nothing
            return
        pause = min(pause * 2, _LONGEST_PAUSE)


def starved(target: Target) -> Diagnostic:
    """Complains that other writers came first in every attempt."""
    return error(
        codes.OTHER_WRITERS_FIRST,
        f"Other writers of {target.full_name} committed first, {ATTEMPTS} times in a row. Nothing of this "
        "change took effect. Apply again when they are less busy, or stop them meanwhile.",
    )
