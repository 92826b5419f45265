"""Numbered logs in a bucket of S3 or a compatible server; the only module that imports its client.

``PREFIX/WORKSPACE/log/NUMBER`` are the records, numbered downwards so that the newest one is listed first;
``PREFIX/WORKSPACE/beat/EPOCH`` are signs of life. Records are created by conditional requests
(``If-None-Match: *``); nothing else is asked of the server than that, and that it lists what it has.
"""

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.state import StateUnreachable, is_workspace_name
from flareiac_state.numbered_log import Newest
from flareiac_state.s3_failures import (
    ALREADY_THERE,
    NOT_THERE,
    TRY_AGAIN,
    S3Request,
    refused,
    unanswered,
)

_HIGHEST: Final = 10**12 - 1
_AT_ONCE: Final = 8
_PAGE: Final = 1000
_PAGES: Final = 10
_CONFLICTS: Final = 8
_CLOCKS_AGREE: Final = 15.0
"""Seconds: far less than a lease, and more than a request takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlace:
    """Where in S3. ``encryption`` are the headers of server-side encryption that each write carries;
    ``patience`` is in seconds, for a connection and for an answer.
    """

    bucket: str
    prefix: str = "flareiac"
    region: str = ""
    endpoint: str = ""
    profile: str = ""
    path_style: bool = False
    encryption: tuple[tuple[str, str], ...] = ()
    patience: float = 20.0
    attempts: int = 3

    @property
    def base(self) -> str:
        """What every key begins with."""
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
            max_pool_connections=_AT_ONCE + 2,
            # Compatible servers know the older checksums alone.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        session = boto3.Session(profile_name=place.profile or None, region_name=place.region or None)
        return session.client("s3", endpoint_url=place.endpoint or None, config=options)

    @contextmanager
    def _told(self, request: S3Request) -> Iterator[None]:
        """Raises ``StateUnreachable`` for what the client raises."""
        try:
            yield
        except ClientError as problem:
            answer = problem.response["Error"]
            what = refused(answer.get("Code", ""), answer.get("Message", ""), request)
            raise StateUnreachable(f"{what} [{self.place}]") from problem
        except (BotoCoreError, HTTPClientError, ValueError) as problem:
            what = unanswered(type(problem).__name__, str(problem), self.place.patience)
            raise StateUnreachable(f"{what} [{self.place}]") from problem

    def create(self, key: str, content: bytes) -> float | None:
        """Creates an object if there is none; when, or None."""
        for pause in [*(0.05 * 2**n for n in range(_CONFLICTS)), None]:
            with self._told(self._request("s3:PutObject", key)):
                try:
                    return _moment(self._put(key, content, IfNoneMatch="*"))
                except ClientError as problem:
                    code = problem.response["Error"].get("Code", "")
                    if code in ALREADY_THERE:
                        return None
                    if code not in TRY_AGAIN or pause is None:
                        raise
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def put(self, key: str, content: bytes) -> None:
        with self._told(self._request("s3:PutObject", key)):
            self._put(key, content)

    def _put(self, key: str, content: bytes, **conditions: str) -> Any:
        encryption = dict(self.place.encryption)
        return self._client.put_object(
            Bucket=self.place.bucket, Key=key, Body=content, **encryption, **conditions
        )

    def get(self, key: str) -> bytes | None:
        with self._told(self._request("s3:GetObject", key)), _missing_is_none():
            content: bytes = self._client.get_object(Bucket=self.place.bucket, Key=key)["Body"].read()
            return content
        return None

    def written(self, key: str) -> float | None:
        """When an object was written last."""
        with self._told(self._request("s3:GetObject", key)), _missing_is_none():
            found = self._client.head_object(Bucket=self.place.bucket, Key=key)
            return float(found["LastModified"].timestamp())
        return None

    def list(self, prefix: str, *, after: str = "", token: str = "", most: int = _PAGE, **more: str) -> Any:
        """One page: what the client returns."""
        if after:
            more["StartAfter"] = after
        if token:
            more["ContinuationToken"] = token
        with self._told(self._request("s3:ListBucket", "")):
            return self._client.list_objects_v2(Bucket=self.place.bucket, Prefix=prefix, MaxKeys=most, **more)

    def delete(self, keys: Sequence[str]) -> None:
        """At most one page."""
        request = self._request("s3:DeleteObject", keys[0])
        with self._told(request):
            answer = self._client.delete_objects(
                Bucket=self.place.bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
            )
        for failed in answer.get("Errors", ()):
            raise StateUnreachable(
                f"{refused(failed.get('Code', ''), failed.get('Message', ''), request)} [{self.place}]"
            )

    def _request(self, action: str, key: str) -> S3Request:
        return S3Request(action=action, resource=f"{self.place.bucket}/{key}" if key else self.place.bucket)


@contextmanager
def _missing_is_none() -> Iterator[None]:
    """Leaves the body, without an error, where there is no such object."""
    try:
        yield
    except ClientError as problem:
        if problem.response["Error"].get("Code", "") not in NOT_THERE:
            raise


class S3Log:
    """The log of one workspace (see ``NumberedLog``)."""

    def __init__(self, bucket: Bucket, workspace: str) -> None:
        self._bucket = bucket
        base = f"{bucket.place.base}{workspace}/"
        self._log, self._beat = f"{base}log/", f"{base}beat/"

    def append(self, number: int, content: bytes) -> float | None:
        return self._bucket.create(self._key(number), content)

    def newest(self) -> Newest | None:
        for most in (1, _PAGE):  # something else may stand among the records
            answer = self._bucket.list(self._log, after=self._log, most=most)
            for item in answer.get("Contents", ()):
                number = self._number(item["Key"])
                if number is not None:
                    return Newest(
                        number=number, written=item["LastModified"].timestamp(), now=_moment(answer)
                    )
            if not answer.get("IsTruncated"):
                return None
        return None

    def read(self, numbers: Sequence[int]) -> Mapping[int, bytes]:
        found = _in_parallel(lambda number: self._bucket.get(self._key(number)), numbers)
        return {
            number: content for number, content in zip(numbers, found, strict=True) if content is not None
        }

    def collect(self, *, before: int, keep: Collection[int], age: float) -> None:
        after = self._key(before)
        for _ in range(_PAGES):
            answer = self._bucket.list(self._log, after=after)
            items, now = answer.get("Contents", ()), _moment(answer)
            old = [
                item["Key"]
                for item in items
                if self._number(item["Key"]) not in (None, *keep)
                and now - item["LastModified"].timestamp() >= age
            ]
            if old:
                self._bucket.delete(old)
            if not answer.get("IsTruncated"):
                return
            after = items[-1]["Key"]

    def beat(self, epoch: int) -> None:
        self._bucket.put(f"{self._beat}{epoch}", b"")

    def beaten(self, epoch: int) -> float | None:
        return self._bucket.written(f"{self._beat}{epoch}")

    def forget_beat(self, epoch: int) -> None:
        self._bucket.delete([f"{self._beat}{epoch}"])

    def _key(self, number: int) -> str:
        return f"{self._log}{_HIGHEST - number:012d}"

    def _number(self, key: str) -> int | None:
        name = key.removeprefix(self._log)
        return _HIGHEST - int(name) if len(name) == 12 and name.isascii() and name.isdecimal() else None


class S3Logs:
    """The logs of all workspaces below one prefix (see ``LogPlace``)."""

    def __init__(self, place: BucketPlace) -> None:
        self._bucket = Bucket(place)

    def describe(self, workspace: str) -> str:
        place = self._bucket.place
        return f"s3://{place.bucket}/{place.base}{workspace}"

    def log(self, workspace: str) -> S3Log:
        return S3Log(self._bucket, workspace)

    def workspaces(self) -> Sequence[str]:
        base = self._bucket.place.base
        found: list[str] = []
        token = ""
        while True:
            answer = self._bucket.list(base, token=token, Delimiter="/")
            prefixes = [item["Prefix"] for item in answer.get("CommonPrefixes", ())]
            found += [prefix.removeprefix(base).rstrip("/") for prefix in prefixes]
            if not answer.get("IsTruncated"):
                return [name for name in found if is_workspace_name(name)]
            token = answer["NextContinuationToken"]

    def prove(self) -> None:
        folder = f"{self._bucket.place.base}.probe/{uuid.uuid4()}/"
        first, second = f"{folder}1", f"{folder}2"
        try:
            self._prove(folder, first, second)
        except (Failure, StateUnreachable):
            with suppress(StateUnreachable):
                self._bucket.delete([first, second])
            raise
        self._bucket.delete([first, second])

    def _prove(self, folder: str, first: str, second: str) -> None:
        self._bucket.create(second, b"second")
        self._bucket.create(first, b"first")
        if self._bucket.create(first, b"overwritten") is not None or self._bucket.get(first) != b"first":
            raise self._unfit(
                "it overwrites an object although the request carries If-None-Match: * (a conditional "
                "write), so that two commands could both take the lock"
            )
        answer = self._bucket.list(folder, after=folder, most=1)
        items = answer.get("Contents", ())
        if [item["Key"] for item in items] != [first]:
            raise self._unfit(
                "it does not list objects in the order of their keys right after they are written"
            )
        difference = _moment(answer) - items[0]["LastModified"].timestamp()
        if abs(difference) > _CLOCKS_AGREE:
            raise self._unfit(
                f"its Date header and the times of its objects differ by {difference:.0f} s (a proxy with a "
                "clock of its own?), so that it cannot tell how long a lock has been silent"
            )

    def _unfit(self, why: str) -> Failure:
        detail = (
            f"{self._bucket.place}: {why}. Use a server with conditional writes (such as Amazon S3, MinIO, "
            'versitygw), or the backend "postgresql".'
        )
        return Failure(error(codes.STATE_PLACE_UNFIT, detail))


def _moment(answer: Mapping[str, Any]) -> float:
    """What time it is there."""
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if date is None:
        raise StateUnreachable("the server's answers carry no Date header, by which leases are measured")
    return parsedate_to_datetime(date).timestamp()


def _in_parallel(ask: Callable[[int], bytes | None], numbers: Sequence[int]) -> list[bytes | None]:
    if len(numbers) <= 2:
        return [ask(number) for number in numbers]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, numbers))
