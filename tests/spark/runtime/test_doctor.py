from pathlib import Path

import pytest

from flareiac.sdk.capabilities import Check, Verdict
from flareiac_spark.runtime.doctor import check_runtime
from flareiac_spark.runtime.java import Java
from flareiac_spark.runtime.versions import default_packages


def test_says_what_is_missing_and_how_to_get_it(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flareiac_spark.runtime.doctor.find_java", lambda *_given, **_named: None)
    monkeypatch.setattr("flareiac_spark.runtime.doctor.installed_javas", lambda *_given, **_named: iter(()))
    found = {check.name: check for check in check_runtime(tmp_path, default_packages())}
    assert found["java"].verdict is Verdict.FAIL
    assert "17" in found["java"].fix
    assert found["jars"].verdict is Verdict.FAIL
    assert "flareiac init" in found["jars"].fix
    assert found["cache"].verdict is Verdict.OK


def test_never_raises_for_what_it_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file where a directory should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / ".flareiac.lock.hcl").write_text("nonsense {")
    found = {check.name: check for check in check_runtime(tmp_path, ["no coordinate"])}
    assert found["cache"].verdict is Verdict.FAIL
    assert found["jars"].verdict is Verdict.FAIL
    assert all(check.fix for check in found.values() if check.verdict is not Verdict.OK)


def test_a_java_home_that_is_passed_over_is_named(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = Java(home=tmp_path / "java", version="openjdk 17", major=17)
    monkeypatch.setattr("flareiac_spark.runtime.doctor.find_java", lambda *_given, **_named: java)

    def check(home: str) -> Check:
        return next(each for each in check_runtime(tmp_path, (), {"JAVA_HOME": home}) if each.name == "java")

    assert check(str(java.home)).verdict is Verdict.OK
    wrong = check("/nowhere")
    assert wrong.verdict is Verdict.WARN
    assert "JAVA_HOME=/nowhere" in wrong.text


def test_what_is_there_in_place_of_a_java_that_fits_is_named(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Java(home=tmp_path / "java", version="openjdk 25", major=25)
    monkeypatch.setattr("flareiac_spark.runtime.doctor.find_java", lambda *_given, **_named: None)
    monkeypatch.setattr(
        "flareiac_spark.runtime.doctor.installed_javas", lambda *_given, **_named: iter((other,))
    )
    found = {each.name: each for each in check_runtime(tmp_path, ())}
    assert f"found only Java 25 in {other.home}" in found["java"].text
