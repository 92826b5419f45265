"""Buckets of a server of S3's protocol on the loopback, as this process and those it starts find them: by the
standard settings of AWS.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.storage import open_with
from tests.support.moto_server import aws_keys, make_bucket, moto_server


@contextmanager
def buckets(*names: str) -> Iterator[str]:
    """The address of the server. The buckets are fresh, also for a client that knew others of these names."""
    with moto_server() as endpoint, aws_keys(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_S3", endpoint)
        open_with(S3Store)
        for name in names:
            make_bucket(endpoint, name)
        yield endpoint
    open_with(S3Store)
