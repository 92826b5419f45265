"""A process that has imported the program and forks for each command; ``forks`` starts it and asks it.

Most of the time of a command goes into imports. A fork is a process of its own all the same: with its own
directory, environment, standard streams, exit code and end.

A request is one message: JSON, with the command's standard input, output and error and a socket, to which the
exit code is written once the command has ended. A command is killed when the other end of that socket is
closed, and every command when the requests end.
"""

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from importlib import import_module
from typing import Final

LARGEST: Final = 1 << 17
"""Bytes of the largest request: an environment and a command line."""

_PACKAGES: Final = (
    "flareiac",
    "flareiac_aws",
    "flareiac_iceberg",
    "flareiac_kafka",
    "flareiac_secrets",
    "flareiac_spark",
    "flareiac_state",
)
_NEEDS_SPARK: Final = "flareiac_spark_runtime.driver"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A command that is to run."""

    root: str
    words: list[str]
    environment: dict[str, str]
    streams: tuple[int, int, int]
    answers: socket.socket


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """A command that runs; ``ended`` is a file descriptor that is readable once it has ended."""

    pid: int
    ended: int
    answers: socket.socket


def main(requests: socket.socket) -> None:
    """Imports the program and answers requests until there are no more."""
    _import_everything()
    gc.freeze()  # a child neither looks through what it inherits nor copies it
    requests.send(b"!")  # the imports are done
    running: list[_Running] = []
    while True:
        waiting = [fd for each in running for fd in (each.ended, each.answers)]
        ready, _, _ = select.select([requests, *waiting], [], [])
        for command in [each for each in running if each.ended in ready]:
            _answer(command)
            running.remove(command)
        for command in [each for each in running if each.answers in ready]:
            os.kill(command.pid, signal.SIGKILL)
        if requests not in ready:
            continue
        request = _receive(requests)
        if request is None:
            break
        pid = os.fork()
        if pid == 0:
            for inherited in (requests, *(each.answers for each in running)):
                inherited.close()
            _run(request)
        for stream in request.streams:
            os.close(stream)
        running.append(_Running(pid=pid, ended=os.pidfd_open(pid), answers=request.answers))
    for command in running:
        os.kill(command.pid, signal.SIGKILL)


def _import_everything() -> None:
    """Imports what commands import late, and finds the installed providers."""
    from flareiac.app.discovery import installed

    for package in _PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith(_NEEDS_SPARK):
                import_module(module.name)
    installed()


def _receive(requests: socket.socket) -> _Request | None:
    text, descriptors, _flags, _address = socket.recv_fds(requests, LARGEST, 4)
    if not text:
        return None
    said = json.loads(text)
    first, second, third, answers = descriptors
    return _Request(
        root=said["root"],
        words=said["words"],
        environment=said["environment"],
        streams=(first, second, third),
        answers=socket.socket(fileno=answers),
    )


def _run(request: _Request) -> None:
    """Makes this process what one would be that was started for the command, and ends it."""
    from flareiac.cli.main import main as run_command_line
    from flareiac.kernel import kill_points

    request.answers.close()
    for number, stream in enumerate(request.streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request.root)
    os.environ.clear()
    os.environ.update(request.environment)
    kill_points.look_again()
    sys.argv = ["-c", *request.words]
    try:
        run_command_line()
    except SystemExit as end:
        # The interpreter's own end, but for taking every module apart, which takes longer than the command.
        threading._shutdown()  # type: ignore[attr-defined] # the end of a process that runs Python
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


def _answer(command: _Running) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(command.pid, 0)[1])
    with contextlib.suppress(BrokenPipeError), command.answers:
        command.answers.sendall(str(code).encode())
    os.close(command.ended)


if __name__ == "__main__":
    sys.path[0] = ""  # as for ``python -c``: the directory of the command, not that of this file
    main(socket.socket(fileno=int(sys.argv[1])))
