"""A disk that fills up: before the first change nothing is done; in the middle what was done is known and
nothing is done twice.
"""

import resource
import subprocess
from pathlib import Path

from tests.support.command_line import Ended, arguments, environment, flareiac

LARGE = "x" * 200_000
PROJECT = f"""
thing "a" {{ value = "{LARGE}" }}
thing "b" {{
  value = "{LARGE}"
  needs = [thing.a]
}}
thing "c" {{
  value = "1"
  needs = [thing.b]
}}
"""


def apply_with_room(root: Path, most: int) -> Ended:
    """Applies while no file may grow beyond ``most`` bytes: the journal is what grows."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        arguments("apply", "-auto-approve", "-detail=summary"),
        cwd=root,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=limit,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


def writes(root: Path) -> int:
    log = root / ".toy" / "writes.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_full_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    full = apply_with_room(tmp_path, 100_000)
    assert full.code == 1, full.text
    assert "FIS005" in full.err
    assert writes(tmp_path) == 0
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0


def test_full_in_the_middle(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    full = apply_with_room(tmp_path, 700_000)
    assert full.code == 7, full.text
    assert "The state cannot be written [FIS005]" in full.err
    assert "thing.c" in full.out
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a"]
    planned = flareiac(tmp_path, "plan", "-detail=summary")
    assert planned.code == 0
    assert "FIP003" in planned.err
    again = flareiac(tmp_path, "apply", "-auto-approve", "-detail=summary")
    assert again.code == 0, again.text
    assert writes(tmp_path) == 3
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0
