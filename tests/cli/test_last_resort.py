"""A bug of ours is told as one, without a traceback."""

import pytest

from flareiac.cli.commands import show
from flareiac.cli.main import run


def broken(*_arguments: object) -> None:
    raise ZeroDivisionError("of all things")


def test_a_bug_is_one_diagnostic(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(show, "opened", broken)
    assert run(["show"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "This is a bug in FlareIaC [FIX099]" in told.err
    assert "ZeroDivisionError: of all things" in " ".join(told.err.split())
    assert "Traceback" not in told.err


def test_developers_get_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(show, "opened", broken)
    monkeypatch.setenv("FLAREIAC_DEBUG", "1")
    assert run(["show"]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err
