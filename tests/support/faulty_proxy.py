"""A server on the loopback that passes HTTP requests on to another one, but for those that a test spoils."""

import http.client
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Final
from urllib.parse import urlsplit

_HOP: Final = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive"})


@dataclass(slots=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Answer:
    """``cut``: the connection ends after so many bytes of the body, which was announced whole."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: int | None = None


Pass = Callable[[Request], Answer]
Rule = Callable[[Request, Pass], Answer]


def error_answer(status: int, code: str) -> Answer:
    """An error as S3 writes it."""
    body = f"<Error><Code>{code}</Code><Message>as the test wants</Message></Error>".encode()
    return Answer(status=status, headers={"Content-Type": "application/xml", "Date": _DATE}, body=body)


_DATE: Final = "Mon, 23 Nov 2026 12:00:00 GMT"


def _chunks(stream: BufferedIOBase) -> bytes:
    """A body that came in parts, each with its length before it."""
    parts = []
    while length := int(stream.readline(), 16):
        parts.append(stream.read(length))
        stream.readline()
    while stream.readline().strip():  # trailers
        pass
    return b"".join(parts)


@dataclass(slots=True)
class FaultyProxy:
    """``rule`` answers each request, for which it may pass it on; ``seen`` are the methods and paths."""

    address: str
    rule: Rule
    seen: list[str] = field(default_factory=list)


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    """A proxy before the server at this address; it passes on everything until a rule is set."""
    host, port = urlsplit(target).hostname or "", urlsplit(target).port

    def pass_on(request: Request) -> Answer:
        connection = http.client.HTTPConnection(host, port, timeout=60)
        try:
            connection.request(request.method, request.path, request.body, request.headers)
            answer = connection.getresponse()
            headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
            return Answer(status=answer.status, headers=headers, body=answer.read())
        finally:
            connection.close()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            if "100-continue" in self.headers.get("Expect", ""):
                self.send_response_only(100)
                self.end_headers()
            headers: Mapping[str, str] = dict(self.headers.items())
            is_chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
            length = int(self.headers.get("Content-Length") or 0)
            body = _chunks(self.rfile) if is_chunked else self.rfile.read(length)
            left_out = {"expect", "transfer-encoding"} if is_chunked else {"expect"}
            kept = {name: value for name, value in headers.items() if name.lower() not in left_out}
            proxy.seen.append(f"{self.command} {self.path}")
            self._answer(proxy.rule(Request(self.command, self.path, kept, body), pass_on))

        def _answer(self, answer: Answer) -> None:
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body if answer.cut is None else answer.body[: answer.cut])
            self.close_connection = answer.cut is not None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = FaultyProxy(
        address=f"http://127.0.0.1:{server.server_address[1]}", rule=lambda request, go_on: go_on(request)
    )
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
