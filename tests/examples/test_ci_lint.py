"""The CI files by the checkers of others: those that are installed here."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.examples.depends import EXAMPLES

CI: Final = EXAMPLES / "ci"
PROJECT: Final = CI / "project"
UNITS: Final = sorted((CI / "host").glob("flareiac-*.*"))
NEWER: Final = 'unexpected key "queue" for "concurrency" section'
"""GitHub knows it since 2026; actionlint 1.7.12 does not."""


def checked(*words: str | Path, folder: Path = PROJECT) -> str:
    """The output of a checker of the files, which complains about none of them."""
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"{words[0]} is not installed here")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_shell() -> None:
    checked("shellcheck", "-x", "-P", "SCRIPTDIR", *sorted((PROJECT / "ci").glob("*.sh")))


def test_workflows(tmp_path: Path) -> None:
    copied = shutil.copytree(PROJECT, tmp_path / "project")
    subprocess.run(["git", "init", "-q", "."], cwd=copied, check=True)
    checked("actionlint", "-ignore", NEWER, folder=copied)


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("vendor.gitlab-ci", "ci/gitlab-ci.yml"),
        ("vendor.gitlab-ci", ".gitlab-ci.yml"),
        ("vendor.github-workflows", ".github/workflows/*.yml"),
        ("vendor.github-actions", ".github/actions/*/action.yml"),
    ],
)
def test_schemas(schema: str, pattern: str) -> None:
    files = sorted(PROJECT.glob(pattern))
    assert files
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed here")
    checked(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files)


def test_units(tmp_path: Path) -> None:
    """All but the path of the script, which is that of a host."""
    copied = [tmp_path / path.name for path in UNITS]
    for path, copy in zip(UNITS, copied, strict=True):
        copy.write_text(path.read_text(encoding="utf-8").replace("/srv/lake/ci/host.sh", "/bin/true"))
    assert checked("systemd-analyze", "verify", *copied, folder=tmp_path) == ""
    services = [it for it in copied if it.suffix == ".service"]
    assert len(services) == 2
    checked("systemd-analyze", "security", "--offline=true", "--threshold=50", *services, folder=tmp_path)
