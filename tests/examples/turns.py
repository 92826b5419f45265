"""The examples that a test run plays: the quickstart always, one of the others in turns by the commit count,
and each whose files, imports or dependencies differ from the first parent of HEAD. ``--slow`` plays all.

Without a history nothing says what has changed. Then the short ones are played, and one of the others.

    python -m tests.examples.turns      # says what a run plays, and why
"""

import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.examples.depends import ROOT, files_of, with_a_story

SHORT: Final = ("import-lake", "partition-evolution", "write-audit-publish")
"""Under a minute each."""
IN_TURNS: Final = tuple(name for name in with_a_story() if name != "quickstart")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """``played`` has the reason for each example that this run plays."""

    played: Mapping[str, str]
    note: str

    def __str__(self) -> str:
        return f"{self.note}: " + ", ".join(f"{name} ({why})" for name, why in self.played.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """``commits`` is how many there are up to HEAD, if all are here. ``changed`` are the paths that differ
    from HEAD's first parent, in the working tree too; None where that parent is not here.
    """

    head: str
    commits: int | None
    changed: frozenset[str] | None
    dependencies_changed: bool = False


@cache
def turns() -> Turns:
    """The examples that this run plays."""
    return decided(_history())


def is_turn(test: Path, turn: int, of: int) -> bool:
    """Returns True where a test that takes turns with others runs now: number ``turn`` of ``of`` with each
    of-th commit, and all of them where their file differs from HEAD's first parent.
    """
    found = _history()
    if found is None:
        return turn == 0
    number = found.commits if found.commits is not None else int(found.head, 16)
    return number % of == turn or str(test.relative_to(ROOT)) in (found.changed or ())


@cache
def _history() -> History | None:
    return history(ROOT)


def decided(found: History | None) -> Turns:
    """The examples that are played with a history; None stands for a tree that is no repository."""
    if found is None:
        text = b"".join(sorted(path.read_bytes() for name in IN_TURNS for path in files_of(name)))
        return _undecided(
            sha256(text).hexdigest(), "examples (no git history is here, so not those that changed)"
        )
    if found.changed is None and found.commits is None:
        return _undecided(found.head, "examples (HEAD's parent is not here, so not those that changed)")
    if found.changed is None or found.dependencies_changed:
        why = "there is no commit before this one" if found.changed is None else "dependencies differ"
        return Turns(played=dict.fromkeys(IN_TURNS, why), note="examples")
    number = found.commits if found.commits is not None else int(found.head, 16)
    played = {IN_TURNS[number % len(IN_TURNS)]: "its turn"}
    for name in IN_TURNS:
        differ = sorted({str(path.relative_to(ROOT)) for path in files_of(name)} & found.changed)
        gone = sorted(path for path in found.changed if path.startswith(f"examples/{name}/"))
        if first := [*differ, *gone][:1]:
            played[name] = f"{first[0]} differs"
    return Turns(played=played, note="examples")


def _undecided(digest: str, note: str) -> Turns:
    rest = [name for name in IN_TURNS if name not in SHORT]
    return Turns(
        played={**dict.fromkeys(SHORT, "short"), rest[int(digest, 16) % len(rest)]: "its turn"}, note=note
    )


def history(root: Path) -> History | None:
    """The git history of the working tree; None where it is no repository, or git is not installed."""
    head = _git(root, "rev-parse", "--verify", "HEAD")
    if head is None or Path(_git(root, "rev-parse", "--show-toplevel") or "/").resolve() != root.resolve():
        return None
    shallow = _git(root, "rev-parse", "--is-shallow-repository") != "false"
    commits = None if shallow else int(_git(root, "rev-list", "--count", "HEAD") or 0)
    differ = _git(root, "diff", "--name-only", "--no-renames", "-z", "HEAD^", "--")
    if differ is None:
        return History(head=head, commits=commits, changed=None)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z") or ""
    changed = frozenset(f"{differ}\0{new}".split("\0")) - {""}
    before = _dependencies(_git(root, "show", "HEAD^:pyproject.toml") or "")
    now = _dependencies((root / "pyproject.toml").read_text(encoding="utf-8"))
    return History(
        head=head,
        commits=commits,
        changed=changed,
        dependencies_changed=before != now or "tests/constraints.txt" in changed,
    )


def _dependencies(pyproject: str) -> object:
    """The settings that decide what is installed with the wheel, and what is in it."""
    content = tomllib.loads(pyproject)
    project = content.get("project", {})
    return (
        project.get("dependencies"),
        {name: lines for name, lines in project.get("optional-dependencies", {}).items() if name != "dev"},
        project.get("requires-python"),
        content.get("build-system"),
        content.get("tool", {}).get("hatch"),
    )


def _git(root: Path, *words: str) -> str | None:
    """The output of git; None if it fails."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip("\n") if done.returncode == 0 else None


if __name__ == "__main__":
    print(turns())
