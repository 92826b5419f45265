"""S3, Glue and Secrets Manager of one process on the loopback, and the variables under which clients find
keys for them.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from unittest.mock import patch

import boto3

KEYS: Final[Mapping[str, str]] = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_OF_THE_USER: Final = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL")


@contextmanager
def moto_server() -> Iterator[str]:
    """The address of a fresh server."""
    from moto.server import ThreadedMotoServer

    _guard_versions()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@cache
def _guard_versions() -> None:
    """Lets Glue refuse an update of a version that is no longer the current one, as AWS does; moto takes
    it.
    """
    from moto.core.exceptions import JsonRESTError
    from moto.glue.responses import GlueResponse

    taken, lock = GlueResponse.update_table, threading.Lock()

    def update_table(self: Any) -> Any:
        with lock:
            wanted = self.parameters.get("VersionId")
            table = self.glue_backend.get_table(
                self.parameters["DatabaseName"], self.parameters["TableInput"]["Name"]
            )
            if wanted is not None and wanted != table.as_dict()["VersionId"]:
                raise JsonRESTError("ConcurrentModificationException", "the table is of another version")
            return taken(self)

    GlueResponse.update_table = update_table  # type: ignore[method-assign]  # the one place where it can be told


@contextmanager
def aws_keys() -> Iterator[None]:
    """Keys in the environment, and no files of whoever runs the tests."""
    keys = {**KEYS, "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    before = {name: os.environ.pop(name, None) for name in (*_OF_THE_USER, *keys)}
    os.environ.update(keys)
    try:
        with patch.object(boto3, "DEFAULT_SESSION", None):  # it remembers the keys of its first use
            yield
    finally:
        for name in before:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})


def make_bucket(endpoint: str, name: str) -> None:
    """A bucket on the server."""
    s3_client(endpoint).create_bucket(Bucket=name)


def s3_client(endpoint: str) -> Any:
    """A client with all permissions."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )
