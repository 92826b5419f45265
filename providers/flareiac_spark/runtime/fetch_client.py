"""Runs a program that fetches jars."""

import subprocess
from collections.abc import Mapping, Sequence

from flareiac.kernel.lazy_dataclass import dataclass

_TIMEOUT_S = 1800


@dataclass(frozen=True, slots=True)
class NotFetched:
    """A client did not get all jars: the cause in a sentence, and sentences that say what to do."""

    why: str
    advice: str


def run_client(
    command: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str] | NotFetched:
    """The process with its output, or the reason that it did not run to its end."""
    try:
        return subprocess.run(
            command,
            env=dict(environment),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return NotFetched(f"{command[0]} did not run to its end ({error}).", "Run init again.")
