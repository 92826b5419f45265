"""Runs commands as forks of one process that has imported the program: the client of ``fork_server``."""

import atexit
import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

_SERVER = Path(__file__).with_name("fork_server.py")


class Forks:
    """The process; it ends with this one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", str(_SERVER), str(theirs.fileno())],
                env=dict(environment),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # as a command's own streams are pipes
                stderr=subprocess.PIPE,
                text=True,
            )
        assert self._requests.recv(1), f"the program cannot be imported\n{self._process.communicate()[1]}"
        atexit.register(self.end)

    def run(
        self, root: Path, words: Sequence[str], environment: Mapping[str, str], *, timeout: float
    ) -> tuple[int, bytes, bytes]:
        """Runs a command that has nothing to read: its exit code, standard output and standard error.

        Raises ``subprocess.TimeoutExpired`` after so many seconds; the command is killed then.
        """
        request = {"root": str(root), "words": words, "environment": dict(environment)}
        with ExitStack() as ours:
            with ExitStack() as theirs:
                answers, answering = socket.socketpair()
                ours.enter_context(answers)
                theirs.enter_context(answering)
                (out, out_end), (err, err_end) = os.pipe(), os.pipe()
                for reader in (out, err):
                    ours.callback(os.close, reader)
                streams = [os.open(os.devnull, os.O_RDONLY), out_end, err_end]
                for stream in streams:
                    theirs.callback(os.close, stream)
                passed = [*streams, answering.fileno()]
                socket.send_fds(self._requests, [json.dumps(request).encode()], passed)
            read = _read_to_their_ends((out, err, answers.fileno()), timeout)
        if read is None:
            raise subprocess.TimeoutExpired(list(words), timeout)
        printed, complained, code = read
        assert code, "the process that forks commands has ended"
        return int(code), printed, complained

    def end(self) -> None:
        """Ends the process and the commands that run."""
        atexit.unregister(self.end)
        with self._process:
            self._requests.close()


def _read_to_their_ends(descriptors: Sequence[int], timeout: float) -> list[bytes] | None:
    """Reads pipes and sockets until all are closed at the other end; None if that takes longer."""
    deadline = time.monotonic() + timeout
    read = dict.fromkeys(descriptors, b"")
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0, deadline - time.monotonic()))
            if not ready:
                return None
            for key, _events in ready:
                chunk = os.read(key.fd, 1 << 16)
                read[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
    return list(read.values())
