"""A bug of ours is told as one, without a traceback."""

import signal
from collections.abc import Iterator

import pytest

from flareiac.app import discovery
from flareiac.cli.main import run


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def broken() -> None:
    raise ZeroDivisionError("of all things")


def test_a_bug_is_one_diagnostic(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(discovery, "installed", broken)
    assert run(["show"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "This is a bug in FlareIaC [FIX099]" in told.err
    assert "ZeroDivisionError: of all things" in " ".join(told.err.split())
    assert "Traceback" not in told.err


def test_developers_get_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(discovery, "installed", broken)
    monkeypatch.setenv("FLAREIAC_DEBUG", "1")
    assert run(["show"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err
