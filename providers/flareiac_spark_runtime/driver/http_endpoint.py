"""Answers HTTP on one address, from threads of its own: also while the main loop hangs. Knows no page."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from logging import Logger
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import masked
from flareiac_spark_runtime.listen_address import ListenAddress, listen_address

_RETRY_SECONDS: Final = 5.0
_CLIENT_SECONDS: Final = 10.0
"""So long a client may take to say what it wants and to take the answer, whatever it sends meanwhile."""
_MOST: Final = 32
"""So many clients are answered at once. One more takes the place of the one that has been there longest: a
probe takes milliseconds, and the files of the lease need descriptors, too.
"""
_MOST_THREADS: Final = 2 * _MOST
"""With so many threads, those of clients that were sent away among them, a new client is not let in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer."""

    text: str
    status: int = 200
    content_type: str = "text/plain; charset=utf-8"


class HttpEndpoint:
    """``page`` gives the answer for a path, None where there is none; it is called from several threads.
    ``problem`` says why nothing can be answered at the moment: an address that is taken is tried again, and
    ends nothing.
    """

    def __init__(self, page: Callable[[str], Page | None], log: Logger) -> None:
        self.problem: str | None = None
        self._page, self._log = page, log
        self._wanted = ""
        self._changed, self._over = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def listen_on(self, address: str) -> None:
        """From now on it answers there (``HOST:PORT``), and nowhere if that is empty."""
        if address == self._wanted:
            return
        self._wanted = address
        self._changed.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="http endpoint", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Answers no more."""
        self._over.set()
        self._changed.set()
        if self._thread is not None:
            self._thread.join()

    def _keep(self) -> None:
        server, served = None, ""
        while not self._over.is_set():
            self._changed.clear()
            wanted = self._wanted
            if server is not None and wanted != served:
                _close(server)
                server = None
            if server is None:
                server, served = self._opened(wanted), wanted
            self._changed.wait(_RETRY_SECONDS if self.problem is not None else None)
        if server is not None:
            _close(server)

    def _opened(self, text: str) -> "_Server | None":
        before, server, why = self.problem, None, None
        if text:
            address = listen_address(text)
            try:
                if address is None:
                    raise OSError("it is not of the form HOST:PORT")
                server = _Server(address, self._page)
            except (OSError, UnicodeError) as failure:  # the second where a host cannot be a name
                why = f"cannot listen on {text}: {getattr(failure, 'strerror', None) or failure}"
        self.problem = why
        if server is not None:
            threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
            self._log.info("metrics and health are served on http://%s", text)
        elif why is not None and why != before:
            self._log.error("%s; tried again every %.0f s", why, _RETRY_SECONDS)
        return server


def _close(server: "_Server") -> None:
    server.shutdown()
    server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a slow client does not hold up the end

    def __init__(self, address: ListenAddress, page: Callable[[str], Page | None]) -> None:
        candidates = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        # A name such as localhost may have both kinds of addresses, and most probes ask the older one.
        family, *_, place = min(candidates, key=lambda candidate: candidate[0] != socket.AF_INET)
        self.address_family = family
        self.page = page
        self._guard = threading.Lock()
        self._since: dict[socket.socket, float] = {}
        self._room = threading.BoundedSemaphore(_MOST_THREADS)  # the base class has _threads
        super().__init__(place[:2], _Handler)  # type: ignore[arg-type] # typeshed leaves room for addresses without names

    def server_bind(self) -> None:
        """As in the base class, which also asks the name server for its own name: that may take long."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, where there is room."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        with self._guard:
            self._since[request] = time.monotonic()
            oldest = next(iter(self._since)) if len(self._since) > _MOST else None
        if oldest is not None:
            self._send_away(oldest)
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started
            self._room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._guard:
                self._since.pop(request, None)
            self._room.release()

    def service_actions(self) -> None:
        """Called about twice a second: ends what takes too long."""
        late = time.monotonic() - _CLIENT_SECONDS
        with self._guard:
            slow = [request for request, since in self._since.items() if since < late]
        for request in slow:
            self._send_away(request)

    def _send_away(self, request: socket.socket) -> None:
        """Its thread reads an end then, and closes it."""
        with self._guard:
            self._since.pop(request, None)
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._since.pop(request, None)  # before it is closed: its number may be another's then
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not worth a line."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _CLIENT_SECONDS

    def do_GET(self) -> None:
        page = self._answer()
        content = page.text.encode("utf-8", "replace")
        self.send_response(page.status)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815 - the name is the base class's

    def _answer(self) -> Page:
        try:
            page = self.server.page(self.path.partition("?")[0])
        except Exception as failure:  # noqa: BLE001 - a page that cannot be made is an answer, too
            return Page(text=masked(f"{type(failure).__name__}: {failure}\n"), status=500)
        return page or Page(text="not found\n", status=404)

    def version_string(self) -> str:
        return "flareiac"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Probes come every few seconds: nothing is logged."""
