"""Maintenance tasks in the words of their performers, whichever package brings them."""

from importlib.metadata import entry_points
from typing import Any

from flareiac.sdk.table_tasks import GROUP, Work, performer_of


def work_of(task: object) -> Work:
    """A performer's own record as the work that crosses to Spark."""
    performers = (performer_of(entry.name) for entry in entry_points(group=GROUP))
    return next(found for found in performers if found and found.task is type(task)).work(task)


def task_of(work: Work | None) -> Any:
    """The record of the performer."""
    assert work is not None
    performer = performer_of(work.kind)
    assert performer is not None, work.kind
    return performer.task_of(work)
