import os
import subprocess
from pathlib import Path

import pytest

from flareiac_spark.runtime.archive import archive_path, make_in_background, usable_archive
from flareiac_spark.runtime.java import Java
from flareiac_spark.runtime.launch import java_options

_JAVA = Java(home=Path("/opt/java"), version='openjdk version "17.0.1"', major=17)


@pytest.fixture
def two_jars(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "a.jar", tmp_path / "b.jar"]
    for jar in found:
        jar.write_bytes(b"jar")
    return found


def test_each_java_each_order_and_each_change_of_a_jar_has_its_own(two_jars: list[Path]) -> None:
    before = archive_path(_JAVA, two_jars)
    assert archive_path(_JAVA, two_jars) == before
    other = Java(home=_JAVA.home, version='openjdk version "17.0.2"', major=17)
    assert archive_path(other, two_jars) != before
    assert archive_path(_JAVA, two_jars[::-1]) != before
    os.utime(two_jars[0], (1, 1))
    assert archive_path(_JAVA, two_jars) != before


def test_none_is_used_before_it_is_made_or_when_switched_off(
    two_jars: list[Path], empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLAREIAC_CLASS_ARCHIVE", raising=False)
    assert usable_archive(_JAVA, two_jars) is None
    path = archive_path(_JAVA, two_jars)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"archive")
    assert usable_archive(_JAVA, two_jars) == path
    off = {**os.environ, "FLAREIAC_CLASS_ARCHIVE": "off"}
    assert usable_archive(_JAVA, two_jars, off) is None
    assert not make_in_background(_JAVA, two_jars)


def test_one_that_is_made_is_used_where_none_is_to_be_made(two_jars: list[Path], empty_cache: Path) -> None:
    use = {**os.environ, "FLAREIAC_CLASS_ARCHIVE": "use"}
    assert not make_in_background(_JAVA, two_jars, use)
    path = archive_path(_JAVA, two_jars, use)
    assert not path.parent.exists()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"archive")
    os.utime(path, (1, 1))
    assert usable_archive(_JAVA, two_jars, use) == path
    assert path.stat().st_mtime > 1, "what is used stays longest"


def test_jars_that_cannot_be_looked_at_have_none(tmp_path: Path, empty_cache: Path) -> None:
    file = tmp_path / "a.jar"
    file.write_bytes(b"jar")
    use = {**os.environ, "FLAREIAC_CLASS_ARCHIVE": "use"}
    assert usable_archive(_JAVA, [file / "below a file"], use) is None


def test_a_long_driver_keeps_the_second_compiler(tmp_path: Path) -> None:
    assert not [
        option
        for option in java_options(tmp_path / "x.jsa", long_lived=True)
        if "Tiered" in option or "Serial" in option
    ]
    assert "-XX:TieredStopAtLevel=1" in java_options(None, long_lived=False)
    assert not [option for option in java_options(None, long_lived=True) if "Share" in option]


def test_a_collector_that_the_environment_names_stays() -> None:
    chosen = {"JAVA_TOOL_OPTIONS": "-XX:+UseParallelGC"}
    assert "-XX:+UseSerialGC" in java_options(None, {}, long_lived=False)
    assert "-XX:+UseSerialGC" not in java_options(None, chosen, long_lived=False)


@pytest.mark.jvm
@pytest.mark.parametrize("content", [None, b"", b"no archive at all" * 1000])
def test_a_java_starts_quietly_with_an_archive_that_does_not_fit(
    tmp_path: Path, java_home: Path, content: bytes | None
) -> None:
    archive = tmp_path / "x.jsa"
    if content is not None:
        archive.write_bytes(content)
    command = [str(java_home / "bin" / "java"), *java_options(archive, long_lived=False), "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "warning" not in done.stderr.lower()
