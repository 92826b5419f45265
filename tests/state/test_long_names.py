"""Names that a place would cut off or refuse: they are refused where they are written, by their bytes."""

from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_state.log_backend import LogBackend
from flareiac_state.postgresql import PostgresqlBackend
from flareiac_state.s3 import S3Backend

_SPELLINGS = ("a", "A", '"', " ", "é", "\N{GRINNING FACE}")


def _named(character: str, size: int) -> str:
    """A name of that many bytes, of one character as far as it goes."""
    width = len(character.encode())
    return character * (size // width) + "x" * (size % width)


def _settings(name: str, value: str) -> tuple[LogBackend, dict[str, Any]]:
    if name == "schema":
        return PostgresqlBackend(), {"schema": value}
    if name == "connection":
        return PostgresqlBackend(), {"connection": f"host=127.0.0.1 dbname='{value}'"}
    return S3Backend(), {"bucket": "b", "prefix": value}


@pytest.mark.parametrize("character", _SPELLINGS)
@pytest.mark.parametrize(("name", "longest"), [("schema", 63), ("connection", 63), ("prefix", 900)])
def test_the_longest_name_is_counted_in_bytes(name: str, longest: int, character: str) -> None:
    for size in (1, longest - 1, longest, longest + 1, 2 * longest):
        backend, settings = _settings(name, _named(character, size).replace("'", "\\'"))
        for use in (
            lambda: backend.open(settings, root="", workspace="default", environment={}),  # noqa: B023
            lambda: backend.location(settings, environment={}),  # type: ignore[attr-defined] # noqa: B023
        ):
            if size <= longest:
                use()
            else:
                with pytest.raises(Failure, match=f"{size} bytes"):
                    use()


@pytest.mark.parametrize(
    ("bucket", "meant"),
    [
        ("plain/", 'bucket = "plain"'),
        ("s3://plain", 'bucket = "plain"'),
        ("s3://plain/a/b/", 'bucket = "plain" and prefix = "a/b"'),
        ("a b", "the name alone."),
        ("ä", "the name alone."),
    ],
)
def test_what_is_no_name_of_a_bucket_is_refused_before_a_request(bucket: str, meant: str) -> None:
    settings = {"bucket": bucket}
    for use in (
        lambda: S3Backend().open(settings, root="", workspace="default", environment={}),
        lambda: S3Backend().location(settings, environment={}),
    ):
        with pytest.raises(Failure) as failure:
            use()
        assert failure.value.diagnostics[0].code == "FIS041"
        assert meant in failure.value.diagnostics[0].detail
