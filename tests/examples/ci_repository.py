"""The repository of a team, for tests of its CI: commits, and the merge of pull request 1."""

from pathlib import Path

from examples.ci.runner import github
from examples.ci.runner.machine import Machine
from examples.ci.runner.settings import REPOSITORY


def commit(machine: Machine, folder: Path, message: str, ref: str) -> None:
    """Commits all files of a folder, and pushes the commit as ``ref``."""
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@company.example")
    machine.git("add", "-A", folder=folder)
    machine.git(*author, "commit", "-q", "-m", message, folder=folder)
    machine.git("push", "-q", "origin", ref, folder=folder)


def merged(machine: Machine, *, source: str = REPOSITORY) -> str:
    """Squashes the pull request, which came from ``source``, into main; returns main's commit."""
    head = machine.git("rev-parse", "refs/pull/1/head")
    found = machine.merge(head, "refs/heads/main", "merged", squash=True)
    github.record_merge(machine, 1, found, head, source)
    return found
