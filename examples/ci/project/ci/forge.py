"""Comments and issues: the same for GitHub, GitLab and a host with cron. Needs nothing but Python.

    python ci/forge.py comment FILE      FILE as the one comment of this project in the job's pull request
    python ci/forge.py drift CODE FILE   one issue, from the exit code and the Markdown of flareiac drift
    python ci/forge.py marker KIND       the first line of a comment that flareiac could not write
    python ci/forge.py sarif FILE        GitHub: the findings of validate for code scanning
    python ci/forge.py approvals         GitHub: names=..., who approved the pull request or the environment
    python ci/forge.py replan WORKFLOW   GitHub: starts a workflow on this branch

GitHub: GITHUB_TOKEN, and PULL_REQUEST or ISSUE_AUTHOR where needed. GitLab: GITLAB_TOKEN, a project access
token with the scope api. A host: FLAREIAC_ISSUE is the file that holds the last findings. Ends with 1 and one
line where the forge refuses; a token is never printed.
"""

import base64
import gzip
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

LONGEST = 65_000
"""GitHub takes comments and issues of 65,536 characters, GitLab longer ones."""
LABEL = "flareiac-drift"
"""The label of our issues: so few are read, however many the repository has."""
REASONS = {
    401: "the token is not known or has expired",
    403: "the token may not do that: see the permissions of the job",
    404: "it does not exist, or the token may not see it",
    422: "the text was not accepted",
}
Found = dict[str, Any]


class Refused(Exception):
    """The forge did not do what was asked; the text says why."""


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would take the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class Api:
    """A REST interface. ``headers`` hold the token."""

    root: str
    headers: dict[str, str]

    def ask(self, method: str, path: str, body: Found | None = None) -> Any:
        """The answer. Only a request that can be repeated is repeated, where the server is busy or down."""
        return self._ask(method, f"{self.root}{path}", body)[0]

    def all_of(self, path: str) -> Iterator[Found]:
        """The entries of a list, page after page."""
        address: str | None = f"{self.root}{path}"
        while address:
            entries, links = self._ask("GET", address, None)
            yield from entries
            match = re.search(r'<([^>]+)>;\s*rel="next"', links)
            address = match[1] if match else None
            if address and urlsplit(address)[:2] != urlsplit(self.root)[:2]:
                raise Refused(f"the next page would be on another server, {urlsplit(address).netloc}")

    def _ask(self, method: str, address: str, body: Found | None) -> tuple[Any, str]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "flareiac-ci", **self.headers}
        pauses = [] if method == "POST" else [1.0, 4.0, 10.0]
        while True:
            try:
                # The address is that of the CI system, from its own variables.
                request = Request(address, data=data, headers=headers, method=method)  # noqa: S310
                with build_opener(_NoRedirect).open(request, timeout=30) as answer:
                    text = answer.read()
                    return (json.loads(text) if text else None), answer.headers.get("Link") or ""
            except HTTPError as problem:
                if problem.code in (429, 500, 502, 503, 504) and pauses:
                    problem.close()
                else:
                    raise Refused(f"{_where(method, address)}: {_why(problem)}") from None
            except (URLError, TimeoutError, ConnectionError) as problem:
                if not pauses:
                    raise Refused(
                        f"{_where(method, address)}: {getattr(problem, 'reason', problem)}"
                    ) from None
            time.sleep(pauses.pop(0) * float(os.environ.get("FORGE_PATIENCE", "1")))


def _where(method: str, address: str) -> str:
    return f"{method} {urlsplit(address).path}"


def _why(problem: HTTPError) -> str:
    with problem:
        said = " ".join(problem.read(300).decode(errors="replace").split())
    return f"HTTP {problem.code}, {REASONS.get(problem.code, 'the server failed')} ({said})"


@dataclass(frozen=True, kw_only=True)
class GitHub:
    """The repository of a workflow of GitHub Actions. ``author``: whose comments and issues are ours."""

    api: Api
    repository: str
    author: str

    def comments(self, number: str) -> Iterator[tuple[str, str]]:
        """Our comments of a pull request, the oldest first: address and text."""
        for entry in self.api.all_of(f"/repos/{self.repository}/issues/{number}/comments?per_page=100"):
            if entry["user"]["login"] == self.author:
                yield f"/repos/{self.repository}/issues/comments/{entry['id']}", entry["body"] or ""

    def comment(self, number: str, text: str) -> None:
        self.api.ask("POST", f"/repos/{self.repository}/issues/{number}/comments", {"body": text})

    def write(self, address: str, text: str) -> None:
        self.api.ask("PATCH", address, {"body": text})

    def delete(self, address: str) -> None:
        self.api.ask("DELETE", address)

    def issues(self) -> Iterator[tuple[str, str, bool]]:
        """Our issues, the newest first: number, text, and whether it is open."""
        query = f"state=all&per_page=100&labels={LABEL}"
        for entry in self.api.all_of(f"/repos/{self.repository}/issues?{query}"):
            if "pull_request" not in entry and entry["user"]["login"] == self.author:
                yield str(entry["number"]), entry["body"] or "", entry["state"] == "open"

    def open(self, title: str, text: str) -> None:
        body = {"title": title, "body": text, "labels": [LABEL]}
        self.api.ask("POST", f"/repos/{self.repository}/issues", body)

    def say(self, number: str, text: str) -> None:
        self.comment(number, text)

    def rewrite(self, number: str, text: str) -> None:
        self.write(f"/repos/{self.repository}/issues/{number}", text)

    def close(self, number: str) -> None:
        body = {"state": "closed", "state_reason": "completed"}
        self.api.ask("PATCH", f"/repos/{self.repository}/issues/{number}", body)


@dataclass(frozen=True, kw_only=True)
class GitLab:
    """The project of a pipeline of GitLab. What the user of the token wrote is ours."""

    api: Api
    project: str

    @property
    def author(self) -> int:
        return int(self.api.ask("GET", "/user")["id"])

    def comments(self, number: str) -> Iterator[tuple[str, str]]:
        author, notes = self.author, f"/projects/{self.project}/merge_requests/{number}/notes"
        for entry in self.api.all_of(f"{notes}?per_page=100&sort=asc&order_by=created_at"):
            if entry["author"]["id"] == author and not entry["system"]:
                yield f"{notes}/{entry['id']}", entry["body"] or ""

    def comment(self, number: str, text: str) -> None:
        self.api.ask("POST", f"/projects/{self.project}/merge_requests/{number}/notes", {"body": text})

    def write(self, address: str, text: str) -> None:
        self.api.ask("PUT", address, {"body": text})

    def delete(self, address: str) -> None:
        self.api.ask("DELETE", address)

    def issues(self) -> Iterator[tuple[str, str, bool]]:
        query = f"scope=all&per_page=100&labels={LABEL}&author_id={self.author}"
        for entry in self.api.all_of(f"/projects/{self.project}/issues?{query}"):
            yield str(entry["iid"]), entry["description"] or "", entry["state"] == "opened"

    def open(self, title: str, text: str) -> None:
        body = {"title": title, "description": text, "labels": LABEL}
        self.api.ask("POST", f"/projects/{self.project}/issues", body)

    def say(self, number: str, text: str) -> None:
        self.api.ask("POST", f"/projects/{self.project}/issues/{number}/notes", {"body": text})

    def rewrite(self, number: str, text: str) -> None:
        self.api.ask("PUT", f"/projects/{self.project}/issues/{number}", {"description": text})

    def close(self, number: str) -> None:
        self.api.ask("PUT", f"/projects/{self.project}/issues/{number}", {"state_event": "close"})


def forge() -> GitHub | GitLab | None:
    """The forge of this job; None on a host, and where GitLab's project has no token."""
    given = os.environ
    if given.get("GITHUB_ACTIONS") == "true":
        if not given.get("GITHUB_TOKEN"):
            raise Refused("GITHUB_TOKEN is not set: the step needs env: GITHUB_TOKEN: ${{ github.token }}")
        headers = {"Authorization": f"Bearer {given['GITHUB_TOKEN']}", "X-GitHub-Api-Version": "2022-11-28"}
        api = Api(root=given.get("GITHUB_API_URL", "https://api.github.com"), headers=headers)
        author = given.get("ISSUE_AUTHOR") or "github-actions[bot]"
        return GitHub(api=api, repository=given["GITHUB_REPOSITORY"], author=author)
    if given.get("GITLAB_CI") == "true" and given.get("GITLAB_TOKEN"):
        api = Api(root=given["CI_API_V4_URL"], headers={"PRIVATE-TOKEN": given["GITLAB_TOKEN"]})
        return GitLab(api=api, project=given["CI_PROJECT_ID"])
    return None


def comment(file: str) -> int:
    """Writes the comment, or replaces the text of the one that is there."""
    there = forge()
    number = os.environ.get("PULL_REQUEST") or os.environ.get("CI_MERGE_REQUEST_IID", "")
    if there is None or not number:
        print("No comment: there is no pull request here, or no token (GITLAB_TOKEN).")
        return 0
    text = Path(file).read_text(encoding="utf-8") if Path(file).exists() else _no_plan()
    first = text.partition("\n")[0]
    if not first.startswith("<!-- flareiac-"):
        raise Refused(f"{file} has no marker in its first line")
    if len(text) > LONGEST:
        verdict = text.split("\n")[1][:1000]
        text = f"{first}\n{verdict}\n\nThe rest is too long for a comment; the artefact of this run has it."

    def ours() -> list[tuple[str, str]]:
        return [(at, old) for at, old in there.comments(number) if old.partition("\n")[0].strip() == first]

    if not ours():
        there.comment(number, text)
    # One that another run wrote at the same time is older or newer: the oldest stays.
    (kept, old), *others = ours() or [("", text)]
    if old.rstrip() != text.rstrip():
        there.write(kept, text)
    for at, _ in others:
        try:
            there.delete(at)
        except Refused as refused:
            if "HTTP 404" not in str(refused):  # the other run has deleted it
                raise
    return 0


def _no_plan() -> str:
    """The comment where the job ended before there was a plan: the old one would be taken for that of now."""
    given = os.environ
    run = f"{given.get('GITHUB_SERVER_URL', '')}/{given.get('GITHUB_REPOSITORY', '')}/actions/runs"
    address = given.get("CI_PIPELINE_URL") or f"{run}/{given.get('GITHUB_RUN_ID', '')}"
    return f"{_marker('flareiac-report')}\n**There is no plan:** its job ended before that, see {address}.\n"


def drift(code: int, file: str) -> int:
    """Keeps the issue up to date. 0: it is; 3: there is drift that no issue has."""
    text = Path(file).read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    which, _, listed = first.removesuffix(" -->").partition(" fingerprints=")
    if not which.startswith("<!-- flareiac-drift "):
        raise Refused(f"{file} has no marker in its first line")
    now = set(filter(None, listed.split(",")))
    if os.environ.get("FLAREIAC_ISSUE"):
        return _file(Path(os.environ["FLAREIAC_ISSUE"]), code, text, now)
    there = forge()
    if there is None:
        return code
    if len(text) > LONGEST:
        text = "\n".join(
            [*text.split("\n")[:2], "", "The rest is too long for an issue; the log of the job has it."]
        )
    ours = (it for it in there.issues() if it[1].startswith(f"{which} fingerprints="))
    number, old, is_open = next(ours, ("", "", False))
    before = _fingerprints(old)
    # With drift, an issue that a person has closed stays closed until there is more. Without drift, it
    # forgets what it has: drift that comes back is new.
    if before != now and (is_open or (number and code == 0)):
        there.rewrite(number, text)
    if code == 0 and is_open:
        there.say(number, "The drift is gone.")
        there.close(number)
    elif code != 0 and is_open and now - before:
        there.say(number, _news(text, now - before))
    elif code != 0 and not is_open and (not before or now - before):
        there.open(_title(), text)
    return 0


def _title() -> str:
    names = [*filter(None, [os.environ.get("FLAREIAC_PROJECT"), os.environ.get("FLAREIAC_WORKSPACE")])]
    return f"Drift of {', '.join(names)}" if names else "Drift"


def _fingerprints(text: str) -> set[str]:
    listed = text.partition("\n")[0].strip().removesuffix(" -->").partition(" fingerprints=")[2]
    return set(filter(None, listed.split(",")))


def _news(text: str, new: set[str]) -> str:
    """The rows of the new findings, as the report has them."""
    lines = text.split("\n")
    head = next((number for number, line in enumerate(lines) if line.startswith("| resource ")), None)
    rows = [line for line in lines if any(f"`{name}`" in line for name in new) and line.startswith("| ")]
    table = [] if head is None or not rows else ["", *lines[head : head + 2], *rows]
    return "\n".join([f"New findings: {len(new)}.", *table])[:LONGEST]


def _file(kept: Path, code: int, text: str, now: set[str]) -> int:
    """The issue of a host: a file with the last findings. 3 where there is a new one."""
    before = _fingerprints(kept.read_text(encoding="utf-8")) if kept.exists() else set()
    if code == 0:
        kept.unlink(missing_ok=True)
        if before:
            print("The drift is gone.")
        return 0
    part = kept.with_name(f"{kept.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(kept)
    return 3 if now - before else 0


def marker(kind: str) -> int:
    """Prints what flareiac writes as the first line of a comment, for one that it could not write."""
    print(_marker(kind))
    return 0


def _marker(kind: str) -> str:
    names = [
        f"{key}={_encoded(value)}"
        for key, value in (
            ("project", os.environ.get("FLAREIAC_PROJECT", "")),
            ("workspace", os.environ.get("FLAREIAC_WORKSPACE") or "default"),
        )
        if value
    ]
    return f"<!-- {kind} {' '.join(names)} -->"


def _encoded(name: str) -> str:
    if len(name) > 60:
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return f"{_encoded(name[:43])}.{digest}"
    return re.sub(r"[^A-Za-z0-9_.]", lambda sign: f"%{ord(sign[0]):02X}", name)


def sarif(file: str) -> int:
    """Uploads it; a repository without code scanning gets a line in the log, and the job goes on."""
    there = forge()
    if not isinstance(there, GitHub):
        return 0
    findings = json.loads(Path(file).read_bytes())
    project = os.environ.get("FLAREIAC_PROJECT", "")
    for run in findings["runs"] if project else []:
        # GitHub wants paths from the root of the repository, and keeps one run of each category.
        run["automationDetails"] = {"id": f"flareiac/{project}/"}
        for location in _locations(run.get("results", [])):
            if "uri" in location and not urlsplit(location["uri"]).scheme:
                location["uri"] = f"{quote(project)}/{location['uri']}"
    body = {
        "commit_sha": os.environ["GITHUB_SHA"],
        "ref": os.environ["GITHUB_REF"],
        "sarif": base64.b64encode(gzip.compress(json.dumps(findings).encode())).decode(),
    }
    try:
        there.api.ask("POST", f"/repos/{there.repository}/code-scanning/sarifs", body)
    except Refused as refused:
        if "HTTP 403" not in str(refused) and "HTTP 404" not in str(refused):
            raise
        print(f"Code scanning takes no findings here: {refused}")
    return 0


def _locations(part: Any) -> Iterator[Found]:
    """Every ``artifactLocation`` in a part of the document."""
    if isinstance(part, dict):
        if "artifactLocation" in part:
            yield part["artifactLocation"]
        part = [*part.values()]
    if isinstance(part, list):
        for inner in part:
            yield from _locations(inner)


def approvals() -> int:
    """Prints ``names=``: reviewers whose last review approves the merged head, and approvers of this run."""
    there = forge()
    if not isinstance(there, GitHub):
        raise Refused("approvals are asked of GitHub")
    api, repository = there.api, f"/repos/{there.repository}"
    verdicts: dict[str, str] = {}
    for pull in api.all_of(f"{repository}/commits/{os.environ['GITHUB_SHA']}/pulls?per_page=100"):
        if pull.get("merge_commit_sha") == os.environ["GITHUB_SHA"]:
            for review in api.all_of(f"{repository}/pulls/{pull['number']}/reviews?per_page=100"):
                if review["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
                    same = review["commit_id"] == pull["head"]["sha"]
                    verdicts[review["user"]["login"]] = review["state"] if same else "OUTDATED"
    for approval in api.ask("GET", f"{repository}/actions/runs/{os.environ['GITHUB_RUN_ID']}/approvals"):
        verdicts[approval["user"]["login"]] = approval["state"].upper()
    names = [name for name, verdict in verdicts.items() if verdict == "APPROVED"]
    # An output is a line, so a name must not hold the end of one.
    plain = [name for name in names if re.fullmatch(r"[\w.\[\]-]+", name, re.ASCII)]
    print(f"names={','.join(plain)}")
    return 0


def replan(workflow: str) -> int:
    """Starts a workflow on the branch of this job."""
    there = forge()
    if not isinstance(there, GitHub):
        raise Refused("workflows are started on GitHub")
    body = {"ref": os.environ["GITHUB_REF_NAME"]}
    there.api.ask("POST", f"/repos/{there.repository}/actions/workflows/{workflow}/dispatches", body)
    print(
        f"The plan is stale, so {workflow} was started: it plans the branch as it is, and waits for approval."
    )
    return 0


def main(words: list[str]) -> int:
    """Does what the command line asks for."""
    match words:
        case ["comment", file]:
            return comment(file)
        case ["drift", code, file]:
            return drift(int(code), file)
        case ["marker", kind]:
            return marker(kind)
        case ["sarif", file]:
            return sarif(file)
        case ["approvals"]:
            return approvals()
        case ["replan", workflow]:
            return replan(workflow)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as refused:
        print(f"Error: {refused}", file=sys.stderr)
        sys.exit(1)
