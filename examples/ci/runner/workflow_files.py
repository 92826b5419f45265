"""The workflows of GitHub Actions as they are written: read, and checked for what GitHub would refuse.

Touches files.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from examples.ci.runner.machine import Refused, check_keys

_WORKFLOW: Final = ("name", "on", "permissions", "concurrency", "jobs")
_JOB: Final = (
    *(
        "name",
        "if",
        "needs",
        "runs-on",
        "timeout-minutes",
        "environment",
        "concurrency",
        "permissions",
        "outputs",
        "env",
    ),
    "steps",
)
_STEP: Final = ("id", "name", "if", "uses", "with", "run", "env", "shell", "continue-on-error")
_CONCURRENCY: Final = ("group", "queue", "cancel-in-progress")
_EVENTS: Final = {
    "pull_request": ("branches",),
    "push": ("branches",),
    "schedule": ("cron",),
    "workflow_dispatch": (),
}
_PERMISSIONS: Final = {
    "actions": ("read", "write"),
    "contents": ("read",),
    "id-token": ("write",),
    "issues": ("write",),
    "security-events": ("write",),
    "pull-requests": ("read", "write"),
}
_PINNED: Final = re.compile(r"([\w.-]+/[\w.-]+)@[0-9a-f]{40}")
_INPUTS: Final = {
    "actions/checkout": ("persist-credentials", "ref", "path"),
    "actions/setup-python": ("python-version", "cache"),
    "actions/setup-java": ("distribution", "java-version"),
    "actions/cache": ("path", "key"),
    "actions/upload-artifact": (
        *("name", "path", "if-no-files-found", "overwrite", "retention-days", "include-hidden-files"),
    ),
    "actions/download-artifact": ("name",),
    "aws-actions/configure-aws-credentials": ("role-to-assume", "aws-region", "role-duration-seconds"),
}
"""The inputs of each action that the files use."""


def workflows(folder: Path) -> dict[str, dict[str, Any]]:
    """The workflows of a project by the names of their files, checked for what GitHub would refuse."""
    found = {}
    for path in sorted((folder / ".github" / "workflows").glob("*.yml")):
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        workflow = {("on" if key is True else key): value for key, value in read.items()}  # YAML 1.1's "on"
        check_keys(path.name, workflow, _WORKFLOW)
        check_keys(f"{path.name}, concurrency", workflow.get("concurrency", {}), _CONCURRENCY)
        for event, filters in events(workflow):
            check_keys(f"{path.name}, on", {event: None}, _EVENTS)
            check_keys(f"{path.name}, {event}", filters, _EVENTS[event])
        for name, job in workflow["jobs"].items():
            for permission, level in {**workflow["permissions"], **job.get("permissions", {})}.items():
                if level not in _PERMISSIONS.get(permission, ()):
                    raise Refused(f"{path.name}: the permission {permission}: {level} is not known")
            _check_job(folder, f"{path.name}, {name}", job, workflow["jobs"])
        found[path.name] = workflow
    return found


def events(workflow: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events that start a workflow, with their filters."""
    on = workflow["on"]
    for name, filters in on.items() if isinstance(on, dict) else [(on, None)]:
        yield name, (filters[0] if isinstance(filters, list) else filters) or {}


def _check_job(folder: Path, what: str, job: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    check_keys(what, job, _JOB)
    check_keys(f"{what}, concurrency", job.get("concurrency", {}), _CONCURRENCY)
    for needed in needs_of(job):
        if needed not in others:
            raise Refused(f"{what}: needs {needed}, which is not there")
    for named in re.findall(r"needs\.(\w+)\.", str(job)):
        if named not in needs_of(job):
            raise Refused(f"{what}: it does not need {named}")
    known = _check_steps(folder, what, job["steps"])
    for named in re.findall(r"steps\.(\w+)\.", str(job.get("outputs", ""))):
        if named not in known:
            raise Refused(f"{what}, outputs: there is no step {named}")


def _check_steps(folder: Path, what: str, steps: Sequence[Mapping[str, Any]]) -> set[str]:
    """Checks them, with those of the actions of the repository; returns their names."""
    known: set[str] = set()
    for number, step in enumerate(steps, 1):
        at = f"{what}, step {number}"
        check_keys(at, step, _STEP)
        if ("uses" in step) == ("run" in step):
            raise Refused(f"{at}: it needs either uses or run")
        if str(step.get("uses", "")).startswith("./"):
            action = local_action(folder, step)
            check_keys(at, step.get("with", {}), action["inputs"])
            _check_steps(folder, f"{at}, {step['uses']}", action["runs"]["steps"])
        elif "uses" in step:
            check_keys(at, step.get("with", {}), _INPUTS[action_of(step)])
        for named in re.findall(r"steps\.(\w+)\.", str(step)):
            if named not in known:
                raise Refused(f"{at}: there is no step {named} before it")
        known.add(step.get("id", ""))
    return known


def local_action(folder: Path, step: Mapping[str, Any]) -> dict[str, Any]:
    """The composite action of the repository that a step uses."""
    path = folder / step["uses"] / "action.yml"
    if not path.is_file():
        raise Refused(f"{step['uses']} is not there")
    action: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    check_keys(step["uses"], action, ("name", "description", "inputs", "runs"))
    for number, inner in enumerate(action["runs"]["steps"], 1):
        if "run" in inner and "shell" not in inner:
            raise Refused(f"{step['uses']}, step {number}: it has no shell")
    return action


def needs_of(job: Mapping[str, Any]) -> list[str]:
    """The jobs that must have ended well before."""
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else list(needs)


def action_of(step: Mapping[str, Any]) -> str:
    """The action of a step, without its commit."""
    pinned = _PINNED.fullmatch(step["uses"])
    if pinned is None or pinned.group(1) not in _INPUTS:
        raise Refused(f"{step['uses']} is not pinned to a commit, or not known here")
    return pinned.group(1)
