"""The script that writes comments and issues, against the end points of GitHub and GitLab on the loopback."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from examples.ci.runner.forge import BOT, GITHUB_TOKEN, GITLAB_TOKEN, LONGEST, PAGE, Forge, serving
from examples.ci.runner.settings import REPOSITORY
from flareiac.render.marker import marker
from tests.examples.depends import EXAMPLES

SCRIPT: Final = EXAMPLES / "ci" / "project" / "ci" / "forge.py"
STRANGER: Final = "mallory"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path)


@pytest.fixture
def address(forge: Forge) -> Iterator[str]:
    with serving(forge) as found:
        yield found


@pytest.fixture(params=["GitHub", "GitLab"])
def system(request: pytest.FixtureRequest, address: str) -> Mapping[str, str]:
    """The variables of a job of pull request 1."""
    if request.param == "GitHub":
        return on_github(address)
    return {
        "GITLAB_CI": "true",
        "GITLAB_TOKEN": GITLAB_TOKEN,
        "CI_API_V4_URL": f"{address}/api/v4",
        "CI_PROJECT_ID": "17",
        "CI_MERGE_REQUEST_IID": "1",
    }


def on_github(address: str) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": address,
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_REF_NAME": "main",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_RUN_ID": "5",
        "GITHUB_SHA": "abc",
        "GITHUB_TOKEN": GITHUB_TOKEN,
        "PULL_REQUEST": "1",
    }


def run(folder: Path, variables: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs the script; no token is in what it prints."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GITLAB_"))}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        cwd=folder,
        env={**own, "FORGE_PATIENCE": "0", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert GITHUB_TOKEN not in done.stdout + done.stderr
    assert GITLAB_TOKEN not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def report(folder: Path, text: str, *, project: str = "", workspace: str = "default") -> None:
    first = marker("flareiac-report", project=project, workspace=workspace)
    (folder / "plan.md").write_text(f"{first}\n{text}", encoding="utf-8")


def comments(forge: Forge) -> list[str]:
    return [entry["body"].partition("\n")[2] for entry in forge.entries("comments")]


def test_a_comment_is_replaced_and_never_repeated(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    for number in range(2 * PAGE):  # on other pages
        forge.add("comments", on=1, author=STRANGER, body=f"looks good {number}")
    for text in ("1 change\n", "1 change\n", "2 changes\n"):
        report(tmp_path, text)
        assert run(tmp_path, system, "comment", "plan.md").returncode == 0
    assert comments(forge)[2 * PAGE :] == ["2 changes\n"]
    writing = [it for it in forge.requests if not it.startswith("GET")]
    assert len(writing) == 2, "the second run had nothing to write"


def test_projects_and_workspaces_have_comments_of_their_own(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    for text in ("a", "b"):
        for project, workspace in (("lake/eu", "default"), ("lake/us", "default"), ("lake/eu", "prod")):
            report(tmp_path, f"{project} {workspace} {text}\n", project=project, workspace=workspace)
            assert run(tmp_path, system, "comment", "plan.md").returncode == 0
    assert comments(forge) == ["lake/eu default b\n", "lake/us default b\n", "lake/eu prod b\n"]


def test_the_comment_of_another_person_is_left_alone(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    """Also where it begins with the marker, or ours is quoted in it."""
    report(tmp_path, "1 change\n")
    forged = (tmp_path / "plan.md").read_text()
    forge.add("comments", on=1, author=STRANGER, body=forged)
    forge.add("comments", on=1, author=BOT, body=f"> {forged}")
    assert run(tmp_path, system, "comment", "plan.md").returncode == 0
    bodies = [entry["body"] for entry in forge.entries("comments")]
    assert bodies == [forged, f"> {forged}", forged]


def test_runs_at_the_same_time_leave_one_comment(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    report(tmp_path, "1 change\n")
    with ThreadPoolExecutor(4) as pool:
        codes = [
            it.returncode for it in pool.map(lambda _: run(tmp_path, system, "comment", "plan.md"), range(4))
        ]
    assert codes == [0] * 4
    assert comments(forge) == ["1 change\n"]


def test_a_report_over_the_limit_is_its_verdict(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    report(tmp_path, "3 changes, **1 loses data**\n```\n" + "x\n" * LONGEST)
    assert run(tmp_path, system, "comment", "plan.md").returncode == 0
    (text,) = comments(forge)
    assert text.startswith("3 changes, **1 loses data**\n\nThe rest is too long for a comment")
    assert "```" not in text


def test_a_busy_forge_is_asked_again(tmp_path: Path, forge: Forge, system: Mapping[str, str]) -> None:
    forge.busy = 2
    report(tmp_path, "1 change\n")
    assert run(tmp_path, system, "comment", "plan.md").returncode == 0
    assert comments(forge) == ["1 change\n"]


@pytest.mark.parametrize("words", [("comment", "plan.md"), ("drift", "3", "drift.md")])
def test_a_token_that_is_refused_is_named_and_not_shown(
    tmp_path: Path, forge: Forge, system: Mapping[str, str], words: tuple[str, ...]
) -> None:
    forge.refuses = True
    report(tmp_path, "1 change\n")
    findings(tmp_path, "01")
    done = run(tmp_path, system, *words)
    assert done.returncode == 1
    assert "Error: GET /" in done.stderr
    assert "HTTP 401, the token is not known or has expired" in done.stderr


def test_a_server_that_is_gone_is_named(tmp_path: Path, forge: Forge) -> None:
    report(tmp_path, "1 change\n")
    done = run(tmp_path, on_github("http://127.0.0.1:1"), "comment", "plan.md")
    assert done.returncode == 1
    assert "Connection refused" in done.stderr


def test_without_a_token_gitlab_has_no_note_and_github_names_the_line(tmp_path: Path, address: str) -> None:
    report(tmp_path, "1 change\n")
    done = run(tmp_path, {"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "1"}, "comment", "plan.md")
    assert (done.returncode, done.stdout.startswith("No comment")) == (0, True)
    done = run(tmp_path, {**on_github(address), "GITHUB_TOKEN": ""}, "comment", "plan.md")
    assert (done.returncode, "${{ github.token }}" in done.stderr) == (1, True)


def findings(folder: Path, *prints: str, project: str = "") -> None:
    first = marker("flareiac-drift", workspace="default", project=project, fingerprints=",".join(prints))
    rows = [f"| `table.t{name}` | `comment` | `a` | `b` |  |  | `{name}` |" for name in prints]
    head = [
        "| resource | attribute | recorded | live | since | by | fingerprint |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = [first, f"**Drift: {len(prints)} changed.**", "", *(head if rows else []), *rows]
    (folder / "drift.md").write_text("\n".join(lines), encoding="utf-8")


def test_one_issue_is_opened_told_what_is_new_and_closed(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    def night(code: int, *prints: str) -> None:
        findings(tmp_path, *prints)
        done = run(tmp_path, system, "drift", str(code), "drift.md")
        assert done.returncode == 0, done.stderr

    def now() -> tuple[list[str], int]:
        return [it["state"] for it in forge.entries("issues")], len(forge.entries("comments"))

    night(0)
    assert now() == ([], 0)
    night(3, "01", "02")
    assert now() == (["open"], 0)
    before = len([it for it in forge.requests if not it.startswith("GET")])
    night(3, "01", "02")
    assert len([it for it in forge.requests if not it.startswith("GET")]) == before, (
        "the same is not reported again"
    )
    night(3, "02", "03")
    assert now() == (["open"], 1)
    body = forge.entries("comments")[0]["body"]
    assert body.startswith("New findings: 1.\n\n| resource |")
    assert "table.t03" in body
    assert "table.t02" not in body
    night(3, "03")
    assert now() == (["open"], 1), "what is gone changes the text and tells no one"
    assert "table.t02" not in forge.entries("issues")[0]["body"]
    night(0)
    assert now() == (["closed"], 2)
    assert forge.entries("comments")[1]["body"] == "The drift is gone."
    night(0)
    assert now() == (["closed"], 2)
    night(3, "03")
    assert now() == (["closed", "open"], 2), "drift that comes back is new"


def test_an_issue_that_a_person_has_closed_stays_closed_until_there_is_more(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    findings(tmp_path, "01", "02")
    run(tmp_path, system, "drift", "3", "drift.md")
    issue = forge.entries("issues")[0]
    forge.change("issues", issue["id"], {"state": "closed"})
    for prints, count in ((("01", "02"), 1), (("01",), 1), (("01", "03"), 2)):
        findings(tmp_path, *prints)
        assert run(tmp_path, system, "drift", "3", "drift.md").returncode == 0
        assert len(forge.entries("issues")) == count, prints


def test_two_projects_have_an_issue_each_and_that_of_a_person_is_left_alone(
    tmp_path: Path, forge: Forge, system: Mapping[str, str]
) -> None:
    findings(tmp_path, "01", project="eu")
    body = (tmp_path / "drift.md").read_text()
    forge.add("issues", author=STRANGER, state="open", title="x", body=body, labels=["flareiac-drift"])
    for number in range(2 * PAGE):  # on other pages, and not asked for
        forge.add("issues", author=BOT, state="open", title=f"release {number}", body=None)
    for project in ("eu", "us", "eu"):
        findings(tmp_path, "01", project=project)
        done = run(tmp_path, {**system, "FLAREIAC_PROJECT": project}, "drift", "3", "drift.md")
        assert done.returncode == 0
    assert [it["title"] for it in forge.entries("issues")][2 * PAGE + 1 :] == ["Drift of eu", "Drift of us"]
    findings(tmp_path, project="eu")
    run(tmp_path, system, "drift", "0", "drift.md")
    states = [it["state"] for it in forge.entries("issues")]
    assert (states[0], states[2 * PAGE + 1 :]) == ("open", ["closed", "open"])


def test_without_a_forge_drift_is_the_exit_code(tmp_path: Path) -> None:
    findings(tmp_path, "01")
    assert run(tmp_path, {}, "drift", "3", "drift.md").returncode == 3
    assert run(tmp_path, {"GITLAB_CI": "true"}, "drift", "3", "drift.md").returncode == 3


def test_a_host_is_told_each_finding_once(tmp_path: Path) -> None:
    kept = {"FLAREIAC_ISSUE": str(tmp_path / "findings.md")}
    nights = [
        (3, ["01"], 3),
        (3, ["01"], 0),
        (3, ["01", "02"], 3),
        (3, ["02"], 0),
        (0, [], 0),
        (3, ["02"], 3),
    ]
    for code, prints, ends in nights:
        findings(tmp_path, *prints)
        done = run(tmp_path, kept, "drift", str(code), "drift.md")
        assert done.returncode == ends, (prints, done.stderr)
        assert ("The drift is gone." in done.stdout) is (code == 0)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=90)


@given(NAMES, st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,89}", fullmatch=True))
@hypothesis_settings(max_examples=5)
def test_the_marker_of_a_failed_plan_is_that_of_its_report(project: str, workspace: str) -> None:
    names = {"FLAREIAC_PROJECT": project, "FLAREIAC_WORKSPACE": workspace}
    done = run(Path.cwd(), names, "marker", "flareiac-report")
    assert done.stdout == f"{marker('flareiac-report', project=project, workspace=workspace)}\n"


def test_who_approved_is_one_line_of_names(tmp_path: Path, forge: Forge, address: str) -> None:
    forge.add("pulls", number=4, merge_commit_sha="abc", head={"sha": "def"})
    forge.add("pulls", number=5, merge_commit_sha="other", head={"sha": "def"})
    for login, state, at, pull in (
        ("ada", "CHANGES_REQUESTED", "def", 4),
        ("ada", "APPROVED", "def", 4),
        ("bob", "APPROVED", "def", 4),
        ("bob", "DISMISSED", "def", 4),
        ("cyd", "APPROVED", "earlier", 4),
        ("dan", "APPROVED", "def", 5),
        ("eve\nCI_APPROVED_BY=root", "APPROVED", "def", 4),
    ):
        forge.add("reviews", pull=pull, state=state, commit_id=at, user={"login": login})
    forge.add("approvals", state="approved", user={"login": "grace-1"})
    forge.add("approvals", state="rejected", user={"login": "heidi"})
    assert run(tmp_path, on_github(address), "approvals").stdout == "names=ada,grace-1\n"


def test_findings_go_to_code_scanning_where_there_is_one(tmp_path: Path, forge: Forge, address: str) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "main.flare.hcl"}}}
    (tmp_path / "validate.sarif").write_text(json.dumps({"runs": [{"results": [{"locations": [place]}]}]}))
    for project, uri in (("", "main.flare.hcl"), ("lakes/eu", "lakes/eu/main.flare.hcl")):
        done = run(tmp_path, {**on_github(address), "FLAREIAC_PROJECT": project}, "sarif", "validate.sarif")
        assert done.returncode == 0, done.stderr
        (kept,) = forge.entries("sarifs")[-1]["runs"]
        assert kept["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
        assert kept.get("automationDetails", {}).get("id", "") == (f"flareiac/{project}/" if project else "")
    elsewhere = {**on_github(address), "GITHUB_REPOSITORY": "company/other"}
    done = run(tmp_path, elsewhere, "sarif", "validate.sarif")
    assert (done.returncode, "Code scanning takes no findings here" in done.stdout) == (0, True)


def test_a_stale_plan_starts_the_workflow_that_plans_again(
    tmp_path: Path, forge: Forge, address: str
) -> None:
    done = run(tmp_path, on_github(address), "replan", "fresh-plan.yml")
    assert "The plan is stale, so fresh-plan.yml was started" in done.stdout
    assert [(it["workflow"], it["ref"]) for it in forge.entries("dispatches")] == [("fresh-plan.yml", "main")]
