"""The secrets that a secret block may stand for: read when they are used, and never shown where they cannot
be had.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import reference, resolve


def refused(kind: str, place: object) -> str:
    with pytest.raises(Failure) as failure:
        resolve(reference(kind, str(place)))
    (found,) = failure.value.diagnostics
    assert found.code == "FIX050"
    return found.detail


def test_a_file_holds_the_secret_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "s"
    for content, secret in ((b"abc", "abc"), (b" a b \n", " a b "), (b"x\r\n", "x"), ("ä\n".encode(), "ä")):
        path.write_bytes(content)
        assert resolve(reference("file", str(path))) == secret
    for content, why in (
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\xff", "is not UTF-8 text"),
        (b"x" * 70_000, "is larger than 64 KiB"),
    ):
        path.write_bytes(content)
        assert why in refused("file", path)


def mount(folder: Path, number: int) -> None:
    """Puts a version of the secret in place as Kubernetes does: all files of a volume at once, by one rename
    of a link.
    """
    version = folder / f"..{number}"
    version.mkdir()
    (version / "password").write_text(f"version {number}\n")
    link = folder / "..data_tmp"
    link.symlink_to(version.name)
    link.replace(folder / "..data")
    if number == 0:
        (folder / "password").symlink_to("..data/password")
    else:
        before = folder / f"..{number - 1}"
        (before / "password").unlink()
        before.rmdir()


def test_a_mounted_file_is_read_when_it_is_used(tmp_path: Path) -> None:
    secret = reference("file", str(tmp_path / "password"))
    for number in range(3):
        mount(tmp_path, number)
        assert resolve(secret) == f"version {number}"


def test_a_mounted_file_that_is_replaced_while_its_path_is_followed_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount(tmp_path, 0)
    plain, attempts = Path.open, []

    def replaced(path: Path, *arguments: Any) -> Any:
        attempts.append(path)
        if len(attempts) == 1:
            monkeypatch.undo()
            mount(tmp_path, 1)
            monkeypatch.setattr(Path, "open", replaced)
            raise FileNotFoundError(2, "No such file or directory")
        return plain(path, *arguments)

    monkeypatch.setattr(Path, "open", replaced)
    secret = reference("file", str(tmp_path / "password"))
    assert resolve(secret) == "version 1"


def test_a_mounted_file_that_is_not_there_or_not_readable_is_named(tmp_path: Path) -> None:
    path = tmp_path / "password"
    assert f"The file {path} cannot be read: No such file or directory" in refused("file", path)
    path.symlink_to("..data/password")
    assert "No such file or directory" in refused("file", path)
    assert "Is a directory" in refused("file", tmp_path)
    if os.geteuid() != 0:
        (tmp_path / "closed").write_text("x")
        (tmp_path / "closed").chmod(0)
        assert "Permission denied" in refused("file", tmp_path / "closed")


def test_a_kind_without_a_store_is_named_as_unknown() -> None:
    assert "does not know this kind of reference" in refused("carrier_pigeon", "coop")
