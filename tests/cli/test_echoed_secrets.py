"""Servers that answer with the request: no command prints, and no file keeps, a secret that it was sent."""

import base64
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from tests.support.command_line import flareiac

TOKEN, HEADER, LOGIN, GIVEN = (
    "TOPSECRETtok+99/=~x",
    "HDRSECRET 55&q",
    "id77:LOGINsecret%21é",
    "OAUTHgiven123tok",
)
SECRETS: Final = {"K": TOKEN, "H": HEADER, "L": LOGIN}
PROJECT = """
secret "k" { env = "K" }
secret "h" { env = "H" }
secret "l" { env = "L" }
catalog "r" {
  type       = "rest"
  uri        = "URI"
  properties = { "header.x-key" = secret.h }
  LOGIN
}
table "t" {
  catalog    = catalog.r
  namespace  = "n"
  on_destroy = "drop"
  column "id" { type = "long" }
}
"""
COMMANDS: Final = (
    ("plan",),
    ("plan", "-json"),
    ("plan", "-out=saved.json"),
    ("apply", "-auto-approve"),
    ("apply", "-auto-approve", "-json"),
    ("doctor",),
    ("doctor", "-json"),
    ("drift",),
    ("drift", "-json"),
    ("status",),
    ("maintain", "-auto-approve"),
    ("import", "table.other", "r.n.t"),
    ("import", "-from-catalog=r.*.*"),
)


class Echo(BaseHTTPRequestHandler):
    """Answers with all that it was sent, in several spellings; ``server.open`` says what it lets through."""

    server: Any

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_HEAD = do_DELETE = do_GET  # noqa: N815 - the names are the base class's

    def _answer(self, body: bytes) -> None:
        reads = self.command in ("GET", "HEAD")
        if self.path.endswith("/oauth/tokens") and self.server.gives_tokens:
            self._send(200, {"access_token": GIVEN, "token_type": "bearer", "expires_in": 3600})
        elif "/v1/config" in self.path and self.server.reads:
            self._send(200, {"defaults": {}, "overrides": {}})
        elif self.path.endswith("/namespaces") and self.server.reads and reads:
            self._send(200, {"namespaces": [["n"]]})
        elif reads and self.server.reads:
            self._send(404, {"error": {"message": "no", "type": "NoSuchTableException", "code": 404}})
        else:
            self._send(self.server.status, self._echoed(body))

    def _echoed(self, body: bytes) -> Any:
        sent = f"{self.headers.get('Authorization')} {self.headers.get('x-key')} {body.decode()}"
        encoded = base64.b64encode(sent.encode()).decode()
        lower = re.sub("%..", lambda found: found[0].lower(), quote(sent, safe=""))
        message = f"rejected: {sent} {quote(sent)} {lower} {encoded} {json.dumps(sent)}"
        if self.server.as_text:
            return message
        return {"error": {"message": message, "type": "NotAuthorizedException", "code": self.server.status}}

    def _send(self, status: int, document: Any) -> None:
        content = (document if isinstance(document, str) else json.dumps(document)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing is logged."""


@pytest.fixture
def server() -> Iterator[Any]:
    found: Any = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    found.status, found.reads, found.gives_tokens, found.as_text = 401, False, False, False
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def leaked(text: str) -> list[str]:
    """The secrets, or long parts of them, that a text holds in any spelling."""
    parts = ["TOPSECRET", "HDRSECRET", "LOGINsecret", "OAUTHgiven"]
    return [part for part in parts if part in text or any(each in text for each in in_base64(part))]


def in_base64(part: str) -> Iterator[str]:
    for before in range(3):
        yield base64.b64encode(bytes(before) + part.encode()).decode()[4:-4]


def kept(folder: Path) -> str:
    return "\n".join(
        path.read_bytes().decode(errors="replace") for path in folder.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize("login", ["token = secret.k", "credential = secret.l"])
@pytest.mark.parametrize(
    ("status", "reads", "gives_tokens", "as_text"),
    [
        (401, False, False, False),
        (500, False, True, True),
        (401, True, True, False),
    ],
)
def test_no_command_shows_what_a_server_echoes(
    tmp_path: Path,
    server: Any,
    monkeypatch: pytest.MonkeyPatch,
    login: str,
    status: int,
    reads: bool,
    gives_tokens: bool,
    as_text: bool,
) -> None:
    server.status, server.reads, server.gives_tokens, server.as_text = status, reads, gives_tokens, as_text
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    uri = f"http://127.0.0.1:{server.server_port}"
    (tmp_path / "main.flare.hcl").write_text(PROJECT.replace("URI", uri).replace("LOGIN", login))
    masks = 0
    for command in COMMANDS:
        ended = flareiac(tmp_path, *command)
        assert leaked(ended.text) == [], (command, ended.text)
        assert "Traceback" not in ended.text
        masks += "(sensitive)" in ended.text
        if "-json" in command and command[0] != "status":
            for line in [ended.out] if command[0] == "doctor" else ended.out.splitlines():
                json.loads(line)
    assert masks >= (2 if reads else 6)
    assert leaked(kept(tmp_path)) == []
