"""An encrypted state whose passphrase was replaced, taken away or lost: what can be read is listed and
recorded again, and a pushed copy takes the place of what cannot.
"""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.command_line import flareiac

_OLD: Final = 'encryption { env = "OLD_KEY" }'
_ROTATED: Final = 'encryption {\n    env = "NEW_KEY"\n    fallback { env = "OLD_KEY" }\n  }'
_NEW: Final = 'encryption { env = "NEW_KEY" }'
_ENDING: Final = 'encryption {\n    fallback { env = "OLD_KEY" }\n  }'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state with the serials 1 and 2, encrypted with the old passphrase."""
    monkeypatch.setenv("OLD_KEY", "the old passphrase")
    monkeypatch.setenv("NEW_KEY", "the new passphrase")
    for value in ("1", "2"):
        _declare(tmp_path, _OLD, value)
        _run(tmp_path, "apply -auto-approve")
    return tmp_path


def _declare(root: Path, encryption: str, value: str) -> None:
    (root / "main.flare.hcl").write_text(
        f'flareiac {{\n  {encryption}\n}}\nthing "a" {{ value = "{value}" }}\n', encoding="utf-8"
    )


def _run(root: Path, words: str, code: int = 0, **variables: str) -> str:
    done = flareiac(root, *words.split(), **variables)
    assert done.code == code, f"{words}: {done.text}"
    return " ".join(done.text.replace("│", " ").split())


def _listed(root: Path) -> list[tuple[int | None, bool]]:
    found = json.loads(flareiac(root, "state", "history", "-json").out)["history"]
    return [(item["serial"], item["encrypted"]) for item in found]


@pytest.mark.parametrize(
    ("meanwhile", "afterwards", "code"), [(_ROTATED, _NEW, "FIS094"), (_ENDING, "", "FIS092")]
)
def test_earlier_states_under_the_old_passphrase(
    root: Path, meanwhile: str, afterwards: str, code: str
) -> None:
    for value in ("3", "4"):
        _declare(root, meanwhile, value)
        _run(root, "apply -auto-approve")
    assert _listed(root) == [(3, False), (2, False), (1, False)]

    _declare(root, afterwards, "4")
    assert _listed(root) == [(3, False), (None, True), (None, True)]
    said = _run(root, "state history")
    assert "2 of them cannot be read for lack of the passphrase" in said
    assert "fallback" in said
    _run(root, "state rollback -auto-approve 3")

    refused = _run(root, "state rollback -auto-approve 1", 1)
    assert f"[{code}]" in refused
    assert "the serial 1:" in refused
    place = f"another one in local directory {root}/.flareiac/state/default"
    assert place in refused
    name = json.loads(flareiac(root, "state", "history", "-json").out)["history"][-1]["name"]
    refused = _run(root, f"state rollback -auto-approve {name}", 1)
    assert f"[{code}]" in refused
    assert "An earlier state in local directory" in refused
    assert "FIS086" in _run(root, "state rollback -auto-approve such", 1)

    _declare(root, meanwhile, "4")
    _run(root, "state rollback -auto-approve 1")


def test_earlier_states_while_the_fallback_is_not_available(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _declare(root, _ROTATED, "3")
    _run(root, "apply -auto-approve")
    monkeypatch.delenv("OLD_KEY")
    assert _listed(root) == [(None, True), (None, True)]
    assert "FIS093" in _run(root, "state rollback -auto-approve 1", 1)


@pytest.mark.parametrize("workspace", ["default", "dev"])
@pytest.mark.parametrize("encryption", [_NEW, ""])
def test_a_pushed_copy_takes_the_place_of_a_state_whose_passphrase_is_lost(
    root: Path, workspace: str, encryption: str
) -> None:
    if workspace != "default":
        _run(root, f"workspace new {workspace}")
    recorded = _run(root, "state list")
    (root / "pulled.json").write_text(flareiac(root, "state", "pull").out, encoding="utf-8")
    _declare(root, encryption, "2")
    for words in ("plan", "state push pulled.json"):
        assert "FIS094" in (said := _run(root, words, 1)) or "FIS092" in said
    _run(root, "state push -force pulled.json")
    assert _run(root, "state list") == recorded
