"""The place of the warehouse that AWS's clients find in the environment: what reads and what writes mean the
same one.
"""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from flareiac.sdk.results import Missing, Present
from flareiac_iceberg.catalogs import file_access
from tests.iceberg.lake import Lake, columns
from tests.support.moto_server import aws_keys, make_bucket, moto_server

BODY = {"namespace": "n", "column": columns(id="long")}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with moto_server() as address, aws_keys():
        file_access._client.cache_clear()  # a process has one environment; here it changes
        yield address
        file_access._client.cache_clear()


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_a_table_is_written_where_it_is_read(
    tmp_path: Path, endpoint: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, endpoint)
    bucket = variable.lower().replace("_", "-")
    make_bucket(endpoint, bucket)
    lake = Lake(tmp_path, {"warehouse": f"s3://{bucket}/w"})
    try:
        desired = lake.canonical("table", "t", BODY)
        assert isinstance(lake.read("table.t", desired), Missing)
        lake.apply("table.t", BODY)
        assert isinstance(lake.read("table.t", desired), Present)
    finally:
        lake.close()
    found = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").list_objects_v2(Bucket=bucket)
    assert [item["Key"].rpartition("/")[0] for item in found["Contents"]] == ["w/n/t/metadata"]
