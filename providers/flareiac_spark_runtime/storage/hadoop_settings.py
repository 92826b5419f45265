"""The settings with which Hadoop reaches S3, out of the standard settings of AWS in the environment: for the
driver's own reading and writing, and for Spark's with ``s3://`` places. Pure.
"""

from collections.abc import Mapping
from typing import Final

ENDPOINT: Final = "fs.s3a.endpoint"
REGION: Final = "fs.s3a.endpoint.region"
_ADDRESSES: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_FILES: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_CREDENTIALS: Final = (
    "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
    "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
)
"""Keys among Hadoop's settings, then those that the SDK finds, as boto3 does."""


def hadoop_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Hadoop's settings by name. ``s3://`` and ``s3a://`` mean the same."""
    settings = {
        "fs.s3.impl": _FILES,
        "fs.s3a.impl": _FILES,
        "fs.s3a.aws.credentials.provider": ",".join(_CREDENTIALS),
    }
    if endpoint := endpoint_of(environment):
        settings |= {ENDPOINT: endpoint, "fs.s3a.path.style.access": "true"}
    if region := _first(environment, *_REGIONS):
        settings[REGION] = region
    elif endpoint:
        settings[REGION] = "us-east-1"  # servers of others know no regions, and the client insists on one
    return settings


def endpoint_of(environment: Mapping[str, str]) -> str:
    """The address of the S3 server; empty for the one of AWS."""
    return _first(environment, *_ADDRESSES)


def executor_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables for executors on other hosts: address and region of S3, which Iceberg's clients there find
    nowhere else. Keys are not among them, because Spark shows what it passes on.
    """
    return {name: environment[name] for name in (*_ADDRESSES, *_REGIONS) if environment.get(name)}


def _first(environment: Mapping[str, str], *names: str) -> str:
    return next((value for name in names if (value := environment.get(name))), "")
