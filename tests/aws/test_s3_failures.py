"""The message of a refusal names the page with the permissions of that place."""

import pytest

from flareiac_aws.s3_bucket import Bucket, BucketPlace, S3Unreachable
from flareiac_spark.s3_store import S3Store
from tests.support.faulty_proxy import error_answer, faulty_proxy
from tests.support.moto_server import aws_keys


def test_the_permissions_of_a_state_and_of_a_control_directory_stand_on_different_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with aws_keys(), faulty_proxy("http://127.0.0.1:9") as proxy:
        proxy.rule = lambda _request, _go_on: error_answer(403, "AccessDenied")
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.address)
        place = BucketPlace(bucket="b", path_style=True, attempts=1)
        with pytest.raises(S3Unreachable, match=r"flareiac/docs/state\.md lists those"):
            Bucket(place).put("x", b"")
        with pytest.raises(S3Unreachable, match=r"flareiac/docs/service\.md lists those"):
            S3Store("b").put("x", b"")
