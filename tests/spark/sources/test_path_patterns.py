"""Names with glob characters of folders that are there are no patterns."""

import fnmatch
import re
from pathlib import Path

import pytest

from flareiac_spark_runtime.sources.path_patterns import as_pattern, is_pattern, literally


@pytest.mark.parametrize("name", ["a[1]", "{b}", "c?*", "plain", "back\\slash[x]", "x [y]/z"])
def test_what_is_there_stands_for_itself(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    assert not is_pattern(folder)
    assert as_pattern(str(folder)).removeprefix(str(tmp_path)) == literally(f"/{name}")
    assert as_pattern(f"file:{folder}") == f"file:{as_pattern(str(folder))}"
    inside = folder / "*.json"
    assert is_pattern(inside)
    assert as_pattern(str(inside)) == f"{as_pattern(str(folder))}/*.json"


def test_what_is_not_there_is_a_pattern_as_it_is_written(tmp_path: Path) -> None:
    pattern = str(tmp_path / "in-[0-9]" / "*.csv")
    assert (is_pattern(pattern), as_pattern(pattern)) == (True, pattern)
    assert not is_pattern(tmp_path / "comes later")


def test_an_escaped_name_matches_itself_alone() -> None:
    unescaped = re.sub(r"\\(.)", r"\1", literally("a[1]{b}?*\\"))
    assert unescaped == "a[1]{b}?*\\"
    assert not fnmatch.fnmatchcase("a1", literally("a[1]"))
