"""Secrets of AWS Secrets Manager, by the references that stand for them."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3
import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import reference, resolve
from flareiac_spark.runtime.driver_archive import driver_archive
from tests.support.moto_server import aws_keys, moto_server

ARN: Final = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:lake-AbCdEf"


def refused(kind: str, place: object) -> str:
    with pytest.raises(Failure) as failure:
        resolve(reference(kind, str(place)))
    (found,) = failure.value.diagnostics
    assert found.code == "FIX050"
    return found.detail


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
    said = refused("aws_secret", ARN)
    assert f"Install it for {sys.executable}" in said


def test_the_store_travels_beside_spark(tmp_path: Path) -> None:
    """A host of a cluster has Python and the archive: neither FlareIaC nor, here, boto3 is installed."""
    place = tmp_path / "driver.zip"
    place.write_bytes(driver_archive().content)
    program = f"""
import sys
sys.path.insert(0, {str(place)!r})
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import resolve
try:
    resolve({reference("aws_secret", ARN)!r})
except Failure as failure:
    print(failure.diagnostics[0].detail)
"""
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    assert ran.stderr == ""
    assert "Boto3, which reads secrets of AWS, cannot be imported" in ran.stdout
