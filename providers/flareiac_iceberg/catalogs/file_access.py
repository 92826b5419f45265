"""Reads, writes and deletes whole files of a warehouse, and tells which are there, without any Iceberg
library.

Touches the world; trouble is an ``OSError``.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from flareiac.sdk.optional_packages import needed_by
from flareiac.sdk.secrets import said
from flareiac_aws.s3_failures import GARBLED
from flareiac_iceberg.catalogs.base import ANSWER_SECONDS, CONNECT_SECONDS, CatalogSpec, s3_settings
from flareiac_iceberg.format.locations import local_path

_ADVICE: Final = (
    "s3.endpoint, s3.region and the keys stand in the catalog's properties, or come from AWS's own chain"
)


def read_file(location: str, catalog: CatalogSpec | None) -> bytes:
    """The content. Raises ``OSError`` (``FileNotFoundError`` where there is none), or ``Failure`` for a
    secret that cannot be had and a client that is not installed.
    """
    path = local_path(location)
    if path is not None:
        return path.read_bytes()
    bucket, key = _in_s3(location)
    with _s3_told(catalog):
        content: bytes = _of(catalog).get_object(Bucket=bucket, Key=key)["Body"].read()
    return content


def write_file(location: str, content: bytes, catalog: CatalogSpec) -> None:
    """Writes a file that is not there yet. Raises as ``read_file`` does."""
    path = local_path(location)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
        return
    bucket, key = _in_s3(location)
    with _s3_told(catalog):
        _of(catalog).put_object(Bucket=bucket, Key=key, Body=content)


def delete_file(location: str, catalog: CatalogSpec) -> None:
    """Deletes a file; one of a local folder that is gone is a ``FileNotFoundError``. Raises as ``read_file``
    does.
    """
    path = local_path(location)
    if path is not None:
        path.unlink()
        return
    bucket, key = _in_s3(location)
    with _s3_told(catalog):
        _of(catalog).delete_object(Bucket=bucket, Key=key)


def is_there(location: str, catalog: CatalogSpec) -> bool:
    """Returns True if there is such a file. Raises as ``read_file`` does where that cannot be known."""
    path = local_path(location)
    if path is not None:
        return path.exists()
    bucket, key = _in_s3(location)
    try:
        with _s3_told(catalog):
            _of(catalog).head_object(Bucket=bucket, Key=key)
    except FileNotFoundError:
        return False
    return True


def names_in(folder: str, catalog: CatalogSpec) -> list[str]:
    """The names of the files right in a folder. Raises as ``read_file`` does."""
    path = local_path(folder)
    if path is not None:
        return [entry.name for entry in path.iterdir()]
    bucket, key = _in_s3(f"{folder.rstrip('/')}/")
    with _s3_told(catalog):
        pages = (
            _of(catalog).get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=key, Delimiter="/")
        )
        return [
            str(s3_object["Key"]).removeprefix(key)
            for page in pages
            for s3_object in page.get("Contents") or ()
        ]


def _in_s3(location: str) -> tuple[str, str]:
    scheme, _, rest = location.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme not in ("s3", "s3a", "s3n") or not key:
        raise OSError(errno.EINVAL, "only files in local or mounted folders and in S3 are supported yet")
    return bucket, key


def _of(catalog: CatalogSpec | None) -> Any:
    return s3_client(catalog.settings() if catalog is not None else {})


@contextmanager
def _s3_told(catalog: CatalogSpec | None) -> Iterator[None]:
    """Turns what AWS's client raises into an ``OSError``. Raises ``Failure`` where it is not installed."""
    with needed_by("A file in S3" if catalog is None else f"{catalog.address} (files in S3)"):
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

    try:
        yield
    except ClientError as answer:
        known = answer.response.get("Error", {})
        if known.get("Code") in ("NoSuchKey", "NoSuchBucket", "404"):
            raise FileNotFoundError(
                errno.ENOENT, f"there is no such {'bucket' if known['Code'] == 'NoSuchBucket' else 'file'}"
            ) from None
        raise OSError(
            errno.EACCES, f"S3 answers {known.get('Code', '?')}: {known.get('Message', '')} ({_ADVICE})"
        ) from None
    except (BotoCoreError, ResponseParserError, *GARBLED) as error:
        raise OSError(errno.EIO, f"{said(error)} ({_ADVICE})") from None


def s3_client(settings: dict[str, str]) -> Any:
    """A client with bounded patience. ``settings`` by Iceberg's names."""
    return _client(tuple(sorted(s3_settings(settings).items())))


@lru_cache(maxsize=64)
def _client(settings: tuple[tuple[str, str], ...]) -> Any:
    """Making one takes longer than most of its answers; it is safe to use from several threads."""
    import boto3
    from botocore.config import Config

    known = dict(settings)
    path_style = known.get("s3.path-style-access") == "true"
    return boto3.client(
        "s3",
        endpoint_url=known.get("s3.endpoint"),
        region_name=known.get("s3.region"),
        aws_access_key_id=known.get("s3.access-key-id"),
        aws_secret_access_key=known.get("s3.secret-access-key"),
        aws_session_token=known.get("s3.session-token"),
        config=Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=ANSWER_SECONDS,
            retries={"total_max_attempts": 2},
            s3={"addressing_style": "path" if path_style else "auto"},
        ),
    )


def bucket_error(warehouse: str, settings: dict[str, str]) -> str | None:
    """The reason that a warehouse's bucket cannot be used, or None. Raises ``Failure`` where AWS's client is
    not installed.
    """
    with needed_by(f"The warehouse {warehouse}"):
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

    try:
        s3_client(settings).head_bucket(Bucket=warehouse.removeprefix("s3://").partition("/")[0])
    except ClientError as answer:
        code = str(answer.response.get("Error", {}).get("Code", "?"))
        return {"404": "there is no such bucket", "403": "access is denied"}.get(code, f"S3 answers {code}")
    except (BotoCoreError, ResponseParserError, *GARBLED) as error:
        return said(error)
    return None
