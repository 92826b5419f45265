"""One command in this process, and what is wrong with how it ended. Nothing but its files may say so: all
that was asked for is told.
"""

import contextlib
import io
import json
import re
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from flareiac.cli.exit_codes import ExitCode

SLOW = 5.0
"""Seconds of work after which a command on a small file counts as a bug."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BUGS = re.compile("FIX099|FIP005|FIA013|failed unexpectedly")
"""Codes and words of what no code expected, of the core and of what calls providers."""
_LINES = frozenset({"plan", "apply", "destroy", "drift"})
_CODE = re.compile(r"\bFI[A-Z]\d{3}\b")
CODES: dict[str, frozenset[int]] = {
    "validate": frozenset({ExitCode.DONE, ExitCode.ERROR}),
    "plan": frozenset({ExitCode.DONE, ExitCode.ERROR, ExitCode.BLOCKED}),
    "show": frozenset({ExitCode.DONE, ExitCode.ERROR}),
    "state": frozenset({ExitCode.DONE, ExitCode.ERROR}),
    "output": frozenset({ExitCode.DONE, ExitCode.ERROR}),
    "status": frozenset({ExitCode.DONE, ExitCode.ERROR}),
    "drift": frozenset({ExitCode.DONE, ExitCode.ERROR, ExitCode.DRIFT}),
    "destroy": frozenset(
        {
            ExitCode.DONE,
            ExitCode.ERROR,
            ExitCode.BLOCKED,
            ExitCode.LOCKED,
            ExitCode.PARTLY,
            ExitCode.CANCELLED,
        }
    ),
    **dict.fromkeys(("logs", "checkpoint", "table", "import"), frozenset({ExitCode.DONE, ExitCode.ERROR})),
    "apply": frozenset(ExitCode) - {ExitCode.CHANGES, ExitCode.DRIFT, ExitCode.USAGE},
}
"""With which each command may end, whatever is in the files that it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of a command; ``code`` is -1 where it raised something. ``seconds`` of work, not of waiting."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def diagnostics(self) -> frozenset[str]:
        return frozenset(_CODE.findall(self.out + self.err))


def perform(root: Path, command: tuple[str, ...]) -> Ending:
    """Runs a command line as ``main`` does."""
    from flareiac.cli.main import run

    _prepare_once()
    out, err = _stream(), _stream()
    begun = time.process_time()
    with (
        _undisturbed(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        try:
            code, error = run([f"-chdir={root}", *command]), ""
        except BaseException as problem:  # noqa: BLE001 - whatever it is, it is what is looked for
            code, error = -1, f"{type(problem).__name__}: {problem}"
    return Ending(
        code=code, out=_content(out), err=_content(err) + error, seconds=time.process_time() - begun
    )


def wrong(ending: Ending, command: tuple[str, ...], changed: list[str]) -> tuple[str, ...]:
    """The endings that a user would call a bug. ``changed``: the files that are not as they were, where the
    command only reads.
    """
    both = ending.out + ending.err
    found = []
    if (bug := hidden_bug(both)) or "Traceback (most" in both:
        found.append(bug or "traceback")
    if ending.code not in CODES[command[0]]:
        found.append(f"exit code {ending.code}")
    if character := unprintable(both):
        found.append(character)
    if ending.seconds > SLOW:
        found.append(f"slow: {ending.seconds:.1f} s")
    if ending.code == ExitCode.ERROR and not ending.diagnostics:
        found.append("an error without a reason")
    if "-json" in command and not _is_json(ending.out, lines=command[0] in _LINES):
        found.append("not JSON")
    if changed:
        found.append(f"changed {', '.join(changed)}")
    return tuple(found)


def hidden_bug(text: str) -> str:
    """The report in a text of a bug of FlareIaC or of one of its providers; empty where it names none."""
    found = _BUGS.search(text)
    return f"internal error {found[0]}" if found else ""


def unprintable(text: str) -> str:
    """The first character that a terminal must not get; empty where there is none."""
    found = _CONTROL.search(re.sub(r"\\u[0-9a-f]{4}", "", text))
    return f"unprintable U+{ord(found[0]):04X}" if found else ""


def _is_json(text: str, *, lines: bool) -> bool:
    try:
        for part in text.splitlines() if lines else [text]:
            json.loads(part, parse_constant=_no_number)
    except ValueError:
        return False
    return bool(text)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """No terminal, and this process's own handlers again afterwards."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stdin, sys.stdin = sys.stdin, io.StringIO()
    try:
        yield
    finally:
        sys.stdin = stdin
        for number, handler in kept.items():
            signal.signal(number, handler)


def _stream() -> io.TextIOWrapper:
    """As ``terminal.prepare`` leaves a standard stream: a character that has no bytes is spelled out."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)


def _content(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


@cache
def _prepare_once() -> None:
    """Makes once what every command makes again from its own code, and never from the files."""
    import typer.main

    from flareiac.app import discovery

    typer.main.get_command = cache(typer.main.get_command)
    vars(discovery)["entry_points"] = cache(entry_points)
