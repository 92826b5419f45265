"""Commands that only read work in a folder that their user cannot write: local state, SQLite catalog, files
of tables. They find what is there, and leave nothing.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.command_line import arguments, environment, flareiac

_LAKE: Final = """
catalog "lake" {}
namespace "n" {}
table "a" {
  namespace = "n"
  column "id" { type = "long" }
  properties = { "write.x" = "VALUE" }
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """An applied project."""
    (tmp_path / "main.flare.hcl").write_text(_LAKE.replace("VALUE", "1"))
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 0, done.text
    yield tmp_path
    for path in [tmp_path, *tmp_path.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)


def take_away(root: Path) -> None:
    """Lets everyone read and no one write."""
    for path in sorted(root.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    root.chmod(0o555)


def content(root: Path) -> dict[str, tuple[int, str]]:
    """The mode and digest of all that a folder holds, by path."""
    return {
        str(path.relative_to(root)): (
            path.stat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(root.rglob("*"))
    }


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command as a user to whom the modes of files apply, without a home. The superuser gives up the
    capabilities that let it pass them by.
    """
    powers = "-dac_override,-dac_read_search,-fowner"
    restrained = ["setpriv", "--bounding-set", powers, "--inh-caps", powers, "--"]
    return subprocess.run(
        [*(restrained if os.geteuid() == 0 else []), *arguments(*words)],
        cwd=root,
        env=environment(HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


@pytest.fixture(autouse=True)
def _restrained() -> None:
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("the superuser needs setpriv of util-linux to give up its capabilities")


def test_the_user_of_these_tests_cannot_write(root: Path) -> None:
    take_away(root)
    assert run(root, "apply", "-auto-approve").returncode not in (0, 3)
    (root / "main.flare.hcl").chmod(0o644)
    (root / "main.flare.hcl").write_text(_LAKE.replace("VALUE", "2"))
    take_away(root)
    before = content(root)
    refused = run(root, "apply", "-auto-approve")
    assert refused.returncode == 1, refused.stderr
    assert "Traceback" not in refused.stderr
    assert content(root) == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("plan", "-detailed-exitcode"), 2),
        (("plan", "-refresh=full"), 0),
        (("drift",), 3),
        (("drift", "-format=json"), 3),
        (("drift", "-format=markdown"), 3),
        (("drift", "-remediate"), 3),
        (("status",), 0),
        (("show",), 0),
        (("state", "pull"), 0),
        (("validate",), 0),
    ],
)
def test_what_reads_works_and_writes_nothing(root: Path, words: tuple[str, ...], code: int) -> None:
    _change(root)
    take_away(root)
    before = content(root)
    done = run(root, *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert content(root) == before


def test_no_drift_is_found_where_nothing_drifted(root: Path) -> None:
    take_away(root)
    before = content(root)
    done = run(root, "drift")
    assert (done.returncode, content(root) == before) == (0, True), done.stdout + done.stderr


def test_adopt_in_a_read_only_folder_writes_nothing(root: Path) -> None:
    _change(root)
    take_away(root)
    before = content(root)
    done = run(root, "adopt", "table.a", "-auto-approve")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "cannot be written" in done.stderr
    assert content(root) == before


def _change(root: Path) -> None:
    """Another program changes a property of the table."""
    from pyiceberg.catalog import load_catalog

    (database,) = root.rglob("*.db")
    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{database}")
    try:
        with catalog.load_table("n.a").transaction() as transaction:
            transaction.set_properties({"write.x": "10"})
    finally:
        catalog.close()
