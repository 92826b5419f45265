"""Code in object storage: the command line puts it there whole, a driver checks what it fetches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac_spark_runtime.control.code_archive import archive_at, code_digest, packed, unpacked
from flareiac_spark_runtime.driver.code_folder import code_folder
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.storage import place_at, replace_whole
from tests.support.object_storage import buckets

MODULES = {"score.py": b"def score(): ...\n", "rules/__init__.py": b"", "rules/ä.py": b"x = 1\n" * 1000}
DIGEST = code_digest(MODULES)
PLACE = f"s3://lake/control/code/{DIGEST}"


@pytest.fixture(autouse=True)
def archive(empty_cache: Path) -> Iterator[bytes]:
    del empty_cache
    content = packed(MODULES)
    with buckets("lake"):
        replace_whole(archive_at(place_at(PLACE)), content)
        yield content


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_code_is_fetched_once_and_checked_each_time() -> None:
    folder = code_folder(PLACE, "clean")
    assert _files(folder) == MODULES
    assert folder.name == DIGEST
    archive_at(place_at(PLACE)).unlink()
    assert code_folder(PLACE, "clean") == folder
    (folder / "score.py").write_text("changed")
    with pytest.raises(Refusal, match="Apply the job again"):
        code_folder(PLACE, "clean")


def test_a_copy_that_someone_changed_is_replaced() -> None:
    folder = code_folder(PLACE, "clean")
    (folder / "score.py").write_text("changed")
    (folder / "more.py").write_text("added")
    assert _files(code_folder(PLACE, "clean")) == MODULES


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_truncated_archive_is_refused(archive: bytes, cut: int) -> None:
    replace_whole(archive_at(place_at(PLACE)), archive[:cut])
    with pytest.raises(Refusal, match="damaged") as caught:
        code_folder(PLACE, "clean")
    assert caught.value.error_class == "CODE_MISSING"


def test_other_code_under_this_name_is_refused() -> None:
    replace_whole(archive_at(place_at(PLACE)), packed({"score.py": b"other"}))
    with pytest.raises(Refusal, match="damaged"):
        code_folder(PLACE, "clean")


def test_storage_that_does_not_answer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with buckets("lake"):
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
        with pytest.raises(Refusal, match="cannot be fetched") as caught:
            code_folder(PLACE, "clean")
    assert not caught.value.permanent


def test_an_archive_is_the_same_whenever_it_is_made() -> None:
    assert packed(dict(reversed(MODULES.items()))) == packed(MODULES)
    assert unpacked(packed(MODULES), DIGEST) == MODULES
