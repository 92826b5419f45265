"""The exit codes: a contract. One table; help, documentation and tests read it."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of commands, for scripts."""

    DONE = 0
    ERROR = 1
    CHANGES = 2
    DRIFT = 3
    BLOCKED = 4
    LOCKED = 5
    STALE = 6
    PARTLY = 7
    CANCELLED = 8
    USAGE = 64

    # As Terraform's fmt has them:
    UNREADABLE_FILE = 2
    UNFORMATTED_FILE = 3


MEANINGS: dict[ExitCode, str] = {
    ExitCode.DONE: "done, or no changes",
    ExitCode.ERROR: "error",
    ExitCode.CHANGES: "changes (plan -detailed-exitcode), or a file that cannot be formatted (fmt)",
    ExitCode.DRIFT: "drift (drift), or a file that needs formatting (fmt -check)",
    ExitCode.BLOCKED: "the plan holds a blocked action, or does not meet a rule of the team",
    ExitCode.LOCKED: "the state lock was not obtained",
    ExitCode.STALE: "the plan is stale, or took a change or a place for what it is not",
    ExitCode.PARTLY: "partly applied: at least one change done and one failed",
    ExitCode.CANCELLED: "cancelled, also by a declined prompt",
    ExitCode.USAGE: "usage",
}


def table() -> str:
    """The table for help texts."""
    return "Exit codes: " + "; ".join(f"{code.value} {text}" for code, text in MEANINGS.items()) + "."
