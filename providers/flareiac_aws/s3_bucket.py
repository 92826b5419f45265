"""Requests to one bucket of S3 or of a server that speaks its protocol, with their failures named. States and
control directories reach S3's client by this module alone.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.parsers import ResponseParserError

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_aws.s3_failures import (
    ALREADY_THERE,
    GARBLED,
    NOT_THERE,
    REDIRECTED,
    TRY_AGAIN,
    UNCHANGED,
    S3Request,
    refused,
    unanswered,
)

AT_ONCE: Final = 8
"""Requests that may be under way at a time."""
PAGE: Final = 1000
_CONFLICTS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Entry:
    """One object as a listing shows it: bytes, UTC seconds since 1970 by the clock of the place, and the
    revision that a conditional write names.
    """

    key: str
    size: int
    modified: float
    revision: str = ""


class S3Unreachable(OSError):
    """The bucket does not answer, or refuses. The text says what failed, where, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlace:
    """A place in S3. ``page`` lists the permissions that are needed there. ``encryption`` are the headers of
    server-side encryption that each write carries; ``patience`` is in seconds, for a connection and for an
    answer.
    """

    bucket: str
    prefix: str = "flareiac"
    page: str = "flareiac/docs/state.md"
    region: str = ""
    endpoint: str = ""
    profile: str = ""
    path_style: bool = False
    encryption: tuple[tuple[str, str], ...] = ()
    patience: float = 20.0
    attempts: int = 3

    @property
    def base(self) -> str:
        """The prefix of every key."""
        return f"{self.prefix.strip('/')}/" if self.prefix.strip("/") else ""

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.base}" + (f" at {self.endpoint}" if self.endpoint else "")


class Bucket:
    """Requests to one bucket, with their failures named. Safe to use from several threads."""

    def __init__(self, place: BucketPlace) -> None:
        self.place = place

    @cached_property
    def _client(self) -> Any:
        place = self.place
        options = Config(
            connect_timeout=place.patience,
            read_timeout=place.patience,
            retries={"total_max_attempts": place.attempts, "mode": "standard"},
            s3={"addressing_style": "path" if place.path_style else "auto"},
            max_pool_connections=AT_ONCE + 2,
            # Compatible servers know the older checksums alone.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        session = boto3.Session(profile_name=place.profile or None, region_name=place.region or None)
        return session.client("s3", endpoint_url=place.endpoint or None, config=options)

    @contextmanager
    def _named(self, request: S3Request) -> Iterator[None]:
        """Raises ``S3Unreachable`` for what the client raises."""
        try:
            yield
        except ClientError as problem:
            answer = problem.response["Error"]
            what = refused(answer.get("Code", ""), answer.get("Message", ""), request)
            raise S3Unreachable(f"{what} [{self.place}]") from problem
        except RecursionError as problem:
            # The client follows a redirect by asking where the bucket is, and is redirected again
            raise S3Unreachable(f"{REDIRECTED} [{self.place}]") from problem
        except (BotoCoreError, HTTPClientError, ResponseParserError, *GARBLED) as problem:
            what = unanswered(type(problem).__name__, str(problem), self.place.patience)
            raise S3Unreachable(f"{what} [{self.place}]") from problem

    def create(self, key: str, content: bytes) -> float | None:
        """Creates an object if there is none; when, or None."""
        for pause in [*(0.05 * 2**n for n in range(_CONFLICTS)), None]:
            with self._named(self._request("s3:PutObject", key)):
                try:
                    return moment_of(self._put(key, content, IfNoneMatch="*"))
                except ClientError as problem:
                    code = problem.response["Error"].get("Code", "")
                    if code in ALREADY_THERE:
                        return None
                    if code not in TRY_AGAIN or pause is None:
                        raise
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def put(self, key: str, content: bytes) -> None:
        with self._named(self._request("s3:PutObject", key)):
            self._put(key, content)

    def _put(self, key: str, content: bytes, **conditions: str) -> Any:
        encryption = dict(self.place.encryption)
        return self._client.put_object(
            Bucket=self.place.bucket, Key=key, Body=content, **encryption, **conditions
        )

    def replace(self, key: str, content: bytes, revision: str | None) -> str | None:
        """Replaces an object that has this revision (None: there must be none); the new revision, or None
        where something else is there.
        """
        condition = {"IfNoneMatch": "*"} if revision is None else {"IfMatch": revision}
        with self._named(self._request("s3:PutObject", key)), _missing_is_none():
            try:
                return str(self._put(key, content, **condition)["ETag"])
            except ClientError as problem:
                # A conflict is another writer's request: repeated, this one would meet that one's revision.
                if problem.response["Error"].get("Code", "") not in ALREADY_THERE | TRY_AGAIN:
                    raise
        return None

    def fetch(self, key: str, unless: str = "") -> tuple[bytes, str] | None:
        """An object and its revision; None where there is none, or where it has the revision ``unless``."""
        conditions = {"IfNoneMatch": unless} if unless else {}
        with self._named(self._request("s3:GetObject", key)):
            try:
                response = self._client.get_object(Bucket=self.place.bucket, Key=key, **conditions)
                return response["Body"].read(), str(response["ETag"])
            except ClientError as problem:
                if problem.response["Error"].get("Code", "") not in NOT_THERE | UNCHANGED:
                    raise
        return None

    def get(self, key: str) -> bytes | None:
        with self._named(self._request("s3:GetObject", key)), _missing_is_none():
            content: bytes = self._client.get_object(Bucket=self.place.bucket, Key=key)["Body"].read()
            return content
        return None

    def head(self, key: str) -> S3Entry | None:
        """Returns what a listing would say of one object; None if it does not exist."""
        with self._named(self._request("s3:GetObject", key)), _missing_is_none():
            response = self._client.head_object(Bucket=self.place.bucket, Key=key)
            return _entry(key, response["ContentLength"], response)
        return None

    def entries(self, prefix: str, *, deep: bool) -> Iterator[S3Entry]:
        """All objects whose keys begin so; not ``deep``: those without a further slash, and as entries of
        size 0 the folders up to that slash.
        """
        token = ""
        while True:
            page = self.list(prefix, token=token, Delimiter="" if deep else "/")
            for entry in page.get("Contents", ()):
                yield _entry(entry["Key"], entry["Size"], entry)
            for folder in page.get("CommonPrefixes", ()):
                yield S3Entry(key=folder["Prefix"], size=0, modified=0.0)
            if not page.get("IsTruncated"):
                return
            token = page["NextContinuationToken"]

    def list(self, prefix: str, *, after: str = "", token: str = "", most: int = PAGE, **more: str) -> Any:
        """One page: what the client returns."""
        if after:
            more["StartAfter"] = after
        if token:
            more["ContinuationToken"] = token
        with self._named(self._request("s3:ListBucket", "")):
            return self._client.list_objects_v2(Bucket=self.place.bucket, Prefix=prefix, MaxKeys=most, **more)

    def delete(self, keys: Sequence[str]) -> None:
        """At most one page."""
        request = self._request("s3:DeleteObject", keys[0])
        with self._named(request):
            answer = self._client.delete_objects(
                Bucket=self.place.bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
            )
        for failed in answer.get("Errors", ()):
            raise S3Unreachable(
                f"{refused(failed.get('Code', ''), failed.get('Message', ''), request)} [{self.place}]"
            )

    def _request(self, action: str, key: str) -> S3Request:
        resource = f"{self.place.bucket}/{key}" if key else self.place.bucket
        return S3Request(action=action, resource=resource, page=self.place.page)


@contextmanager
def _missing_is_none() -> Iterator[None]:
    """Leaves the body, without an error, where there is no such object."""
    try:
        yield
    except ClientError as problem:
        if problem.response["Error"].get("Code", "") not in NOT_THERE:
            raise


def _entry(key: str, size: int, said: Any) -> S3Entry:
    return S3Entry(key=key, size=size, modified=said["LastModified"].timestamp(), revision=said["ETag"])


def moment_of(answer: Mapping[str, Any]) -> float:
    """Returns the server's time when it answered, in seconds since 1970 (UTC). Raises ``S3Unreachable`` for
    an answer without a Date header.
    """
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if date is None:
        raise S3Unreachable("the server's answers carry no Date header, by which leases are measured")
    return parsedate_to_datetime(date).timestamp()
