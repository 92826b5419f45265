"""Object storage through boto3, for the command line. Credentials, region and address come from the standard
AWS settings of the process (``AWS_PROFILE``, ``AWS_REGION``, ``AWS_ENDPOINT_URL_S3`` and the like).
"""

from collections.abc import Iterator, Sequence

from flareiac_aws.s3_bucket import Bucket, BucketPlace, S3Entry
from flareiac_spark_runtime.storage.object_store import Listed, Version


class S3Store:
    """One bucket (see ``ObjectStore``)."""

    def __init__(self, bucket: str) -> None:
        self._bucket = Bucket(BucketPlace(bucket=bucket, prefix="", page="flareiac/docs/service.md"))

    @property
    def address(self) -> str:
        return f"s3://{self._bucket.place.bucket}"

    def get(self, key: str) -> Version | None:
        fetched = self._bucket.fetch(key)
        return None if fetched is None else Version(content=fetched[0], revision=fetched[1])

    def look(self, key: str) -> Listed | None:
        head = self._bucket.head(key)
        return None if head is None else _listed(head)

    def list(self, prefix: str, *, deep: bool) -> Iterator[Listed]:
        for entry in self._bucket.entries(prefix, deep=deep):
            yield _listed(entry)

    def put(self, key: str, content: bytes) -> None:
        self._bucket.put(key, content)

    def swap(self, key: str, content: bytes, revision: str | None) -> str | None:
        written = self._bucket.replace(key, content, revision)
        if written is not None:
            return written
        current = self.get(key)
        return current.revision if current is not None and current.content == content else None

    def delete(self, keys: Sequence[str]) -> None:
        self._bucket.delete(keys)


def _listed(s3_entry: S3Entry) -> Listed:
    return Listed(
        key=s3_entry.key, size=s3_entry.size, modified=s3_entry.modified, revision=s3_entry.revision
    )
