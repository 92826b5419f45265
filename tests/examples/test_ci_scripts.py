"""The scripts of the CI files with FlareIaC itself, on a lake in a folder: what a runner does to them, and
what others write into names and texts.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
import yaml
from pyiceberg.catalog.sql import SqlCatalog

from examples.ci.runner.forge import GITHUB_TOKEN, LONGEST, Forge, serving
from examples.ci.runner.settings import REPOSITORY
from tests.examples.depends import EXAMPLES

PROJECT: Final = EXAMPLES / "ci" / "project"
CATALOG: Final = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
namespace "web" {}
"""
TABLE: Final = 'table "{name}" {{\n  namespace = namespace.web\n  column "id" {{ type = "long" }}\n{more}}}\n'
SECRET: Final = "hunter2-of-the-catalog"


def table(name: str, more: str = "") -> str:
    return TABLE.format(name=name, more=more)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the scripts, and with a project whose lake is in a folder."""
    root = tmp_path / "repository"
    shutil.copytree(PROJECT / "ci", root / "ci")
    shutil.copy(PROJECT / ".gitignore", root)
    (root / "main.flare.hcl").write_text(CATALOG + table("orders"))
    return root


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)


@pytest.fixture
def job(forge: Forge, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of a job of GitHub, of pull request 1."""
    with serving(forge) as address:
        yield {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": address,
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_TOKEN": GITHUB_TOKEN,
            "PULL_REQUEST": "1",
        }


def variables(job: Mapping[str, str]) -> dict[str, str]:
    of_the_caller = ("AWS_", "CI_", "FLAREIAC_", "GITHUB_", "GITLAB_", "PG")
    own = {name: value for name, value in os.environ.items() if not name.startswith(of_the_caller)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**own, "PATH": path, "CI": "true", **job}


def step(root: Path, script: str, job: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Runs a step as GitHub's runner does."""
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=root,
        env=variables(job),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def planned(root: Path, job: Mapping[str, str], code: int = 0) -> str:
    done = step(root, "bash ci/plan.sh", job)
    assert done.returncode == code, done.stdout
    return done.stdout


def commented(root: Path, job: Mapping[str, str], forge: Forge, file: str = "plan.md") -> list[str]:
    done = step(root, f"python ci/forge.py comment {file}", job)
    assert done.returncode == 0, done.stdout
    return [entry["body"] for entry in forge.entries("comments")]


def test_a_plan_that_fails_and_one_that_works_share_a_comment(
    repository: Path, job: dict[str, str], forge: Forge
) -> None:
    planned(repository, job)
    assert "2 changes" in commented(repository, job, forge)[0]
    ticks = "`" * 20
    (repository / "main.flare.hcl").write_text(f"{CATALOG}nonsense {ticks}\n@team <script>\n")
    planned(repository, job, 1)
    (text,) = commented(repository, job, forge)
    fence = text.splitlines()[3]
    assert set(fence) == {"`"}
    assert len(fence) == 1 + max(map(len, re.findall("`+", "\n".join(text.splitlines()[4:-1]))), default=2)
    assert text.rstrip().endswith(f"\n{fence}")
    (repository / "main.flare.hcl").write_text(CATALOG)
    planned(repository, job)
    (text,) = commented(repository, job, forge)
    assert "nonsense" not in text


def test_two_projects_of_a_repository_have_a_comment_each(
    repository: Path, job: dict[str, str], forge: Forge
) -> None:
    for name in ("eu", "us"):
        (repository / "lakes" / name).mkdir(parents=True)
        shutil.copy(repository / "main.flare.hcl", repository / "lakes" / name)
    for name in ("eu", "us", "eu"):
        of_one = {**job, "FLAREIAC_PROJECT": f"lakes/{name}"}
        planned(repository, of_one)
        bodies = commented(repository, of_one, forge, f"lakes/{name}/plan.md")
    eu, us = bodies
    assert eu.startswith(
        "<!-- flareiac-report project=lakes%2Feu workspace=default -->\nProject `lakes/eu`: "
    )
    assert us.startswith(
        "<!-- flareiac-report project=lakes%2Fus workspace=default -->\nProject `lakes/us`: "
    )


HOSTILE: Final = (
    "::error title=x::y\n::set-output name=code::0\n::add-mask::a\n##[command]x\n$(touch injected)"
    "\n`touch injected`\n@team <script>alert(1)</script> --> ${{ github.token }}"
)


def test_texts_of_tables_are_no_commands_for_runner_shell_or_page(
    repository: Path, job: dict[str, str], forge: Forge
) -> None:
    more = f"  comment = {json.dumps(HOSTILE).replace('${', '$${')}\n"
    (repository / "main.flare.hcl").write_text(CATALOG + table("orders", more))
    (repository / "::error::$(touch injected) `touch injected`\n::warning::.flare.hcl").write_text("")
    said = planned(repository, {**job, "GITHUB_HEAD_REF": 'a";touch${IFS}injected;"'})
    stopped, _, rest = said.partition("\n")
    token = stopped.removeprefix("::stop-commands::")
    assert re.fullmatch(r"[0-9a-f]{32}", token), stopped
    assert rest.endswith(f"\n::{token}::\n")
    assert rest.count(token) == 1, "nothing that is printed could know it"
    (text,) = commented(repository, job, forge)
    outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "<script>" not in outside
    assert "@team" not in outside
    assert not list(repository.rglob("injected"))
    assert not Path(job["GITHUB_OUTPUT"]).exists()


def test_no_workflow_puts_an_expression_into_a_script() -> None:
    """Branch names and titles are texts of strangers: a shell gets them as variables, if at all."""
    files = [*PROJECT.glob(".github/**/*.yml"), PROJECT / "ci" / "gitlab-ci.yml"]
    assert len(files) == 6
    for path in files:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
        jobs = [read["runs"]] if "runs" in read else [*read.get("jobs", read).values()]
        steps = [it for body in jobs if isinstance(body, dict) for it in body.get("steps", [body])]
        for script in (it.get("run", it.get("script", "")) for it in steps):
            assert "${{" not in str(script), (path.name, script)
        for name in ("head_ref", "github.event.pull_request.title", "github.event.pull_request.body"):
            assert name not in path.read_text(encoding="utf-8"), path.name


def test_credentials_that_are_refused_are_an_error_without_the_secret(
    repository: Path, job: dict[str, str], forge: Forge
) -> None:
    secret = 'secret "password" { env = "PGPASSWORD" }\n'
    uri = "postgresql://lake_plan@127.0.0.1:1/lake"
    catalog = (
        f'catalog "lake" {{\n  uri = "{uri}"\n  warehouse = "lake"\n  credential = secret.password\n}}\n'
    )
    (repository / "main.flare.hcl").write_text(secret + catalog + 'namespace "web" {}\n' + table("orders"))
    said = planned(repository, {**job, "PGPASSWORD": SECRET}, 1)
    assert "Error: " in said
    (text,) = commented(repository, job, forge)
    assert text.startswith("<!-- flareiac-report workspace=default -->\n")
    kept = [path.read_bytes() for path in repository.rglob("*") if path.is_file()]
    summary = Path(job["GITHUB_STEP_SUMMARY"]).read_bytes()
    assert not [it for it in (said.encode(), text.encode(), summary, *kept) if SECRET.encode() in it]
    done = step(repository, "bash ci/drift.sh", {**job, "PGPASSWORD": SECRET})
    assert done.returncode in (0, 1)
    assert SECRET not in done.stdout


def test_a_report_of_many_tables_fits_a_comment(repository: Path, job: dict[str, str], forge: Forge) -> None:
    tables = "".join(table(f"t{number}", f'  comment = "{"x" * 300} {number}"\n') for number in range(300))
    (repository / "main.flare.hcl").write_text(CATALOG + tables)
    planned(repository, job)
    (text,) = commented(repository, job, forge)
    assert 20_000 < len(text) <= LONGEST
    assert "Left out to stay within 60000 characters" in text


RULES: Final = """
policy "team" {
  rule "names" {
    types     = ["table"]
    condition = change.name != "orders"
    message   = "orders is reserved"
  }
}
"""


def test_a_branch_cannot_loosen_the_rules_for_its_own_plan(repository: Path, job: dict[str, str]) -> None:
    """GitHub's workflow checks the rules of main out; GitLab's job fetches them."""
    (repository / "policy").mkdir()
    (repository / "policy" / "rules.flare.hcl").write_text(RULES)
    author = "-c user.name=Ada -c user.email=ada@company.example"
    quiet = f"git add -A && git {author} commit -q -m x"
    assert step(repository, f"git init -q -b main && {quiet}", {}).returncode == 0
    assert (
        step(repository, "git clone -q . ../clone && cd ../clone && git checkout -q -b loose", {}).returncode
        == 0
    )
    clone = repository.parent / "clone"
    shutil.rmtree(clone / "policy")
    assert step(clone, quiet, {}).returncode == 0
    gitlab = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    for given in ({**job, "FLAREIAC_RULES": str(repository / "policy")}, gitlab):
        assert "orders is reserved" in planned(clone, given, 4)
        text = (clone / "plan.md").read_text()
        head = "**The rules of the team refuse this plan.**\n\n### Rules of the team\n\n```\n"
        assert text.split("\n", 3)[3].startswith(head)
        assert "orders is reserved" in text
        assert 'failures="1"' in (clone / "policy.xml").read_text()
    planned(clone, job)


def test_a_stale_plan_is_named_as_the_output_of_its_step(repository: Path, job: dict[str, str]) -> None:
    planned(repository, job)
    shutil.copy(repository / "flareiac.plan", repository / "first.plan")
    assert step(repository, "exec bash ci/apply.sh", job).returncode == 0
    shutil.copy(repository / "first.plan", repository / "flareiac.plan")
    done = step(repository, "exec bash ci/apply.sh", job)
    assert done.returncode == 6, done.stdout
    assert "a fresh one is needed" in done.stdout
    assert Path(job["GITHUB_OUTPUT"]).read_text() == "code=0\ncode=6\n"
    assert "a fresh one is needed" in Path(job["GITHUB_STEP_SUMMARY"]).read_text()


def test_two_jobs_that_apply_one_plan_apply_it_once(repository: Path, job: dict[str, str]) -> None:
    planned(repository, job)
    both = [
        subprocess.Popen(
            ["bash", "-e", "-c", "exec bash ci/apply.sh"],
            cwd=repository,
            env=variables({**job, "GITHUB_OUTPUT": str(repository / f"output{number}")}),
            stdout=subprocess.DEVNULL,
        )
        for number in range(2)
    ]
    assert sorted(it.wait() for it in both) == [0, 6]


def test_a_cancelled_apply_ends_well_and_a_fresh_plan_does_the_rest(
    repository: Path, job: dict[str, str]
) -> None:
    """GitHub's runner signals the process that it has started, and once more after some seconds."""
    (repository / "main.flare.hcl").write_text(CATALOG + "".join(table(f"t{count}") for count in range(25)))
    planned(repository, job)
    with subprocess.Popen(
        ["bash", "-e", "-c", "exec bash ci/apply.sh"],
        cwd=repository,
        env=variables(job),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as applying:
        assert applying.stdout is not None
        lines = iter(applying.stdout)
        said = "".join(_until(lines, "table.t"))
        os.kill(applying.pid, signal.SIGINT)
        time.sleep(0.1)
        os.kill(applying.pid, signal.SIGTERM)
        said += "".join(lines)
    assert applying.returncode == 8, said
    assert "the lock is released" in said
    free = step(repository, "flareiac lock status", {})
    assert free.returncode == 0
    assert "No lock" in free.stdout or "not locked" in free.stdout.lower() or "free" in free.stdout, (
        free.stdout
    )
    assert step(repository, "flareiac drift", {}).returncode == 0, "nothing is half done"
    assert step(repository, "exec bash ci/apply.sh", job).returncode == 6, (
        "the same plan is not applied twice"
    )
    planned(repository, job)
    assert step(repository, "exec bash ci/apply.sh", job).returncode == 0
    assert "No changes." in planned(repository, job)


def _until(lines: Iterator[str], text: str) -> Iterator[str]:
    for line in lines:
        yield line
        if text in line and "complete" in line:
            return


def test_drift_is_an_issue_that_lives_as_long_as_the_drift(
    repository: Path, job: dict[str, str], forge: Forge
) -> None:
    properties = '  properties = { "write.a" = "0", "write.b" = "0" }\n'
    (repository / "main.flare.hcl").write_text(CATALOG + table("orders", properties))
    planned(repository, job)
    assert step(repository, "exec bash ci/apply.sh", job).returncode == 0
    lake = {"uri": f"sqlite:///{repository}/lake/catalog.db", "warehouse": f"{repository}/lake/warehouse"}
    states: list[list[str]] = []
    for change in ({}, {"write.a": "1"}, {}, {"write.b": "1"}, {"write.a": "0", "write.b": "0"}):
        if change:
            with SqlCatalog("lake", **lake).load_table("web.orders").transaction() as changing:
                changing.set_properties(change)
        done = step(repository, "bash ci/drift.sh", job)
        assert done.returncode == 0, done.stdout
        states.append([it["state"] for it in forge.entries("issues")])
    assert states == [[], ["open"], ["open"], ["open"], ["closed"]]
    assert len(forge.entries("comments")) == 2


STUB: Final = "#!/bin/sh\ncase $1 in {verb}) {does} ;; esac\n"


def host(
    repository: Path, does: str, words: str = "drift", **more: str
) -> "subprocess.CompletedProcess[str]":
    stub = repository / "bin" / "flareiac"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(STUB.format(verb=words.split()[0], does=does))
    stub.chmod(0o755)
    path = f"{stub.parent}{os.pathsep}{variables({})['PATH']}"
    return step(repository, f"bash ci/host.sh {words}", {"PATH": path, **more})


def test_a_host_is_silent_where_there_is_no_news(repository: Path, tmp_path: Path) -> None:
    kept = {"FLAREIAC_ISSUE": str(tmp_path / "findings.md")}
    report = 'echo "<!-- flareiac-drift workspace=default fingerprints=%s -->"; echo found; exit %d'
    nights = [
        (report % ("", 0), 0, False),
        (report % ("01", 3), 3, True),
        (report % ("01", 3), 0, False),
        ("exit 5", 0, False),
        ("echo no server >&2; exit 1", 1, True),
        (report % ("01,02", 3), 3, True),
    ]
    for does, code, is_told in nights:
        done = host(repository, does, **kept)
        assert (done.returncode, bool(done.stdout)) == (code, is_told), done.stdout


def test_a_host_runs_a_script_once_at_a_time(repository: Path) -> None:
    stub_is_slow = "touch begun; sleep 3; exit 1"
    host(repository, "exit 5")
    (repository / "bin" / "flareiac").write_text(STUB.format(verb="drift", does=stub_is_slow))
    path = {"PATH": f"{repository / 'bin'}{os.pathsep}{variables({})['PATH']}"}
    with subprocess.Popen(
        ["bash", "ci/host.sh", "drift"], cwd=repository, env=variables(path), stdout=subprocess.DEVNULL
    ) as running:
        while not (repository / "begun").exists():
            time.sleep(0.01)
        done = step(repository, "bash ci/host.sh drift", path)
        assert (done.returncode, done.stdout) == (0, "")
    assert running.returncode == 1
    assert step(repository, "bash ci/host.sh other", {}).returncode == 64
