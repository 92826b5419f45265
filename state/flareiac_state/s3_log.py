"""Numbered logs in a bucket of S3 or a compatible server.

``PREFIX/WORKSPACE/log/NUMBER`` are the records, numbered downwards so that the newest one is listed first;
``PREFIX/WORKSPACE/beat/EPOCH`` are signs of life. Records are created by conditional requests
(``If-None-Match: *``); nothing else is asked of the server than that, and that it lists what it has.
"""

import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.state import is_workspace_name
from flareiac_aws.s3_bucket import AT_ONCE, PAGE, Bucket, BucketPlace, S3Unreachable, moment_of
from flareiac_state.numbered_log import Newest

_HIGHEST: Final = 10**12 - 1
_PAGES: Final = 10
_CLOCKS_AGREE: Final = 15.0
"""Seconds: far less than a lease, and more than a request takes."""


class S3Log:
    """The log of one workspace (see ``NumberedLog``)."""

    def __init__(self, bucket: Bucket, workspace: str) -> None:
        self._bucket = bucket
        base = f"{bucket.place.base}{workspace}/"
        self._log, self._beat = f"{base}log/", f"{base}beat/"

    def append(self, number: int, content: bytes) -> float | None:
        return self._bucket.create(self._key(number), content)

    def newest(self) -> Newest | None:
        for most in (1, PAGE):  # something else may stand among the records
            answer = self._bucket.list(self._log, after=self._log, most=most)
            for entry in answer.get("Contents", ()):
                number = self._number(entry["Key"])
                if number is not None:
                    return Newest(
                        number=number, written=entry["LastModified"].timestamp(), now=moment_of(answer)
                    )
            if not answer.get("IsTruncated"):
                return None
        return None

    def read(self, numbers: Sequence[int]) -> Mapping[int, bytes]:
        contents = _in_parallel(lambda number: self._bucket.get(self._key(number)), numbers)
        return {
            number: content for number, content in zip(numbers, contents, strict=True) if content is not None
        }

    def collect(self, *, before: int, keep: Collection[int], age: float) -> None:
        after = self._key(before)
        for _ in range(_PAGES):
            answer = self._bucket.list(self._log, after=after)
            items, now = answer.get("Contents", ()), moment_of(answer)
            old = [
                entry["Key"]
                for entry in items
                if self._number(entry["Key"]) not in (None, *keep)
                and now - entry["LastModified"].timestamp() >= age
            ]
            if old:
                self._bucket.delete(old)
            if not answer.get("IsTruncated"):
                return
            after = items[-1]["Key"]

    def beat(self, epoch: int) -> None:
        self._bucket.put(f"{self._beat}{epoch}", b"")

    def beaten(self, epoch: int) -> float | None:
        beat = self._bucket.head(f"{self._beat}{epoch}")
        return None if beat is None else beat.modified

    def forget_beat(self, epoch: int) -> None:
        self._bucket.delete([f"{self._beat}{epoch}"])

    def name(self, number: int) -> str:
        return f"the object {self._key(number)}"

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
        names: list[str] = []
        token = ""
        while True:
            answer = self._bucket.list(base, token=token, Delimiter="/")
            prefixes = [entry["Prefix"] for entry in answer.get("CommonPrefixes", ())]
            names += [prefix.removeprefix(base).rstrip("/") for prefix in prefixes]
            if not answer.get("IsTruncated"):
                return [name for name in names if is_workspace_name(name)]
            token = answer["NextContinuationToken"]

    def prepare(self) -> None:
        """A bucket is never created, and folders need not be."""

    def prove(self) -> None:
        folder = f"{self._bucket.place.base}.probe/{uuid.uuid4()}/"
        first, second = f"{folder}1", f"{folder}2"
        try:
            self._prove(folder, first, second)
        finally:
            # Nothing depends on deleting, so the permission to do it is not asked for.
            with suppress(S3Unreachable):
                self._bucket.delete([first, second])

    def _prove(self, folder: str, first: str, second: str) -> None:
        begun = time.monotonic()
        self._bucket.create(second, b"second")
        self._bucket.create(first, b"first")
        if self._bucket.create(first, b"overwritten") is not None or self._bucket.get(first) != b"first":
            raise self._unfit(
                "it overwrites an object although the request carries If-None-Match: * (a conditional "
                "write), so that two commands could both take the lock"
            )
        answer = self._bucket.list(folder, after=folder, most=1)
        items = answer.get("Contents", ())
        if [entry["Key"] for entry in items] != [first]:
            raise self._unfit(
                "it does not list objects in the order of their keys right after they are written"
            )
        difference = moment_of(answer) - items[0]["LastModified"].timestamp()
        if not -_CLOCKS_AGREE < difference < _CLOCKS_AGREE + time.monotonic() - begun:
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


def _in_parallel(ask: Callable[[int], bytes | None], numbers: Sequence[int]) -> list[bytes | None]:
    if len(numbers) <= 2:
        return [ask(number) for number in numbers]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(ask, numbers))
