"""The parts that both systems have: a repository, checkouts, artefacts, and a shell for the steps. Touches
files.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

BIN: Final = Path(__file__).parent / "bin"
_GIT: Final = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
_OF_THE_CALLER: Final = ("AWS_", "CI_", "FLAREIAC_VAR_", "GH_", "GITHUB_", "GITLAB_", "LAKE_", "PG")


class Refused(Exception):
    """A request that a CI system would not accept, or that this one does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """``store`` holds the repository ``origin.git``, the artefacts of runs, and notes."""

    store: Path

    @property
    def origin(self) -> Path:
        return self.store / "origin.git"

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """The output of git; in the repository itself, if no folder is given."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder or self.origin,
            env={**os.environ, **_GIT},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Refused(f"git {' '.join(arguments)}: {done.stderr}")
        return done.stdout.strip()

    def note(self, name: str) -> list[dict[str, Any]]:
        """The records of a note."""
        path = self.store / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else []

    def add_to(self, name: str, record: Mapping[str, Any]) -> None:
        """One more record of a note."""
        (self.store / f"{name}.json").write_text(json.dumps([*self.note(name), record]))

    def folder_of(self, label: str) -> Path:
        """A folder that no job had before."""
        parent = self.store / "checkouts"
        parent.mkdir(exist_ok=True)
        return parent / f"{len(list(parent.iterdir())) + 1:02}-{label}"

    def check_out(self, folder: Path, commit: str) -> None:
        """A fresh checkout of one commit."""
        self.git("clone", "-q", "--no-checkout", str(self.origin), str(folder))
        self.git("fetch", "-q", "origin", commit, folder=folder)
        self.git("checkout", "-q", commit, folder=folder)

    def merge(self, head: str, ref: str, message: str, *, squash: bool = False) -> str:
        """Merges a commit into main as it is; ``ref`` then is the result, which is returned."""
        folder = self.folder_of("merge")
        self.git("clone", "-q", "--branch=main", str(self.origin), str(folder))
        self.git("fetch", "-q", "origin", head, folder=folder)
        author = ("-c", "user.name=CI", "-c", "user.email=ci@company.example")
        if squash:
            self.git(*author, "merge", "-q", "--squash", head, folder=folder)
            self.git(*author, "commit", "-q", "--allow-empty", "-m", message, folder=folder)
        else:
            self.git(*author, "merge", "-q", "--no-ff", "-m", message, head, folder=folder)
        self.git("push", "-q", "--force", "origin", f"HEAD:{ref}", folder=folder)
        return self.git("rev-parse", "HEAD", folder=folder)

    def keep(self, run: int, name: str, folder: Path, patterns: Iterable[str]) -> int:
        """Copies files of a checkout into an artefact; returns how many."""
        found = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
        target = self.store / "artifacts" / str(run) / name
        for path in found:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        return len(found)

    def fetch(self, run: int, name: str, folder: Path) -> None:
        """Copies an artefact into a checkout."""
        source = self.store / "artifacts" / str(run) / name
        if not source.is_dir():
            raise Refused(f"there is no artefact {name} of run {run}")
        shutil.copytree(source, folder, dirs_exist_ok=True)

    def shell(self, script: str, options: Iterable[str], folder: Path, variables: Mapping[str, str]) -> int:
        """Runs a script as CI systems do; its exit code."""
        sys.stdout.flush()
        given = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_CALLER)}
        own = {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "AWS_ENDPOINT_URL": os.environ["AWS_ENDPOINT_URL"],
            "AWS_EC2_METADATA_DISABLED": "true",
            "CI": "true",
            "RUNNER_STORE": str(self.store),
        }
        return subprocess.run(
            ["bash", *options, "-c", script],
            cwd=folder,
            env=given | own | dict(variables),
            stdin=subprocess.DEVNULL,
            check=False,
        ).returncode


def check_keys(what: str, found: Mapping[Any, Any], known: Iterable[str]) -> None:
    """Refuses keys that a system would refuse, or that the runner would silently leave out."""
    strange = [str(key) for key in found if key not in set(known)]
    if strange:
        raise Refused(f"{what}: unknown {', '.join(strange)}")


def say(text: str) -> None:
    """A line about what runs."""
    print(text, flush=True)
