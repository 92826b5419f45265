"""The CI files of the example: what they may do, what they refuse, and that the runner would notice a
mistake in them.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

import flareiac
from examples.ci.runner import github, gitlab
from examples.ci.runner.forge import Forge
from examples.ci.runner.machine import Machine, Refused
from examples.ci.runner.settings import APPLY_ROLE, PASSWORDS, PLAN_ROLE, REPOSITORY
from examples.ci.runner.workflow_files import events, workflows
from examples.ci.servers import aws
from tests.examples.ci_repository import commit, merged
from tests.examples.depends import EXAMPLES

PROJECT: Final = EXAMPLES / "ci" / "project"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the project."""
    return Path(shutil.copytree(PROJECT, tmp_path / "project"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_files_have_no_key_that_their_systems_would_refuse() -> None:
    assert sorted(workflows(PROJECT)) == ["apply.yml", "fresh-plan.yml", "nightly.yml", "plan.yml"]
    assert [job.name for job in gitlab.jobs(PROJECT)[1]] == [
        "validate",
        "plan",
        "note",
        "apply",
        "drift",
        "maintain",
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("plan.yml", "timeout-minutes: 15", "timeout: 15", "unknown timeout"),
        ("plan.yml", "id: files", "ids: files", "unknown ids"),
        ("plan.yml", "id: files", "id: others", "there is no step files before it"),
        ("plan.yml", "if-no-files-found: error", "if-missing: error", "unknown if-missing"),
        ("plan.yml", "contents: read", "contents: all", "the permission contents: all is not known"),
        ("nightly.yml", "actions/upload-artifact@", "actions/upload-art@", "upload-art"),
        ("fresh-plan.yml", "needs: plan", "needs: plans", "needs plans, which is not there"),
        ("apply.yml", "needs: apply", "needs: []", "it does not need apply"),
        ("plan.yml", "steps.files.outputs.tree", "steps.file.outputs.tree", "there is no step file"),
        ("nightly.yml", 'java: "17"', 'jdk: "17"', "unknown jdk"),
        ("nightly.yml", "./.github/actions/flareiac", "./.github/actions/flare", "is not there"),
        ("nightly.yml", "schedule:", "scheduled:", "unknown scheduled"),
        ("nightly.yml", "@de0fac2e4500dabe0009e67214ff5f5447ce83dd", "@v5", "is not pinned"),
    ],
)
def test_a_mistake_in_a_workflow_is_found(copied: Path, file: str, old: str, new: str, why: str) -> None:
    edit(copied / ".github" / "workflows" / file, old, new)
    with pytest.raises(Refused, match=why):
        workflows(copied)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("needs: [plan]", "needs: [plans]", "needs plans, which is not there"),
        ("extends: .reads", "extends: .read", r"extends \.read, which is not there"),
        ("stage: apply", "stage: applying", "its stage is not there"),
        ("resource_group:", "group:", "unknown group"),
        ("expire_in:", "expires:", "unknown expires"),
    ],
)
def test_a_mistake_in_the_pipeline_is_found(copied: Path, old: str, new: str, why: str) -> None:
    edit(copied / "ci" / "gitlab-ci.yml", old, new)
    with pytest.raises(Refused, match=why):
        gitlab.jobs(copied)


def test_each_script_is_run_by_a_file_and_each_that_is_run_is_there() -> None:
    files = [*PROJECT.glob(".github/workflows/*.yml"), PROJECT / ".gitlab-ci.yml", *PROJECT.glob("ci/*.*")]
    files += [*(PROJECT.parent / "host").glob("*")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for script in PROJECT.glob("ci/*.*"):
        named = (f"ci/{script.name}", f"$ci/{script.name}", f'"$0")/{script.name}')
        assert any(name in text for name in named), script.name
    for word in text.replace(")", " ").split():
        assert not word.startswith("ci/") or (PROJECT / word).is_file(), word


def test_the_version_that_is_installed_is_this_one() -> None:
    """Plan and apply must be of one version."""
    required = (PROJECT / "requirements.txt").read_text(encoding="utf-8")
    assert required == f"flareiac[aws,postgres,spark]=={flareiac.__version__}\n"


def test_only_what_writes_has_credentials_to_write() -> None:
    for file, workflow in workflows(PROJECT).items():
        for name, job in workflow["jobs"].items():
            writes = name in ("apply", "maintain")
            text = str(job)
            assert ("AWS_APPLY_ROLE" in text and "LAKE_APPLY_PASSWORD" in text) is writes, (file, name)
            assert ("environment" in job) is writes, (file, name)
            assert job["permissions"]["contents"] == "read"
            assert ("id-token" in job["permissions"]) is ("_ROLE" in text), (file, name)
        assert workflow["permissions"] == {}
        assert "pull_request_target" not in dict(events(workflow))
    for job_of_gitlab in gitlab.jobs(PROJECT)[1]:
        writes = job_of_gitlab.name in ("apply", "maintain")
        assert ("$AWS_APPLY_ROLE" in str(job_of_gitlab.body)) is writes


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A repository with the project, and pull request 1, which was merged."""
    monkeypatch.setenv("LAKE_CATALOG_URI", "postgresql://nowhere.invalid/lake")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://nowhere.invalid")
    made = Machine(store=tmp_path / "store")
    made.store.mkdir()
    made.git("init", "-q", "--bare", "-b", "main", str(made.origin), folder=tmp_path)
    work = tmp_path / "work"
    made.git("clone", "-q", str(made.origin), str(work), folder=tmp_path)
    shutil.copytree(PROJECT, work, dirs_exist_ok=True)
    commit(made, work, "first", "HEAD:refs/heads/main")
    (work / "more.flare.hcl").write_text("\n")
    commit(made, work, "second", "HEAD:refs/pull/1/head")
    return made


def planned(machine: Machine, *, workflow: str = "plan.yml", event: str = "pull_request") -> None:
    """A run that has planned what main will be after the merge."""
    request = github.pull_event(machine, 1)
    tree = machine.git("rev-parse", f"{request.commit}^{{tree}}")
    machine.add_to(
        "runs",
        {"databaseId": 1, "workflow": workflow, "event": event, "commit": request.head, "status": "success"},
    )
    plan = machine.store / "made" / "flareiac.plan"
    plan.parent.mkdir()
    plan.write_text("the plan")
    machine.keep(1, f"plan-{tree}", plan.parent, ["*"])


def fetch_plan(machine: Machine, capfd: pytest.CaptureFixture[str]) -> tuple[Path, str]:
    """The checkout of main after the step that fetches the plan, and what it said."""
    folder = machine.folder_of("apply")
    head = machine.git("rev-parse", "main")
    machine.check_out(folder, head)
    variables = {
        "GH_TOKEN": "token",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": head,
        "RUNNER_PERMISSIONS": "actions:read contents:read pull-requests:read",
    }
    code = machine.shell("bash ci/reviewed-plan.sh", ["-e"], folder, variables)
    said = capfd.readouterr().err
    assert (code == 0) is (folder / "flareiac.plan").exists(), said
    return folder, said


def test_the_plan_of_the_pull_request_is_found_after_a_squash(
    machine: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    planned(machine)
    merged(machine)
    folder, _ = fetch_plan(machine, capfd)
    assert (folder / "flareiac.plan").read_text() == "the plan"


def test_a_plan_of_other_files_is_not_applied(machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    """Another pull request was merged after this one was planned."""
    planned(machine)
    work = machine.store / "other"
    machine.git("clone", "-q", str(machine.origin), str(work))
    (work / "other.flare.hcl").write_text("\n")
    commit(machine, work, "other", "HEAD:refs/heads/main")
    merged(machine)
    folder, said = fetch_plan(machine, capfd)
    assert "was not planned for these files: main has moved since" in said
    assert not (folder / "flareiac.plan").exists()


@pytest.mark.parametrize(
    ("workflow", "event", "source", "why"),
    [
        ("other.yml", "pull_request", REPOSITORY, "There is no plan of "),
        ("plan.yml", "push", REPOSITORY, "There is no plan of "),
        (
            "plan.yml",
            "pull_request",
            "stranger/lake",
            "is not the merge of a pull request of this repository",
        ),
    ],
)
def test_a_plan_from_elsewhere_is_not_applied(
    machine: Machine, capfd: pytest.CaptureFixture[str], workflow: str, event: str, source: str, why: str
) -> None:
    planned(machine, workflow=workflow, event=event)
    merged(machine, source=source)
    folder, said = fetch_plan(machine, capfd)
    assert why in said
    assert not (folder / "flareiac.plan").exists()


def test_a_commit_without_a_pull_request_has_no_plan(
    machine: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    _, said = fetch_plan(machine, capfd)
    assert "is not the merge of a pull request of this repository" in said


def test_a_fork_gets_no_plan(machine: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    assert github.run_event(machine, github.pull_event(machine, 1, "stranger/lake")) == 0
    commit_of_fork = machine.git("rev-parse", "refs/pull/1/head")
    pipeline = gitlab.Pipeline(
        source="merge_request_event", commit=commit_of_fork, merge_request=1, source_project="99"
    )
    assert gitlab.run_pipeline(machine, pipeline) == 0
    said = capfd.readouterr().out
    assert said.count("it has no credentials, so it was validated and not planned") == 2
    assert said.count("Success! The configuration is valid.") == 2
    assert '=== GitHub, plan.yml: plan: left out, as its "if" says' in said
    assert '=== GitHub, plan.yml: comment: left out, as its "if" says' in said
    assert [line for line in said.splitlines() if line.startswith("=== GitLab")] == [
        "=== GitLab, validate (in 05-gitlab-validate)"
    ]
    assert Forge(machine.store).entries("comments") == []
    assert Forge(machine.store).entries("sarifs") == []


def test_a_role_that_is_not_given_leaves_no_old_plan_in_the_comment(
    machine: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    """The store of roles is not reached, so the job ends before there is a plan."""
    forge = Forge(machine.store)
    old = "<!-- flareiac-report workspace=default -->\n1 change, blocked: no\n"
    forge.add("comments", on=1, author="github-actions[bot]", body=old)
    assert github.run_event(machine, github.pull_event(machine, 1)) == 1
    (comment,) = forge.entries("comments")
    assert "\n**There is no plan:** its job ended before that, see " in comment["body"]
    said = capfd.readouterr().out
    assert "aws-actions/configure-aws-credentials" in said
    assert PASSWORDS["lake_plan"] not in said + comment["body"]


def test_the_comment_is_the_report_of_the_plan(copied: Path) -> None:
    stub = copied / "bin" / "flareiac"
    stub.parent.mkdir()
    stub.write_text(
        "#!/bin/sh\n"
        "case $1 in plan) echo planned; echo made >flareiac.plan; exit 4 ;; policy) ;;"
        ' *) echo "the $1 of $2" ;; esac\n'
    )
    stub.chmod(0o755)
    (copied / "flareiac.plan").write_text("of an earlier run")
    summary = copied / "summary"
    variables = {"PATH": f"{stub.parent}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(["bash", "ci/plan.sh"], cwd=copied, env={**os.environ, **variables})
    assert done.returncode == 4
    assert (copied / "plan.md").read_text() == summary.read_text() == "the report of -max-chars=60000\n"
    assert (copied / "plan.html").read_text() == "the report of -format=html\n"
    assert (copied / "plan.txt").read_text() == "planned\n"


def test_a_long_plan_is_cut_for_a_comment_between_two_characters(tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text(("x" + "ä" * 60 + "\n```\n") * 1000, encoding="utf-8")
    done = subprocess.run(
        ["bash", PROJECT / "ci" / "markdown.sh", "Plan", plan.name],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    text = done.stdout.decode()  # it is UTF-8
    assert 20_000 < len(text) < 65_536
    assert text.endswith("````\n\nCut here; all of it is in the artefact, in plan.txt.\n")


@pytest.fixture(scope="module")
def services() -> Iterator[str]:
    with aws() as address:
        yield address


def assumed(services: str, role: str, subject: str) -> "boto3.client":
    """A client of S3 with the credentials of a role, which a job with this subject asked for."""
    own = {"endpoint_url": services, "region_name": "eu-central-1"}
    found = boto3.client("sts", config=Config(signature_version=UNSIGNED), **own)
    keys = found.assume_role_with_web_identity(RoleArn=role, RoleSessionName="job", WebIdentityToken=subject)[
        "Credentials"
    ]
    return boto3.client(
        "s3",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
        **own,
    )


def test_the_role_of_a_plan_reads_and_never_writes(services: str) -> None:
    writer = assumed(services, APPLY_ROLE, f"repo:{REPOSITORY}:environment:production")
    writer.put_object(Bucket="company-lake", Key="a", Body=b"1")
    reader = assumed(services, PLAN_ROLE, f"repo:{REPOSITORY}:pull_request")
    assert reader.get_object(Bucket="company-lake", Key="a")["Body"].read() == b"1"
    with pytest.raises(ClientError, match="AccessDenied"):
        reader.put_object(Bucket="company-lake", Key="a", Body=b"2")
    with pytest.raises(ClientError, match="AccessDenied"):
        reader.delete_object(Bucket="company-lake", Key="a")


@pytest.mark.parametrize(
    "subject",
    [
        f"repo:{REPOSITORY}:pull_request",
        f"repo:{REPOSITORY}:ref:refs/heads/main",
        "repo:stranger/lake:environment:production",
        f"project_path:{REPOSITORY}:ref_type:branch:ref:merge-1",
    ],
)
def test_only_main_and_its_environments_may_write(services: str, subject: str) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        assumed(services, APPLY_ROLE, subject)


@pytest.mark.parametrize(
    ("script", "code", "ends", "said"),
    [
        ("plan", 0, 0, ""),
        ("plan", 2, 0, ""),
        ("plan", 4, 4, ""),
        ("plan", 1, 1, ""),
        ("apply", 0, 0, ""),
        ("apply", 1, 1, "Nothing was applied"),
        ("apply", 4, 4, "does not meet a rule of the team"),
        ("apply", 5, 5, "run this job again later"),
        ("apply", 6, 6, 'a fresh one is needed: GitHub, the workflow "fresh plan"'),
        ("apply", 7, 7, "let a fresh plan do the rest"),
        ("apply", 8, 8, "the lock is released"),
        ("drift", 5, 0, "nothing was compared. The next run looks again."),
        ("drift", 1, 1, ""),
        ("maintain", 0, 0, "flareiac stop engine.runner"),
        ("maintain", 5, 5, "run this job again later"),
    ],
)
def test_a_script_ends_as_flareiac_does_and_shows_what_it_said(
    copied: Path, script: str, code: int, ends: int, said: str
) -> None:
    verb = "init|stop" if script == "maintain" else "none"
    stub = copied / "bin" / "flareiac"
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\necho "flareiac $*"\ncase $1 in {verb}) ;; *) exit {code} ;; esac\n')
    stub.chmod(0o755)
    summary = copied / "summary"
    variables = {"PATH": f"{stub.parent}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["bash", f"ci/{script}.sh"],
        cwd=copied,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == ends, done.stdout
    assert said in done.stdout
    assert f"flareiac {script} " in summary.read_text(encoding="utf-8")
