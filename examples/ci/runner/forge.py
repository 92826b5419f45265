"""The end points of GitHub and GitLab that the scripts use, on the loopback: comments, issues, reviews,
findings of code scanning, workflows to start. Each request is checked for its token, and for what the real
ones refuse.
"""

import base64
import gzip
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from examples.ci.runner.settings import REPOSITORY

LONGEST: Final = 65_536
PAGE: Final = 3
"""So few entries are on a page that the scripts have to turn pages."""
BOT: Final = "github-actions[bot]"
GITHUB_TOKEN: Final = "ghs_token_of_the_job"  # noqa: S105 - for the loopback alone
GITLAB_TOKEN: Final = "glpat-token-of-the-project"  # noqa: S105 - for the loopback alone
_LISTS: Final = ("comments", "issues", "sarifs", "dispatches", "pulls", "reviews", "approvals")
_COMMENTS: Final = re.compile(r"(?:/issues|/merge_requests)/(\d+)/(?:comments|notes)")
_COMMENT: Final = re.compile(r"/issues/comments/(\d+)|/merge_requests/\d+/notes/(\d+)")
_ISSUE: Final = re.compile(r"/issues/(\d+)")
Entry = dict[str, Any]


class Forge:
    """The content of the forge: a list of each kind, in ``store/forge.json``. ``busy``: so many requests are
    answered with 502 first.
    """

    def __init__(self, store: Path) -> None:
        self._file = store / "forge.json"
        self._lock = threading.RLock()
        self.busy = 0
        self.refuses = False
        self.requests: list[str] = []

    def entries(self, kind: str) -> list[Entry]:
        """The entries of one kind, the oldest first."""
        return self._load()[kind]

    def add(self, kind: str, **entry: Any) -> Entry:
        """One more entry; its ``id`` is the next number."""
        with self._lock:
            held = self._load()
            made: Entry = {"id": sum(map(len, held.values())) + 1, **entry}
            held[kind].append(made)
            self._file.write_text(json.dumps(held))
        return made

    def _load(self) -> dict[str, list[Entry]]:
        held = json.loads(self._file.read_text()) if self._file.exists() else {}
        return {kind: held.get(kind, []) for kind in _LISTS}

    def change(self, kind: str, number: int, change: Entry | None) -> Entry | None:
        """Changes an entry, or removes it; returns it, or None where there is none."""
        with self._lock:
            held = self._load()
            entry = next((it for it in held[kind] if it["id"] == number), None)
            if entry is not None and change is not None:
                entry |= change
            elif entry is not None:
                held[kind].remove(entry)
            self._file.write_text(json.dumps(held))
        return entry

    def answer(self, method: str, address: str, headers: Any, body: Entry) -> tuple[int, Any]:
        """The status and the JSON of one request."""
        with self._lock:
            self.requests.append(f"{method} {address}")
            if self.busy:
                self.busy -= 1
                return 502, {"message": "busy"}
        path = urlsplit(address).path
        if path.startswith("/api/v4/"):
            if self.refuses or headers.get("PRIVATE-TOKEN") != GITLAB_TOKEN:
                return 401, {"message": "401 Unauthorized"}
            path = path.removeprefix("/api/v4").removeprefix("/projects/17")
            body = {{"description": "body"}.get(key, key): value for key, value in body.items()}
            body |= {"state": "closed"} if body.pop("state_event", "") == "close" else {}
        else:
            if self.refuses or headers.get("Authorization") != f"Bearer {GITHUB_TOKEN}":
                return 401, {"message": "Bad credentials"}
            path = path.removeprefix(f"/repos/{REPOSITORY}")
        if len(body.get("body") or "") > LONGEST:
            return 422, {"message": f"Body is too long (maximum is {LONGEST} characters)"}
        return self._do(method, path, body)

    def _do(self, method: str, path: str, body: Entry) -> tuple[int, Any]:
        if method == "GET":
            found = self._listed(path)
            return (404, {"message": "Not Found"}) if found is None else (200, found)
        if method == "POST":
            return self._post(path, body)
        one = _COMMENT.fullmatch(path) or _ISSUE.fullmatch(path)
        if one is None:
            return 404, {"message": "Not Found"}
        kind = "comments" if "comments" in path or "notes" in path else "issues"
        number = int(next(filter(None, one.groups())))
        entry = self.change(kind, number, None if method == "DELETE" else body)
        return (404, {"message": "Not Found"}) if entry is None else (200, entry)

    def _post(self, path: str, body: Entry) -> tuple[int, Any]:
        if on := _COMMENTS.fullmatch(path):
            return 201, self.add("comments", on=int(on[1]), author=BOT, **body)
        if path == "/issues":
            return 201, self.add("issues", author=BOT, state="open", **body)
        if path == "/code-scanning/sarifs":
            return 202, self.add(
                "sarifs", runs=json.loads(gzip.decompress(base64.b64decode(body["sarif"])))["runs"]
            )
        if started := re.fullmatch(r"/actions/workflows/([\w.-]+)/dispatches", path):
            return 204, self.add("dispatches", workflow=started[1], **body)
        return 404, {"message": "Not Found"}

    def _listed(self, path: str) -> Any:
        if path == "/user":
            return {"id": 7}
        if on := _COMMENTS.fullmatch(path):
            return [_shown(it) for it in self.entries("comments") if it["on"] == int(on[1])]
        if path == "/issues":
            return [_shown(it) for it in reversed(self.entries("issues"))]
        if of := re.fullmatch(r"/commits/(\w+)/pulls", path):
            return [it for it in self.entries("pulls") if it["merge_commit_sha"] == of[1]]
        if of := re.fullmatch(r"/pulls/(\d+)/reviews", path):
            return [it for it in self.entries("reviews") if it["pull"] == int(of[1])]
        if re.fullmatch(r"/actions/runs/\d+/approvals", path):
            return self.entries("approvals")
        return None


def _shown(entry: Entry) -> Entry:
    """An entry under the names of both forges."""
    is_ours = entry["author"] == BOT
    return {
        **entry,
        "number": entry["id"],
        "iid": entry["id"],
        "description": entry["body"],
        "system": False,
        "user": {"login": entry["author"]},
        "author": {"id": 7 if is_ours else 8},
        "state": {"open": "open", "closed": "closed"}.get(entry.get("state", ""), ""),
    }


@contextmanager
def serving(forge: Forge) -> Iterator[str]:
    """The address of the forge, below which ``/api/v4`` is GitLab's."""

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(text) if text else {}
            status, found = forge.answer(self.command, self.path, self.headers, body)
            if isinstance(found, list) and "issues" in self.path:
                asked = parse_qs(urlsplit(self.path).query)
                if label := asked.get("labels"):
                    found = [it for it in found if label[0] in it.get("labels", "")]
                if author := asked.get("author_id"):
                    found = [it for it in found if it["author"]["id"] == int(author[0])]
                if "/api/v4/" in self.path:
                    opened = {"open": "opened"}
                    found = [{**it, "state": opened.get(it["state"], it["state"])} for it in found]
            page = int(parse_qs(urlsplit(self.path).query).get("page", ["1"])[0])
            self.send_response(status)
            if isinstance(found, list):
                if len(found) > page * PAGE:
                    base = re.sub(r"&page=\d+", "", self.path)
                    link = f'<http://{self.headers["Host"]}{base}&page={page + 1}>; rel="next"'
                    self.send_header("Link", link)
                found = found[(page - 1) * PAGE : page * PAGE]
            data = json.dumps(found).encode() if status != 204 else b""
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle  # noqa: N815 - the names of http.server

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name of http.server
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
