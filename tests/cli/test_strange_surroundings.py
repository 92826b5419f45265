"""Commands in strange places: a directory that is gone, files of editors and of macOS, no Spark, a prompt."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac

_THING = 'thing "a" { value = "1" }\n'


@pytest.mark.parametrize("words", [("plan",), ("-chdir=.", "plan"), ("plan", "-json"), ("validate",)])
def test_a_directory_that_was_removed_is_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = _in_removed_directory(tmp_path, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "current directory cannot be used" in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stderr
    assert "FIX099" not in done.stdout + done.stderr


def test_another_project_is_worked_at_from_a_directory_that_was_removed(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(_THING)
    done = _in_removed_directory(tmp_path, f"-chdir={tmp_path}", "plan")
    assert (done.returncode, done.stderr) == (0, "")


def _in_removed_directory(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["bash", "-c", 'rmdir "$1"; shift; exec "$@"', "bash", str(gone), *arguments(*words)]
    return subprocess.run(command, cwd=gone, env=environment(), capture_output=True, text=True, timeout=300)


def test_files_of_editors_and_of_macos_are_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(_THING)
    (tmp_path / ".#main.flare.hcl").symlink_to("someone@host.123:1")
    (tmp_path / "._main.flare.hcl").write_bytes(b"\0\5\x16\7\xff\xfe")
    (tmp_path / ".#x.auto.vars.hcl").symlink_to("someone@host.123:1")
    (tmp_path / "._x.auto.vars.hcl").write_bytes(b"\0\5\x16\7\xff\xfe")
    for name in ("main.flare.hcl~", "#main.flare.hcl#", ".main.flare.hcl.swp", "x.auto.vars.hcl~"):
        (tmp_path / name).write_text("broken {")
    done = flareiac(tmp_path, "plan")
    assert (done.code, done.err) == (0, "")
    assert "1 to add" in done.out
    (tmp_path / ".kept.flare.hcl").write_text("broken {")
    assert ".kept.flare.hcl is left out" in flareiac(tmp_path, "plan").err


_LAKE = (
    'catalog "lake" {\n  uri       = "sqlite:///lake/catalog.db"\n  warehouse = "lake/warehouse"\n}\n'
    'table "a" {\n  namespace = "n"\n  column "id" { type = "long" }\n}\n'
)
_WITHOUT_PYSPARK = """
import importlib.metadata, sys
version = importlib.metadata.version
def installed(name):
    if name == "pyspark":
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = installed
sys.modules["pyspark"] = None
from flareiac.cli.main import main
main()
"""


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (_LAKE, 0, "initialised here"),
        ('output "o" { value = 1 }\n', 0, "initialised here"),
        (_LAKE + 'engine "own" {}\n', 1, "FIK902"),
        (_LAKE + 'engine "embedded" {}\n', 1, "FIK902"),
    ],
)
def test_init_of_a_project_without_jobs_needs_no_spark(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    (tmp_path / "main.flare.hcl").write_text(text)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _WITHOUT_PYSPARK, "init"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert code or not done.stderr


_STREAM = """
stream "ticks" {
  rate {
    rows_per_second = 1
  }
}
checkpoint "ticks" {}
table "ticks" {
  namespace = "n"
  column "timestamp" { type = "timestamptz" }
  column "value" { type = "long" }
}
job "ticks" {
  checkpoint = checkpoint.ticks
  input "s" { stream = stream.ticks }
  output "o" {
    table = table.ticks
    from  = "s"
  }
}
"""


@pytest.mark.parametrize(
    ("arguments_of", "code", "code_of_error"),
    [
        (("apply", "-auto-approve"), 1, "FIK90"),
        (("apply", "-auto-approve", "-target=job.ticks"), 1, "FIK90"),
        (("apply", "-auto-approve", "-target=table.ticks"), 0, ""),
        (("plan",), 0, ""),
    ],
)
def test_what_keeps_a_new_job_from_starting_is_said_before_the_plan(
    tmp_path: Path, arguments_of: tuple[str, ...], code: int, code_of_error: str
) -> None:
    (tmp_path / "main.flare.hcl").write_text(_STREAM)
    done = flareiac(tmp_path, *arguments_of)
    assert done.code == code, done.text
    assert (code_of_error in done.err, "to add" in done.out) == (True, not code), done.text
    assert (tmp_path / ".flareiac" / "lake").exists() == (arguments_of[-1] == "-target=table.ticks")


def test_what_keeps_a_saved_plan_from_starting_a_job_is_said_before_it_is_applied(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(_STREAM)
    assert flareiac(tmp_path, "plan", "-out=p.json").code == 0, "a plan alone needs nothing"
    done = flareiac(tmp_path, "apply", "p.json")
    assert done.code == 1, done.text
    assert "FIK90" in done.err, done.text
    assert not (tmp_path / ".flareiac" / "lake").exists()


_COMPACTION = "compaction {\n    min_input_files = 2\n    run_if = { small_files_over = 2 }\n  }\n"
_MAINTAINED = _LAKE.replace('type = "long" }\n', f'type = "long" }}\n  {_COMPACTION}')


@pytest.mark.parametrize("words", [("maintain",), ("apply",)], ids=" ".join)
def test_what_keeps_maintenance_from_starting_is_said_before_anything_is_changed(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    main = tmp_path / "main.flare.hcl"
    main.write_text(_MAINTAINED)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    _append(tmp_path, files=4)
    if words[0] != "maintain":
        main.write_text(_MAINTAINED.replace('namespace = "n"', 'namespace = "n"\n  comment = "new"'))
    done = flareiac(tmp_path, *words, "-auto-approve")
    assert done.code == 1, done.text
    assert "FIK90" in done.err, done.text
    assert "with table.a" in done.err, done.text
    assert done.out == "", "neither a plan nor a change"


def _append(root: Path, *, files: int) -> None:
    from pyarrow import Table
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{root}/lake/catalog.db", warehouse=f"file://{root}/lake/warehouse"
    )
    for number in range(files):
        catalog.load_table("n.a").append(Table.from_pydict({"id": [number]}))
    catalog.engine.dispose()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_prompt_leaves_at_once(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "main.flare.hcl").write_text(_THING)
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            arguments("apply"),
            cwd=tmp_path,
            env=environment(),
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as asking:
            assert asking.stderr is not None
            seen = b""
            while b"accepted: " not in seen:
                seen += os.read(asking.stderr.fileno(), 4096)
            time.sleep(0.2)
            asking.send_signal(number)
            rest = asking.stderr.read().decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert asking.returncode == 8, rest
    assert "Cancelled. Nothing was done." in rest
    assert not (tmp_path / ".toy").exists()
    assert flareiac(tmp_path, "lock", "status").code == 0


def test_an_emergency_file_without_a_record_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(_THING)
    (tmp_path / ".flareiac").mkdir()
    empty, cut = (tmp_path / ".flareiac" / f"emergency-{name}.journal" for name in ("1", "2"))
    empty.write_bytes(b"")
    cut.write_bytes(b"0123456789abcdef {")
    refused = flareiac(tmp_path, "state", "recover", ".flareiac/emergency-1.journal")
    assert "nothing to recover. Delete it." in " ".join(refused.err.replace("│", " ").split())
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 0, done.text
    assert not empty.exists()
    assert not cut.exists()
