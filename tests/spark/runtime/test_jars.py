import os
from collections.abc import Callable
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark.runtime.init import init
from flareiac_spark.runtime.jars import locked_jars, sha256_of
from flareiac_spark.runtime.java import Java
from flareiac_spark.runtime.lock_file import LOCK_FILE

_PACKAGE = "org.example:thing:1.0"


def _complaint(action: Callable[[], object]) -> Diagnostic:
    with pytest.raises(Failure) as caught:
        action()
    assert len(caught.value.diagnostics) == 1
    return caught.value.diagnostics[0]


@pytest.fixture
def repository(tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven repository in a directory, offered to a ``mvn`` that copies from it; no Java, so that Ivy is
    out of the game.
    """
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "thing-1.0.jar").write_bytes(b"first build")
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        'for argument in "$@"; do case "$argument" in -DoutputDirectory=*) into="${argument#*=}";; esac; '
        "done\n"
        f'echo called >> "{tmp_path}/calls"\n'
        f'mkdir -p "$into" && cp "{folder}"/*.jar "$into"/ || {{ echo "[ERROR] nothing there" >&2; exit 1; '
        "}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setattr("flareiac_spark.runtime.jars.find_java", lambda _environment: None)
    monkeypatch.setattr("flareiac_spark.runtime.init.find_java", lambda *_given, **_named: None)
    return folder


def _init(root: Path) -> bool:
    return init(root, lambda _locked: (_PACKAGE,), lambda _text: None, archive=False).lock_changed


def test_without_init_the_way_out_is_init(tmp_path: Path, empty_cache: Path) -> None:
    complaint = _complaint(lambda: locked_jars(tmp_path, [_PACKAGE]))
    assert complaint.code == "FIK904"
    assert "flareiac init" in complaint.detail


def test_init_fetches_once_and_locks(tmp_path: Path, repository: Path) -> None:
    assert _init(tmp_path)
    assert not _init(tmp_path)
    assert (tmp_path / "calls").read_text() == "called\n"
    (path,) = locked_jars(tmp_path, [_PACKAGE])
    assert path.read_bytes() == b"first build"
    assert f'sha256 = "{sha256_of(path)}"' in (tmp_path / LOCK_FILE).read_text()


def test_a_second_project_takes_the_cached_jar(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    _init(tmp_path / "one")
    _init(tmp_path / "two")
    assert (tmp_path / "calls").read_text() == "called\n"
    assert locked_jars(tmp_path / "one", [_PACKAGE]) == locked_jars(tmp_path / "two", [_PACKAGE])


def test_a_jar_that_changed_in_the_cache_is_not_used_and_init_heals_it(
    tmp_path: Path, repository: Path
) -> None:
    _init(tmp_path)
    (path,) = locked_jars(tmp_path, [_PACKAGE])
    path.write_bytes(b"something else of another size")
    assert _complaint(lambda: locked_jars(tmp_path, [_PACKAGE])).code == "FIK905"
    _init(tmp_path)
    assert locked_jars(tmp_path, [_PACKAGE]) == (path,)
    assert path.read_bytes() == b"first build"


@pytest.mark.parametrize("replaced", [False, True])
def test_another_jar_of_the_same_size_and_time_is_not_used(
    tmp_path: Path, repository: Path, replaced: bool
) -> None:
    _init(tmp_path)
    (path,) = locked_jars(tmp_path, [_PACKAGE])
    before = path.stat()
    if replaced:
        other = path.with_name("other")
        other.write_bytes(b"FIRST BUILD")
        other.replace(path)
    else:
        path.write_bytes(b"FIRST BUILD")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert _complaint(lambda: locked_jars(tmp_path, [_PACKAGE])).code == "FIK905"


def test_a_java_home_that_is_passed_over_is_a_warning(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = Java(home=tmp_path / "java", version="openjdk 17", major=17)
    monkeypatch.setattr("flareiac_spark.runtime.init.find_java", lambda *_given, **_named: fits)
    here = {**os.environ, "JAVA_HOME": str(tmp_path / "nowhere")}
    (complaint,) = init(
        tmp_path, lambda _locked: (_PACKAGE,), _nothing, environment=here, archive=False
    ).warnings
    assert (complaint.code, complaint.severity) == ("FIK910", Severity.WARNING)
    assert f"{tmp_path}/nowhere, which is no folder" in complaint.detail
    assert str(fits.home) in complaint.detail
    here = {**os.environ, "JAVA_HOME": str(fits.home)}
    assert (
        init(tmp_path, lambda _locked: (_PACKAGE,), _nothing, environment=here, archive=False).warnings == ()
    )


def test_no_java_at_all_is_a_warning_of_init(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark.runtime.init.find_java", lambda *_given, **_named: None)
    report = init(tmp_path, lambda _locked: (_PACKAGE,), _nothing, archive=False)
    assert [(item.code, item.severity) for item in report.warnings] == [("FIK901", Severity.WARNING)]


def _nothing(_text: str) -> None:
    pass


def test_a_repository_that_gives_another_file_is_refused(tmp_path: Path, repository: Path) -> None:
    _init(tmp_path)
    (path,) = locked_jars(tmp_path, [_PACKAGE])
    path.unlink()
    assert _complaint(lambda: locked_jars(tmp_path, [_PACKAGE])).code == "FIK187"
    (repository / "thing-1.0.jar").write_bytes(b"second build")
    assert _complaint(lambda: _init(tmp_path)).code == "FIK905"
    assert not path.exists()


def test_without_java_the_way_out_is_a_java(tmp_path: Path, repository: Path) -> None:
    (repository / "thing-1.0.jar").unlink()
    complaint = _complaint(lambda: _init(tmp_path))
    assert complaint.code == "FIK906"
    assert complaint.detail.startswith("No Java was found to fetch them with. Install a Java")
    assert _PACKAGE in complaint.detail
    assert not (tmp_path / LOCK_FILE).exists()
    assert not [item for item in (cache_directory() / "jars").iterdir() if item.name.startswith(".fetch")]


def test_a_package_that_is_not_locked_is_named(tmp_path: Path, repository: Path) -> None:
    _init(tmp_path)
    complaint = _complaint(lambda: locked_jars(tmp_path, [_PACKAGE, "org.example:other:2"]))
    assert "org.example:other:2 is not in" in complaint.detail


@pytest.mark.parametrize("wrong", ["thing", "a:b", "a:b:c:d", "a:../../b:1", "", "a b:c:1"])
def test_what_is_no_coordinate_is_refused(tmp_path: Path, empty_cache: Path, wrong: str) -> None:
    assert _complaint(lambda: init(tmp_path, lambda _locked: (wrong,), lambda _text: None)).code == "FIK908"


def test_a_cache_that_is_a_file_is_told(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "cache").write_text("")
    assert _complaint(lambda: _init(tmp_path)).code == "FIK909"
