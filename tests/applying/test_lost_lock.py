"""The state lock is lost in the middle: nothing more is started, and that is a failure and not a
cancelling.
"""

import subprocess
import time
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac

PROJECT = """
thing "a" { value = "1" }
thing "b" {
  value    = "2"
  wait_for = "go"
  needs    = [thing.a]
}
thing "c" {
  value = "3"
  needs = [thing.b]
}
"""


@pytest.mark.parametrize(("needs", "code"), [("[thing.a]", 7), ("[]", 1)], ids=["after one", "before any"])
def test_a_lock_that_is_lost_ends_an_apply(tmp_path: Path, needs: str, code: int) -> None:
    text = (
        PROJECT
        if needs == "[thing.a]"
        else PROJECT.replace('thing "a" { value = "1" }\n', "").replace("needs    = [thing.a]", "")
    )
    (tmp_path / "main.flare.hcl").write_text(text)
    with (tmp_path / "log").open("w") as log:
        words = arguments("apply", "-auto-approve")
        with subprocess.Popen(
            words, cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ) as process:
            try:
                deadline = time.monotonic() + 60
                while "thing.b: Creating" not in (tmp_path / "log").read_text():
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
                lock = next(path for path in (tmp_path / ".flareiac").rglob("*lock*.json"))
                lock.write_text("overwritten")
                (tmp_path / "go").touch()
                assert process.wait(timeout=60) == code, (tmp_path / "log").read_text()
            finally:
                process.kill()
    said = (tmp_path / "log").read_text()
    assert "FIA010" in said
    assert "Traceback" not in said
    assert "thing.c: Creating" not in said
    lock.unlink()
    again = flareiac(tmp_path, "apply", "-auto-approve")
    assert again.code == 0, again.text
