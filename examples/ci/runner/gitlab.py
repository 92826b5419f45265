"""GitLab CI: the jobs that the rules choose for a pipeline, with their variables, scripts and artefacts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final

import yaml

from examples.ci.runner.forge import GITLAB_TOKEN, Forge, serving
from examples.ci.runner.machine import Machine, Refused, check_keys, say
from examples.ci.runner.settings import REPOSITORY, settings
from flareiac.kernel.user_cache import cache_directory

_GLOBAL: Final = ("stages", "variables", "default", "include")
_DEFAULT: Final = ("image", "timeout", "cache")
_JOB: Final = (
    *("extends", "stage", "variables", "id_tokens", "before_script", "script", "rules", "needs", "artifacts"),
    *("environment", "resource_group", "interruptible"),
)
_ARTIFACTS: Final = ("name", "when", "paths", "reports", "access", "expire_in")
_VARIABLE: Final = re.compile(r"\$\{?(\w+)\}?")
_TERM: Final = re.compile(r"(\$\w+) (==|!=) (\$\w+|\"[^\"]*\")")
_PROJECT: Final = "17"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The event that starts the jobs. ``merge_request`` is the number of one; ``manual`` are the jobs that a
    person starts.
    """

    source: str
    commit: str
    branch: str = "main"
    merge_request: int | None = None
    source_project: str = _PROJECT
    manual: tuple[str, ...] = ()
    api: str = ""

    def variables(self) -> dict[str, str]:
        """GitLab's own, and those of the project that the branch may see."""
        given = settings()
        found = {
            "GITLAB_CI": "true",
            "CI_API_V4_URL": f"{self.api}/api/v4",
            "CI_COMMIT_SHA": self.commit,
            "CI_DEFAULT_BRANCH": "main",
            "CI_PIPELINE_SOURCE": self.source,
            "CI_PROJECT_ID": _PROJECT,
            "CI_PROJECT_PATH": REPOSITORY,
            "FLAREIAC_VAR_catalog_uri": given.variables["CATALOG_URI"],
            **{name: value for name, value in given.variables.items() if name != "CATALOG_URI"},
            "GITLAB_USER_LOGIN": "grace",
            **({"GITLAB_TOKEN": GITLAB_TOKEN, **given.secrets} if self.source_project == _PROJECT else {}),
        }
        if self.merge_request is not None:
            return found | {
                "CI_MERGE_REQUEST_IID": str(self.merge_request),
                "CI_MERGE_REQUEST_PROJECT_ID": _PROJECT,
                "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": self.source_project,
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            }
        return {**found, **given.protected, "CI_COMMIT_BRANCH": self.branch}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    name: str
    stage: str
    body: Mapping[str, Any]
    rule: Mapping[str, Any] = field(default_factory=dict)


def jobs(folder: Path) -> tuple[dict[str, str], list[_Job]]:
    """The variables of all jobs, and the jobs by their stages, checked for what GitLab would refuse."""
    root = yaml.safe_load((folder / ".gitlab-ci.yml").read_text(encoding="utf-8"))
    document: dict[str, Any] = {}
    for included in root.pop("include", []):
        check_keys(".gitlab-ci.yml, include", included, ("local",))
        document |= yaml.safe_load((folder / included["local"]).read_text(encoding="utf-8"))
    document |= root
    check_keys(".gitlab-ci.yml, default", document["default"], _DEFAULT)
    bodies = {name: body for name, body in document.items() if name not in _GLOBAL and isinstance(body, dict)}
    found = []
    for name, body in bodies.items():
        check_keys(name, body, _JOB)
        whole = _extended(name, body, bodies)
        check_keys(f"{name}, artifacts", whole.get("artifacts", {}), _ARTIFACTS)
        for rule in whole.get("rules", []):
            check_keys(f"{name}, rules", rule, ("if", "when", "variables"))
        if name.startswith("."):
            continue
        if "script" not in whole or whole["stage"] not in document["stages"]:
            raise Refused(f"{name}: it has no script, or its stage is not there")
        for needed in whole.get("needs", []):
            if needed not in bodies:
                raise Refused(f"{name}: needs {needed}, which is not there")
        found.append(_Job(name=name, stage=whole["stage"], body=whole))
    found.sort(key=lambda job: document["stages"].index(job.stage))
    return dict(document["variables"]), found


def _extended(name: str, body: Mapping[str, Any], bodies: Mapping[str, Any]) -> dict[str, Any]:
    base = body.get("extends")
    if base is None:
        return dict(body)
    if base not in bodies:
        raise Refused(f"{name}: extends {base}, which is not there")
    return {**_extended(base, bodies[base], bodies), **body}


def run_pipeline(machine: Machine, pipeline: Pipeline) -> int:
    """Runs the jobs that the rules choose. The exit code of the first that failed, or 0."""
    project = machine.folder_of("pipeline")
    machine.check_out(project, pipeline.commit)
    given, listed = jobs(project)
    run = len(machine.note("runs")) + 1
    machine.add_to("runs", {"databaseId": run, "workflow": "pipeline"})
    ended: dict[str, int] = {}
    for job in listed:
        rule = next((rule for rule in job.body["rules"] if _chosen(rule, pipeline.variables())), None)
        if rule is None:
            continue
        if rule.get("when") != "always" and any(ended.get(it, 1) for it in job.body.get("needs", [])):
            continue
        if rule.get("when") == "manual" and job.name not in pipeline.manual:
            say(f"\n=== GitLab, {job.name}: waits for a person to start it")
            continue
        with serving(Forge(machine.store)) as address:
            chosen = replace(job, rule=rule)
            ended[job.name] = _run_job(machine, replace(pipeline, api=address), run, given, chosen)
    return next((code for code in ended.values() if code), 0)


def _chosen(rule: Mapping[str, Any], variables: Mapping[str, str]) -> bool:
    def value(text: str) -> str:
        return variables.get(text[1:], "") if text.startswith("$") else text.strip('"')

    for term in rule["if"].split(" && "):
        found = _TERM.fullmatch(term)
        if found is None:
            raise Refused(f"the rule {term} is not known")
        if (value(found.group(1)) == value(found.group(3))) is not (found.group(2) == "=="):
            return False
    return True


def _run_job(machine: Machine, pipeline: Pipeline, run: int, given: Mapping[str, str], job: _Job) -> int:
    folder = machine.folder_of(f"gitlab-{job.name}")
    say(f"\n=== GitLab, {job.name} (in {folder.name})")
    machine.check_out(folder, pipeline.commit)
    _link_cache(machine, folder)
    variables = pipeline.variables() | {
        "CI_PROJECT_DIR": str(folder),
        "CI_JOB_NAME": job.name,
        "CI_JOB_ID": f"{run}1",
    }
    for name, text in {**given, **job.body.get("variables", {}), **job.rule.get("variables", {})}.items():
        variables[name] = _VARIABLE.sub(lambda found: variables.get(found.group(1), ""), str(text))
    for name, token in job.body.get("id_tokens", {}).items():
        check_keys(f"{job.name}, {name}", token, ("aud",))
        branch = f"merge-{pipeline.merge_request}" if pipeline.merge_request else pipeline.branch
        variables[name] = f"project_path:{REPOSITORY}:ref_type:branch:ref:{branch}"
    for needed in job.body.get("needs", []):
        machine.fetch(run, needed, folder)
    lines = [*job.body.get("before_script", []), *job.body["script"]]
    script = "\n".join(f"echo {quote(f'$ {line}')}\n{line}" for line in lines)
    code = machine.shell(script, ["-eo", "pipefail"], folder, variables)
    if code:
        say(f"(exit code {code})")
    artifacts = job.body.get("artifacts", {})
    if artifacts.get("when", "on_success") in ("always", "on_failure" if code else "on_success"):
        machine.keep(run, job.name, folder, artifacts.get("paths", []))
        for report in artifacts.get("reports", {}).values():
            machine.keep(run, job.name, folder, [report])
    return code


def _link_cache(machine: Machine, folder: Path) -> None:
    """The cache of all jobs; what FlareIaC keeps there is what it keeps for the user of this machine."""
    cache = machine.store / "cache"
    if not cache.exists():
        cache.mkdir()
        kept = cache_directory()
        kept.mkdir(parents=True, exist_ok=True)
        (cache / "flareiac").symlink_to(kept)
    (folder / ".cache").symlink_to(cache)
