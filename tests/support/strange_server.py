"""An HTTP server on the loopback that answers as a test says: well, wrongly, slowly or not at all."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Answer: TypeAlias = tuple[int, bytes]


@dataclass(slots=True, kw_only=True)
class Asked:
    """One request: ``form`` is its body as text."""

    verb: str
    path: str
    headers: dict[str, str]
    form: str


@dataclass(slots=True, kw_only=True)
class Strange:
    """``answer`` may raise ``ConnectionError`` to hang up, or wait for ``ended`` to stay silent."""

    answer: Callable[[Asked], Answer]
    uri: str = ""
    asked: list[Asked] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def strange_server(
    answer: Callable[[Asked], Answer], *, tls: ssl.SSLContext | None = None
) -> Iterator[Strange]:
    """A running server, with ``tls`` one of HTTPS; ``uri`` is where."""
    server = Strange(answer=answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_HEAD(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def _serve(self) -> None:
            form = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            asked = Asked(
                verb=self.command,
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                form=form,
            )
            server.asked.append(asked)
            try:
                code, content = server.answer(asked)
            except ConnectionError:
                self.close_connection = True
                return
            self.send_response(code)
            if 300 <= code < 400:
                self.send_header("Location", content.decode())
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: Any) -> None:
            """Says nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    if tls is not None:
        listener.socket = tls.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    server.uri = f"http{'s' if tls else ''}://127.0.0.1:{listener.server_address[1]}"
    try:
        yield server
    finally:
        server.ended.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


def as_json(content: Any, code: int = 200) -> Answer:
    """An answer in JSON."""
    return code, json.dumps(content).encode()


def iceberg_error(code: int, kind: str) -> Answer:
    """An error as Iceberg's REST protocol says it."""
    return as_json({"error": {"message": f"{kind} happened", "type": kind, "code": code}}, code)
