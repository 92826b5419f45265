"""GitHub Actions: the workflows of an event, their jobs and steps. The actions that the files use are
played.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from examples.ci.runner.expressions import filled, holds
from examples.ci.runner.forge import GITHUB_TOKEN, Forge, serving
from examples.ci.runner.machine import Machine, Refused, say
from examples.ci.runner.settings import ENVIRONMENTS, REPOSITORY, settings
from examples.ci.runner.workflow_files import action_of, events, local_action, needs_of, workflows

_FILES: Final = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The event that starts a workflow. ``commit`` is what jobs check out; ``head`` that of the branch of a
    pull request, ``base`` that of main; ``api`` is the address of the forge.
    """

    name: str
    commit: str
    ref: str
    pull: int | None = None
    head: str = ""
    source: str = REPOSITORY
    base: str = ""
    approved: bool = False
    api: str = ""


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
    given: dict[str, str] = field(default_factory=dict)
    """The outputs of the job itself."""
    outputs: dict[str, str] = field(default_factory=dict)
    """The outputs of steps and of jobs that were needed, and the inputs of an action, by their names."""

    def names(self) -> dict[str, str]:
        """The names that expressions may use."""
        given = settings()
        secrets = given.secrets if self.event.source == REPOSITORY else {}
        if self.environment in ENVIRONMENTS:
            secrets = {**secrets, **given.protected}
        return {
            "github.repository": REPOSITORY,
            "github.ref": self.event.ref,
            "github.token": GITHUB_TOKEN if self.event.source == REPOSITORY else "ghs_that_only_reads",
            "github.workspace": str(self.folder),
            "github.event.pull_request.base.sha": self.event.base,
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
    with serving(Forge(machine.store)) as address:
        codes = [
            _run_workflow(machine, replace(event, api=address), file, workflow)
            for file, workflow in workflows(project).items()
            if event.name in dict(events(workflow)) and only in ("", file)
        ]
    return next((code for code in codes if code), 0)


def _run_workflow(machine: Machine, event: Event, file: str, workflow: Mapping[str, Any]) -> int:
    run = len(machine.note("runs")) + 1
    ended: dict[str, _Job] = {}
    for name, body in workflow["jobs"].items():
        needed = {
            f"needs.{other}.{key}": value
            for other in needs_of(body)
            for key, value in (_no_outputs(workflow["jobs"][other]) | _results(ended.get(other))).items()
        }
        well = all(other in ended and not ended[other].code for other in needs_of(body))
        if not well and "cancelled()" not in str(body.get("if", "")):
            continue
        whole = {"permissions": workflow["permissions"], **body}
        job = _run_job(machine, event, run, f"{file}: {name}", whole, needed)
        if job is not None:
            ended[name] = job
    code = next((job.code for job in ended.values() if job.code), 0)
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
    body: Mapping[str, Any],
    needed: Mapping[str, str],
) -> _Job | None:
    """The job as it ended; None if it was left out."""
    name = re.sub(r"\W+", "-", label.replace(".yml", ""))
    job = _Job(
        machine=machine,
        event=event,
        run=run,
        folder=machine.folder_of(name),
        permissions=body["permissions"],
        environment=body.get("environment"),
        variables={},
        outputs=dict(needed),
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
    for key, value in body.get("outputs", {}).items():
        job.given[key] = filled(value, job.names() | _missing(value, job.names()), job.calls())
    return job


def _missing(text: str, names: Mapping[str, str]) -> dict[str, str]:
    """The outputs of steps that did not run: they are empty."""
    return {name: "" for name in re.findall(r"steps\.\w+\.outputs\.\w+", text) if name not in names}


def _no_outputs(body: Mapping[str, Any]) -> dict[str, str]:
    return {f"outputs.{key}": "" for key in body.get("outputs", {})}


def _results(job: _Job | None) -> dict[str, str]:
    if job is None:
        return {"result": "skipped"}
    outputs = {f"outputs.{key}": value for key, value in job.given.items()}
    return {"result": "failure" if job.code else "success", **outputs}


def _github_variables(job: _Job) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": job.event.api,
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
    if str(step.get("uses", "")).startswith("./"):
        _use_local(job, step, output)
        return
    if "uses" in step:
        try:
            _use(job, action_of(step), _filled(job, step.get("with", {})))
        except (BotoCoreError, Refused) as refused:
            say(f"{step['uses']}: {refused}")
            job.code = job.code or (0 if step.get("continue-on-error") else 1)
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


def _use_local(job: _Job, step: Mapping[str, Any], output: Path) -> None:
    action = local_action(job.folder, step)
    given = {key: str(it.get("default", "")) for key, it in action["inputs"].items()}
    given |= _filled(job, step.get("with", {}))
    job.outputs |= {f"inputs.{key}": value for key, value in given.items()}
    for inner in action["runs"]["steps"]:
        _run_step(job, inner, output)


def _filled(job: _Job, given: Mapping[str, Any]) -> dict[str, str]:
    return {key: filled(str(value), job.names(), job.calls()) for key, value in given.items()}


def _use(job: _Job, action: str, given: Mapping[str, str]) -> None:
    match action:
        case "actions/checkout":
            folder = job.folder / given.get("path", "")
            job.machine.check_out(folder, given.get("ref") or job.event.commit)
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
    client = boto3.client(
        "sts", region_name=region, config=Config(signature_version=UNSIGNED, retries={"max_attempts": 0})
    )
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
    base = machine.git("rev-parse", "main")
    return Event(
        name="pull_request", commit=commit, ref=ref, pull=number, head=head, source=source, base=base
    )


def record_merge(machine: Machine, number: int, commit: str, head: str, source: str = REPOSITORY) -> None:
    """Notes that a pull request became a commit of main, after a member approved its head."""
    machine.add_to("pulls", {"commit": commit, "head": {"sha": head, "repo": {"full_name": source}}})
    forge = Forge(machine.store)
    forge.add("pulls", number=number, merge_commit_sha=commit, head={"sha": head})
    forge.add("reviews", pull=number, state="APPROVED", commit_id=head, user={"login": "grace"})
