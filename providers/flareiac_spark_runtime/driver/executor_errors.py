"""Recognizes what goes wrong on executors alone: their memory, their end, their Python. Pure."""

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

MEMORY: Final = "EXECUTOR_OUT_OF_MEMORY"
LOST: Final = "EXECUTOR_LOST"
NO_PYTHON: Final = "EXECUTOR_WITHOUT_PYTHON"
OTHER_PYTHON: Final = "EXECUTOR_PYTHON_DIFFERS"

_TASK: Final = re.compile(
    r"Lost task \S+ in stage (?P<stage>\d+)\.(?P<attempt>\d+) \(TID \d+\) "
    r"\((?P<host>\S+) executor (?P<executor>\w+)\)"
)
_ENDED: Final = re.compile(r"ExecutorLostFailure \(executor \w+ exited[^)]*\) Reason: (?P<why>[^\n]*)")
_ENDING: Final = re.compile(r"RejectedExecutionException: [^\n]*\[Shutting down")
"""A task that reached an executor while it ended."""
_OUT_OF_MEMORY: Final = re.compile(
    r"java\.lang\.OutOfMemoryError: [^\n]*|exited with code 52\b[^\n]*|OOMKilled[^\n]*|"
    r"Container killed by YARN for exceeding[^\n]*"
)
_CANNOT_RUN: Final = re.compile(r'Cannot run program "(?P<program>[^"]+)": (?P<why>[^\n]*)')
_VERSIONS: Final = re.compile(
    r"Python in worker has different version: (?P<worker>\S+) than that in driver: (?P<driver>[\d.]+\d)"
)
_WAYS_OUT: Final = {
    MEMORY: (
        'Give executors more memory, as with executor = { memory = "4g" } in the engine; or make batches '
        "smaller (max_files_per_trigger, max_offsets_per_trigger of the stream)."
    ),
    LOST: (
        "Its process was killed, lost its host or used up its memory: its stderr on the worker says more. If "
        'it needs more memory, write executor = { memory = "4g" } in the engine.'
    ),
    NO_PYTHON: (
        "Steps in Python need a Python on every worker. Install it there, or write where it is in the "
        'engine: conf = { "spark.pyspark.python" = "/usr/bin/python3" }.'
    ),
    OTHER_PYTHON: (
        "Steps in Python need the driver's minor version on every worker. Write where it is in the engine: "
        'conf = { "spark.pyspark.python" = "/usr/bin/python3" }; or run FlareIaC with the version of the '
        "workers."
    ),
}
_HERE: Final = "driver"
"""The name by which Spark calls the executor of a local application."""


FailedTasks: TypeAlias = Callable[[int, int], Sequence[str]]
"""The errors of tasks by the number of their stage and of its attempt."""


class _Link(Protocol):
    """One throwable of a chain of causes."""

    @property
    def message(self) -> str: ...


def error_in(chain: Sequence[_Link], failed_tasks: FailedTasks) -> tuple[str, str] | None:
    """The class and the message of an executor's trouble in a chain of causes, outermost first. That of a
    task in the driver itself is none.

    The chain tells of the last task that failed alone. Where its executor just ended, ``failed_tasks`` of the
    stage tell whether that was for its memory.
    """
    text = next((link.message for link in chain if _TASK.search(link.message)), None)
    task = _TASK.search(text or "")
    if text is None or task is None or task.group("executor") == _HERE:
        return None
    where = f"on the executor {task.group('executor')} at {task.group('host')}"
    if match := _VERSIONS.search(text):
        driver = match.group("driver")
        return OTHER_PYTHON, f"Python is {match.group('worker')} {where}, and {driver} in the driver."
    if match := _CANNOT_RUN.search(text):
        return NO_PYTHON, f"{match.group('program')} cannot be run {where}: {match.group('why')}."
    if match := _OUT_OF_MEMORY.search(text):
        return MEMORY, f"A task ran out of memory {where}: {match[0].rstrip('. ')}."
    return _ended(text, task, where, failed_tasks)


def _ended(text: str, task: re.Match[str], where: str, failed_tasks: FailedTasks) -> tuple[str, str] | None:
    ended = _ENDED.search(text)
    if not ended and not _ENDING.search(text):
        return None
    for error in failed_tasks(int(task.group("stage")), int(task.group("attempt"))):
        if match := _OUT_OF_MEMORY.search(error):
            return MEMORY, f"A task ran out of memory on an executor: {match[0].rstrip('. ')}."
    why = ended.group("why").rstrip(". ") if ended else "it was ending when the task came"
    return LOST, f"The process of a task ended {where}: {why}."


def way_out(error_class: str) -> str | None:
    """The advice for an error of this class, None where there is none."""
    return _WAYS_OUT.get(error_class)
