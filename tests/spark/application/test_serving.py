"""``flareiac driver``: a folder that is no control directory starts nothing, and the driver finds its jars by
the project's lock file.
"""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from flareiac.kernel.diagnostics import Failure, error
from flareiac_spark import codes
from flareiac_spark.application.external import await_external
from flareiac_spark.application.serve import launch_of, serve
from flareiac_spark.runtime import launch as runtime
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory
from flareiac_spark_runtime.driver.entry import main

SETTINGS = ApplicationSettings(
    conf={"spark.flareiac.packages": "g:a:1,g:b:2"}, master="local[3]", memory="2g", root="/elsewhere"
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, list[str]]]:
    """The questions to the machine: the project whose lock file counts, and the coordinates."""
    found: list[tuple[Path, list[str]]] = []

    def prepare(project: Path, packages: list[str], *, long_lived: bool) -> SimpleNamespace:
        assert long_lived
        found.append((project, packages))
        return SimpleNamespace(
            java=SimpleNamespace(home=Path("/java")), jars=(Path("/a.jar"),), java_options=("-Xshare:auto",)
        )

    monkeypatch.setattr(runtime, "prepare", prepare)
    return found


def test_a_mistyped_folder_is_told_and_not_made(tmp_path: Path) -> None:
    ControlDirectory(tmp_path / ".flareiac/runtime/default/local").update_desired(
        lambda now: now, lineage="l", workspace="default"
    )
    with pytest.raises(Failure) as failure:
        serve(str(tmp_path / "status"), tmp_path)
    (said,) = failure.value.diagnostics
    assert said.code == "FIK809"
    assert "Here are: .flareiac/runtime/default/local." in said.detail
    assert not (tmp_path / "status").exists()


def test_the_process_itself_makes_no_folder_either(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "flareiac_spark_runtime.driver", str(tmp_path / "status")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "is not a control directory" in ended.stderr
    assert not (tmp_path / "status").exists()


def test_a_host_without_the_project_takes_the_jars_that_travel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, str] | None] = []

    def prepare(
        _project: Path, _packages: list[str], *, long_lived: bool, locked: dict[str, str] | None = None
    ) -> SimpleNamespace:
        asked.append(locked)
        return SimpleNamespace(java=SimpleNamespace(home=Path("/java")), jars=(), java_options=())

    monkeypatch.setattr(runtime, "prepare", prepare)
    locked = {"g:a:1": "a" * 64, "g:b:2": "b" * 64}
    travelling = replace(SETTINGS, jars=locked, root=str(tmp_path / "nowhere"))
    launch_of(travelling, tmp_path)
    (tmp_path / ".flareiac.lock.hcl").touch()
    launch_of(travelling, tmp_path)
    assert asked == [travelling.jars] * 2  # not those of another lock file that lies there
    with pytest.raises(Failure) as failure:
        launch_of(replace(travelling, jars={"g:a:1": "a" * 64}), tmp_path)
    assert "has no lock of g:b:2" in failure.value.diagnostics[0].detail


def test_an_external_driver_that_does_not_come_is_named(tmp_path: Path) -> None:
    control, said = ControlDirectory(tmp_path / "control"), list[str]()
    with pytest.raises(Failure) as failure:
        await_external(control, "d", cancel=threading.Event(), progress=said.append, timeout=0.0)
    (complaint,) = failure.value.diagnostics
    assert complaint.code == "FIK812"
    assert f"flareiac driver {control.place}" in complaint.detail
    assert said == ["waiting until the external driver runs"]


def test_the_jars_are_those_of_the_lock_file_here_or_of_the_project_that_wrote_what_should_run(
    tmp_path: Path, asked: list[tuple[Path, list[str]]]
) -> None:
    found = launch_of(SETTINGS, tmp_path)
    assert (found.master, found.memory, found.jars) == ("local[3]", "2g", (Path("/a.jar"),))
    (tmp_path / ".flareiac.lock.hcl").touch()
    launch_of(SETTINGS, tmp_path)
    assert [(root, list(packages)) for root, packages in asked] == [
        (Path("/elsewhere"), ["g:a:1", "g:b:2"]),
        (tmp_path, ["g:a:1", "g:b:2"]),
    ]


def test_a_driver_that_cannot_start_leaves_the_reason_for_those_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control, said = ControlDirectory(tmp_path / "control"), list[str]()
    control.update_desired(lambda now: replace(now, application=SETTINGS), lineage="l", workspace="default")

    def no_java(_project: Path, _packages: list[str], **_options: bool) -> SimpleNamespace:
        raise Failure(error(codes.JAVA_NOT_FOUND, "There is none on this host."))

    monkeypatch.setattr(runtime, "prepare", no_java)
    with pytest.raises(Failure):
        serve(str(control.place), tmp_path)
    with pytest.raises(Failure) as failure:
        await_external(control, "d", cancel=threading.Event(), progress=said.append, timeout=0.0)
    (complaint,) = failure.value.diagnostics
    assert complaint.code == "FIK812"
    assert "There is none on this host. Start it with: flareiac" in complaint.detail
    assert "a start failed on" in said[-1]
    control.forget_refused_start()
    assert control.read_refused_start() is None


def test_so_does_one_whose_control_directory_cannot_be_used(tmp_path: Path) -> None:
    said: list[str] = []
    assert main(str(tmp_path / "nothing"), said.append) == 1
    assert said == [f"{tmp_path}/nothing is not a control directory"]
