"""An end point for events of OpenLineage, which may hang and refuse."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LineageServer:
    """``status`` is what it answers next, 0 for nothing at all. ``events`` are those that it took, with the
    headers of each in ``headers``; ``asked`` counts requests.
    """

    def __init__(self) -> None:
        self.status, self.asked = 201, 0
        self.events: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                owner.asked += 1
                content = self.rfile.read(int(self.headers["Content-Length"]))
                while owner.status == 0 and not owner.over.wait(0.05):
                    pass
                if 200 <= owner.status < 300:
                    owner.headers.append({**self.headers, "path": self.path})
                    owner.events.append(json.loads(content))
                self.send_response(owner.status or 503)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                """Tests print nothing."""

        return Handler


@contextmanager
def lineage_server() -> Iterator[LineageServer]:
    """A server until the end of the block."""
    server = LineageServer()
    try:
        yield server
    finally:
        server.close()
