"""Whatever the umask says, others neither read nor write what a project keeps, and write no jar."""

import logging.handlers
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.kernel import user_cache
from flareiac_spark.runtime.cache import write_atomically
from flareiac_spark_runtime.control import ControlDirectory, Operation
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.driver import logs
from flareiac_spark_runtime.driver.log_lines import LogLines
from flareiac_spark_runtime.storage import make_folder
from tests.support.command_line import flareiac


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The permissions of all below a folder, and of itself."""
    return {str(path): path.lstat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}


def test_a_control_directory_is_its_owners(tmp_path: Path) -> None:
    place = tmp_path / "outside" / "runtime"
    control = ControlDirectory(place)
    control.update_desired(lambda desired: desired, lineage="a", workspace="default")
    control.write_refused_start(RefusedStart(host="h", reason="x", at=1.0))
    control.submit_operation(Operation(id="one"))
    log = logs.logger("private", control.application_log, LogLines())
    log.info("a line")
    for handler in log.handlers:
        assert isinstance(handler, logging.handlers.RotatingFileHandler)
        handler.doRollover()
        handler.close()
    found = modes(tmp_path / "outside")
    assert {path: oct(mode) for path, mode in found.items() if mode & 0o077} == {}
    assert len([path for path in found if path.endswith((".json", ".log", ".1"))]) >= 5


def test_caches_checkpoints_and_jars_are_written_by_their_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    user_cache.keep("parsed/x", b"1")
    write_atomically(tmp_path / "cache" / "flareiac" / "jars" / "org.x" / "note.json", "{}")
    make_folder(tmp_path / "checkpoints" / "orders" / "g0001")
    found = {**modes(tmp_path / "cache"), **modes(tmp_path / "checkpoints")}
    assert {path: oct(mode) for path, mode in found.items() if mode & 0o022} == {}
    assert (tmp_path / "cache" / "flareiac" / "parsed" / "x").stat().st_mode & 0o077 == 0


def test_a_project_keeps_its_state_and_plans_private(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        'catalog "lake" {}\ntable "t" {\n  namespace = "n"\n  column "id" { type = "long" }\n}\n'
    )
    assert flareiac(tmp_path, "plan", "-out=saved.json").code == 0
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    kept = {
        path: mode
        for path, mode in modes(tmp_path / ".flareiac").items()
        if "/lake" not in path.removeprefix(str(tmp_path)) and not path.endswith(".gitignore")
    }
    kept[str(tmp_path / "saved.json")] = (tmp_path / "saved.json").stat().st_mode & 0o777
    assert {path: oct(mode) for path, mode in kept.items() if mode & 0o077} == {}
