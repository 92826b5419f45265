"""The secrets that a secret block may stand for: read when they are used, and never shown where they cannot
be had.
"""

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import reference, resolve
from tests.support.moto_server import aws_keys, moto_server


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


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with moto_server() as endpoint, aws_keys():
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", endpoint)
        yield boto3.client("secretsmanager", region_name="eu-central-1")


def test_a_secret_of_aws_is_had_by_its_arn(manager: Any) -> None:
    arn = manager.create_secret(Name=uuid.uuid4().hex, SecretString="from aws")["ARN"]
    assert resolve(reference("aws_secret", arn)) == "from aws"
    manager.put_secret_value(SecretId=arn, SecretString="renewed")
    assert resolve(reference("aws_secret", arn)) == "renewed"
    assert f"did not give {arn}x" in refused("aws_secret", f"{arn}x")
    binary = manager.create_secret(Name=uuid.uuid4().hex, SecretBinary=b"\1")["ARN"]
    assert f"has no text for {binary}" in refused("aws_secret", binary)


def test_without_credentials_or_an_answer_the_place_of_a_secret_of_aws_is_named(
    manager: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    arn = manager.create_secret(Name=uuid.uuid4().hex, SecretString="from aws")["ARN"]
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:1")
    assert arn in refused("aws_secret", arn)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "credentials" in refused("aws_secret", arn)


def test_where_boto3_is_missing_a_secret_of_aws_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a Spark driver runs beside another Python."""
    monkeypatch.setitem(sys.modules, "boto3", None)
    said = refused("aws_secret", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:lake-AbCdEf")
    assert f"Install it for {sys.executable}" in said
