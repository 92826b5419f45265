from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.runtime.java import find_java, require_java, unused_home


def _fake_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\necho asked >> "{home}/asked"\necho \'openjdk version "{version}" 2025-01-01\' >&2\n'
    )
    program.chmod(0o755)
    return home


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": ""}


def test_java_home_comes_before_path(tmp_path: Path, environment: dict[str, str]) -> None:
    first, second = _fake_java(tmp_path / "a", "21.0.2"), _fake_java(tmp_path / "b", "17.0.9")
    java = find_java(environment | {"JAVA_HOME": str(first), "PATH": str(second / "bin")}, places=())
    assert java is not None
    assert (java.home, java.major) == (first, 21)


def test_one_that_does_not_fit_is_passed_over(tmp_path: Path, environment: dict[str, str]) -> None:
    new, old = (
        _fake_java(tmp_path / "jvm" / "java-25", "25"),
        _fake_java(tmp_path / "jvm" / "java-8", "1.8.0_402"),
    )
    good = _fake_java(tmp_path / "jvm" / "java-9-really-17", "17.0.1")
    java = find_java(
        environment | {"JAVA_HOME": str(new), "PATH": str(old / "bin")}, places=(f"{tmp_path}/jvm/*",)
    )
    assert java is not None
    assert java.home == good


def test_none_that_fits_says_what_was_found_and_how_to_install_one(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    old = _fake_java(tmp_path / "old", "1.8.0_402")
    with pytest.raises(Failure) as caught:
        require_java(environment | {"JAVA_HOME": str(old)}, places=())
    complaint = caught.value.diagnostics[0]
    assert complaint.code == "FIK901"
    assert "17 or 21" in complaint.detail
    assert f"Java 8 in {old}" in complaint.detail
    assert "JAVA_HOME" in complaint.detail


def test_the_answer_is_remembered_until_the_program_changes(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    home = _fake_java(tmp_path / "a", "17.0.1")
    here = environment | {"JAVA_HOME": str(home)}
    for _ in range(3):
        find_java(here, places=())
    assert (home / "asked").read_text().count("asked") == 1
    program = home / "bin" / "java"
    program.write_text(program.read_text().replace("17.0.1", "21.0.10"))
    java = find_java(here, places=())
    assert java is not None
    assert java.major == 21


@pytest.mark.parametrize(
    "broken", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho nonsense >&2\n", "not a program", ""]
)
def test_a_java_that_does_not_answer_is_no_java(
    tmp_path: Path, environment: dict[str, str], broken: str
) -> None:
    home = _fake_java(tmp_path / "a", "17")
    (home / "bin" / "java").write_text(broken)
    assert find_java(environment | {"JAVA_HOME": str(home)}, places=()) is None


def test_a_broken_memory_is_ignored(tmp_path: Path, environment: dict[str, str]) -> None:
    environment |= {"JAVA_HOME": str(_fake_java(tmp_path / "a", "17"))}
    java = find_java(environment, places=())
    (note,) = (tmp_path / "cache" / "flareiac" / "java").iterdir()
    for torn in ("{ torn", "[]", '{"stamp": 1}'):
        note.write_text(torn)
        assert find_java(environment, places=()) == java is not None


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("nowhere", "which is no folder"),
        ("empty", "which holds no bin/java"),
        ("old", "which is Java 8; Spark needs Java 17 or 21"),
        ("older", "which is Java 11; Spark needs Java 17 or 21"),
        ("new", "which is Java 25; Spark needs Java 17 or 21"),
        ("silent", "whose bin/java does not say its version"),
        ("good", None),
        ("good/", None),
        ("link", None),
        ("", None),
    ],
)
def test_a_java_home_that_is_not_used_is_named_with_its_reason(
    tmp_path: Path, environment: dict[str, str], named: str, why: str | None
) -> None:
    versions = {"old": "1.8.0_402", "older": "11.0.2", "new": "25", "silent": "-", "good": "17.0.1"}
    for name, version in versions.items():
        _fake_java(tmp_path / name, version)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "good")
    home = f"{tmp_path}/{named}" if named else ""
    here = environment | {"PATH": str(tmp_path / "good" / "bin"), "JAVA_HOME": home}
    java = find_java(here, places=())
    assert java is not None
    assert java.home == tmp_path / "good"
    said = unused_home(here, java, (17, 21))
    assert said == (None if why is None else f"JAVA_HOME={Path(home)}, {why}")
