"""GitHub Actions: the workflows of an event, their jobs and steps. The actions that the files use are
played.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import boto3
from botocore import UNSIGNED
from botocore.config import Config

from examples.ci.runner.expressions import filled, holds
from examples.ci.runner.machine import Machine, Refused, say
from examples.ci.runner.settings import ENVIRONMENTS, REPOSITORY, settings
from examples.ci.runner.workflow_files import action_of, events, needs_of, workflows

_FILES: Final = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The event that starts a workflow. ``commit`` is what jobs check out; ``head`` that of the branch of a
    pull request.
    """

    name: str
    commit: str
    ref: str
    pull: int | None = None
    head: str = ""
    source: str = REPOSITORY
    approved: bool = False


@dataclass(kw_only=True)
class _Job:
    """A job as it runs."""

    machine: Machine
    event: Event
    run: int
    folder: Path
    permissions: Mapping[str, str]
    environment: str | None
    variables: dict[str, str]
    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)

    def names(self) -> dict[str, str]:
        """The names that expressions may use."""
        given = settings()
        secrets = given.secrets if self.event.source == REPOSITORY else {}
        if self.environment in ENVIRONMENTS:
            secrets = {**secrets, **given.protected}
        return {
            "github.repository": REPOSITORY,
            "github.ref": self.event.ref,
            "github.token": "the token of the job",
            "github.event.pull_request.number": str(self.event.pull or ""),
            "github.event.pull_request.head.repo.full_name": self.event.source,
            **{f"vars.{name}": value for name, value in given.variables.items()},
            **{f"secrets.{name}": value for name, value in secrets.items()},
            **self.outputs,
        }

    def calls(self) -> dict[str, Callable[[str], str]]:
        """The functions that expressions may call."""

        def hash_files(pattern: str) -> str:
            content = b"".join(path.read_bytes() for path in sorted(self.folder.glob(pattern)))
            return hashlib.sha256(content).hexdigest() if content else ""

        return {
            "cancelled": lambda _: "false",
            "failure": lambda _: "true" if self.code else "false",
            "hashFiles": hash_files,
        }

    def subject(self) -> str:
        """The subject of its id token."""
        if self.permissions.get("id-token") != "write" or self.event.source != REPOSITORY:
            raise Refused("a job without id-token: write, or of a fork, gets no id token")
        if self.environment:
            return f"repo:{REPOSITORY}:environment:{self.environment}"
        event = "pull_request" if self.event.pull else f"ref:{self.event.ref}"
        return f"repo:{REPOSITORY}:{event}"


def run_event(machine: Machine, event: Event, only: str = "") -> int:
    """Runs every workflow that an event starts, or ``only`` one. The exit code of the first step that failed,
    or 0.
    """
    project = machine.folder_of("workflows")
    machine.check_out(project, event.commit)
    codes = [
        _run_workflow(machine, event, file, workflow)
        for file, workflow in workflows(project).items()
        if event.name in dict(events(workflow)) and only in ("", file)
    ]
    return next((code for code in codes if code), 0)


def _run_workflow(machine: Machine, event: Event, file: str, workflow: Mapping[str, Any]) -> int:
    run = len(machine.note("runs")) + 1
    ended: dict[str, int] = {}
    for name, job in workflow["jobs"].items():
        if any(ended.get(needed, 1) for needed in needs_of(job)):
            continue
        code = _run_job(machine, event, run, f"{file}: {name}", workflow, job)
        if code is not None:
            ended[name] = code
    code = next((code for code in ended.values() if code), 0)
    machine.add_to(
        "runs",
        {
            "databaseId": run,
            "workflow": file,
            "event": event.name,
            "commit": event.head or event.commit,
            "status": "failure" if code else "success",
        },
    )
    return code


def _run_job(
    machine: Machine,
    event: Event,
    run: int,
    label: str,
    workflow: Mapping[str, Any],
    body: Mapping[str, Any],
) -> int | None:
    """Its exit code; None if it was left out."""
    name = re.sub(r"\W+", "-", label.replace(".yml", ""))
    job = _Job(
        machine=machine,
        event=event,
        run=run,
        folder=machine.folder_of(name),
        permissions=body.get("permissions", workflow["permissions"]),
        environment=body.get("environment"),
        variables={},
    )
    if "if" in body and not holds(body["if"], job.names(), job.calls()):
        say(f'\n=== GitHub, {label}: left out, as its "if" says')
        return None
    if job.environment == "production-fresh" and not event.approved:
        say(f"\n=== GitHub, {label}: waits for approval of the environment {job.environment}")
        return None
    say(f"\n=== GitHub, {label} (in {job.folder.name})")
    job.folder.mkdir()
    files = {name: machine.store / f"{job.folder.name}.{name.lower()}" for name in _FILES}
    for path in files.values():
        path.touch()
    job.variables |= _github_variables(job) | {name: str(path) for name, path in files.items()}
    job.variables |= _filled(job, body.get("env", {}))
    for step in body["steps"]:
        _run_step(job, step, files["GITHUB_OUTPUT"])
    return job.code


def _github_variables(job: _Job) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": job.event.name,
        "GITHUB_REF": job.event.ref,
        "GITHUB_REF_NAME": job.event.ref.removeprefix("refs/heads/").removeprefix("refs/"),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": str(job.run),
        "GITHUB_SHA": job.event.commit,
        "GITHUB_WORKSPACE": str(job.folder),
        "RUNNER_PERMISSIONS": " ".join(f"{name}:{level}" for name, level in job.permissions.items()),
    }


def _run_step(job: _Job, step: Mapping[str, Any], output: Path) -> None:
    condition = str(step.get("if", ""))
    always = "cancelled()" in condition or "failure()" in condition
    if (job.code and not always) or (condition and not holds(condition, job.names(), job.calls())):
        return
    if "uses" in step:
        _use(job, action_of(step), _filled(job, step.get("with", {})))
        return
    script = filled(step["run"], job.names(), job.calls())
    say(f"\n$ {script.strip()}")
    code = job.machine.shell(script, ["-e"], job.folder, job.variables | _filled(job, step.get("env", {})))
    if code:
        say(f"(exit code {code})")
    job.code = job.code or code
    if "id" in step:
        for line in output.read_text().splitlines():
            key, _, value = line.partition("=")
            job.outputs[f"steps.{step['id']}.outputs.{key}"] = value
    output.write_text("")


def _filled(job: _Job, given: Mapping[str, Any]) -> dict[str, str]:
    return {key: filled(str(value), job.names(), job.calls()) for key, value in given.items()}


def _use(job: _Job, action: str, given: Mapping[str, str]) -> None:
    match action:
        case "actions/checkout":
            job.machine.check_out(job.folder, job.event.commit)
        case "aws-actions/configure-aws-credentials":
            job.variables |= _credentials(job, given)
        case "actions/upload-artifact":
            kept = job.machine.keep(job.run, given["name"], job.folder, given["path"].split())
            if not kept and given.get("if-no-files-found") == "error":
                raise Refused(f"there is nothing for the artefact {given['name']}")
        case "actions/download-artifact":
            job.machine.fetch(job.run, given["name"], job.folder)
        case _:
            pass  # Python, Java and a cache are what this machine has


def _credentials(job: _Job, given: Mapping[str, str]) -> dict[str, str]:
    region = given["aws-region"]
    client = boto3.client("sts", region_name=region, config=Config(signature_version=UNSIGNED))
    found = client.assume_role_with_web_identity(
        RoleArn=given["role-to-assume"],
        RoleSessionName="GitHubActions",
        WebIdentityToken=job.subject(),
        DurationSeconds=int(given.get("role-duration-seconds", "3600")),
    )["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": found["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": found["SecretAccessKey"],
        "AWS_SESSION_TOKEN": found["SessionToken"],
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
    }


def main_event(machine: Machine, name: str, *, approved: bool) -> Event:
    """An event of main."""
    return Event(name=name, commit=machine.git("rev-parse", "main"), ref="refs/heads/main", approved=approved)


def pull_event(machine: Machine, number: int, source: str = REPOSITORY) -> Event:
    """A pull request, at what main will be after the merge."""
    head = machine.git("rev-parse", f"refs/pull/{number}/head")
    commit = machine.merge(head, f"refs/pull/{number}/merge", f"Merge pull request #{number}")
    ref = f"refs/pull/{number}/merge"
    return Event(name="pull_request", commit=commit, ref=ref, pull=number, head=head, source=source)
