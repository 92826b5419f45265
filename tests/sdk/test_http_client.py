"""The rules of every request that FlareIaC makes itself: it ends, it is bounded, its login stays where it is
meant to go.
"""

import ast
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.http_client import REDIRECTED, HttpClient, HttpRefusal, NoAnswer, login_headers, tls_of
from tests.support.kafka_tls import Authority
from tests.support.strange_server import Answer, Asked, strange_server

ROOT = Path(__file__).parents[2]
LOGIN = {"Authorization": "Bearer s3cret", "X-Key": "s3cret"}


@pytest.mark.parametrize("body", [None, b"{}"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_login_goes_to_no_other_address(status: int, body: bytes | None) -> None:
    with strange_server(lambda _: (200, b"{}")) as other:
        with (
            strange_server(lambda _: (status, other.uri.encode())) as server,
            pytest.raises(HttpRefusal) as refusal,
        ):
            HttpClient(seconds=5).ask(server.uri, headers=LOGIN, body=body)
        assert (refusal.value.status, refusal.value.reason) == (status, REDIRECTED)
        assert other.asked == []


def test_an_answer_is_the_content_and_a_refusal_has_the_servers_words() -> None:
    def answer(asked: Asked) -> Answer:
        return (200, asked.form.encode()) if asked.verb == "POST" else (409, b"taken")

    with strange_server(answer) as server:
        client = HttpClient(seconds=5)
        assert client.ask(server.uri, body=b"given") == b"given"
        with pytest.raises(HttpRefusal, match="HTTP 409") as refusal:
            client.ask(server.uri)
    assert (refusal.value.content, refusal.value.reason) == (b"taken", "")


def test_a_long_answer_is_cut_off() -> None:
    with strange_server(lambda _: (200, b"x" * 2**20)) as server:
        assert len(HttpClient(seconds=5, most_bytes=2**20).ask(server.uri)) == 2**20
        with pytest.raises(NoAnswer, match="longer than 0 MiB"):
            HttpClient(seconds=5, most_bytes=2**20 - 1).ask(server.uri)


class Trickle(BaseHTTPRequestHandler):
    """Sends a byte at a time, each before any wait for it ends."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x")
                time.sleep(0.05)
        except OSError:
            return

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def trickle() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Trickle) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_answer_that_never_ends_is_given_up(trickle: str) -> None:
    with pytest.raises(NoAnswer, match="did not come to an end within 1 s"):
        HttpClient(seconds=0.5).ask(trickle)


def test_a_silent_server_is_given_up() -> None:
    with HTTPServer(("127.0.0.1", 0), Trickle) as server, pytest.raises(NoAnswer, match="in time"):
        HttpClient(seconds=0.2).ask(f"http://127.0.0.1:{server.server_port}")


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:,x", ""])
def test_an_address_of_another_kind_is_not_opened(url: str) -> None:
    with pytest.raises(NoAnswer, match="is not the address of a server"):
        HttpClient(seconds=1).ask(url)


def test_a_login_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(NoAnswer) as problem:
        HttpClient(seconds=1).ask("http://127.0.0.1:1", headers={"Authorization": "Bearer s3\ncret"})
    assert "cret" not in str(problem.value)


def test_proxies_of_the_environment_are_used_unless_a_server_is_asked_directly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with strange_server(lambda _: (200, b"proxy")) as proxy, strange_server(lambda _: (200, b"own")) as own:
        monkeypatch.setenv("http_proxy", proxy.uri)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert HttpClient(seconds=5).ask(own.uri) == b"proxy"
        assert HttpClient(seconds=5, direct=True).ask(own.uri) == b"own"


def test_logins_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "s3cret")
    word = "flareiac-secret:env:WORD"
    assert login_headers(username=None, password=None, token=word) == {"Authorization": "Bearer s3cret"}
    basic = login_headers(username="ann", password=word, token=None)
    assert basic == {"Authorization": "Basic YW5uOnMzY3JldA=="}
    assert login_headers(username=None, password=None, token=None) == {}
    monkeypatch.delenv("WORD")
    with pytest.raises(Failure, match="WORD"):
        login_headers(username="ann", password=word, token=None)


def test_certificates_of_settings_are_used(tmp_path: Path) -> None:
    authority = Authority(folder=tmp_path).made()
    authority.signed("server")
    authority.signed("client")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server-both.pem")
    context.load_verify_locations(authority.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    trusted = {"ssl.ca.location": str(authority.ca)}
    own = {
        "ssl.certificate.location": str(tmp_path / "client.pem"),
        "ssl.key.location": str(tmp_path / "client.key"),
    }
    with strange_server(lambda _: (200, b"in"), tls=context) as server:
        assert HttpClient(seconds=5, tls=tls_of(trusted | own)).ask(server.uri) == b"in"
        with pytest.raises(NoAnswer):
            HttpClient(seconds=5, tls=tls_of(trusted)).ask(server.uri)
        with pytest.raises(NoAnswer, match="certificate verify failed"):
            HttpClient(seconds=5).ask(server.uri)
    assert tls_of({"other": "x"}) is None
    with pytest.raises(OSError, match="No such file"):
        tls_of({"ssl.ca.location": str(tmp_path / "none.pem")})


def imports_of(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_no_other_module_opens_an_address() -> None:
    """Iceberg's own library brings requests, whose rules its writer sets."""
    clients = {"http.client", "requests", "urllib.request", "urllib3"}
    users = {
        str(path.relative_to(ROOT)): sorted(clients & imports_of(path))
        for folder in ("flareiac", "providers", "state")
        for path in (ROOT / folder).rglob("*.py")
        if clients & imports_of(path)
    }
    assert users == {
        "flareiac/sdk/http_client.py": ["http.client", "urllib.request"],
        "providers/flareiac_iceberg/catalogs/rest/writer.py": ["requests"],
    }
