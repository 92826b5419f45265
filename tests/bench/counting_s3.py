"""S3 of this process, which counts what it is asked."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Traffic:
    """The traffic of a server since ``begin``: requests by method, bytes of both directions."""

    requests: Counter[str] = field(default_factory=Counter)
    received: int = 0
    sent: int = 0

    def begin(self) -> None:
        self.requests.clear()
        self.received = self.sent = 0

    def said(self) -> dict[str, object]:
        return {
            "requests": dict(sorted(self.requests.items())),
            "kB up": round(self.received / 1000, 1),
            "kB down": round(self.sent / 1000, 1),
        }


@contextmanager
def counting_s3() -> Iterator[tuple[str, Traffic]]:
    """A server that counts."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    traffic, application = Traffic(), DomainDispatcherApplication(create_backend_app)
    guard = threading.Lock()

    def counting(environ: Any, start_response: Any) -> Iterable[bytes]:
        answer = list(application(environ, start_response))
        with guard:
            traffic.requests[environ["REQUEST_METHOD"]] += 1
            traffic.received += int(environ.get("CONTENT_LENGTH") or 0)
            traffic.sent += sum(map(len, answer))
        return answer

    server = make_server("127.0.0.1", 0, counting, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", traffic
    finally:
        server.shutdown()
        thread.join()
