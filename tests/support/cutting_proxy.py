"""A relay on the loopback before a TCP server, which can lose the answer to a request."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class CuttingProxy:
    """The answer to the next ``cuts`` requests that hold ``needle`` is lost: the server has given it, and the
    connection ends. With ``is_mute``, nothing is passed back any more and connections stay open.
    """

    port: int
    needle: bytes = b""
    cuts: int = 0
    is_mute: bool = False


@contextmanager
def cutting_proxy(port: int) -> Iterator[CuttingProxy]:
    """A relay before the server on this port."""
    listener = socket.create_server(("127.0.0.1", 0))
    proxy = CuttingProxy(port=listener.getsockname()[1])

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=_relay, args=(proxy, client, port), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield proxy
    finally:
        # A thread that waits in ``accept`` keeps the socket open.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _relay(proxy: CuttingProxy, client: socket.socket, port: int) -> None:
    server = socket.create_connection(("127.0.0.1", port))
    is_cut = threading.Event()

    def back() -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 16):
                if is_cut.is_set():
                    break
                if not proxy.is_mute:
                    client.sendall(data)
        _end(client, server)

    threading.Thread(target=back, daemon=True).start()
    with contextlib.suppress(OSError):
        while data := client.recv(1 << 16):
            if proxy.cuts and proxy.needle in data:
                proxy.cuts -= 1
                is_cut.set()
            server.sendall(data)
    if not is_cut.is_set():
        _end(client, server)


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
