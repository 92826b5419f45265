"""The files of an example: its own, and those of the tree that they import or start."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"
SETUP: Final = ROOT / "tests" / "setup"
_PACKAGES: Final = ("", "providers", "state")
_STORY: Final = SETUP / "story.sh"
_EXTRAS: Final = re.compile(r"^extras=(.+)$", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^(\w+)\(\) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_STARTED: Final = re.compile(r'\$repository/([\w./-]+\.py)"')


def with_a_story() -> tuple[str, ...]:
    """The examples that have a ``run.sh``."""
    return tuple(sorted(path.parent.name for path in EXAMPLES.glob("*/run.sh")))


@cache
def files_of(example: str) -> frozenset[Path]:
    """All files of which a change may change the story, without the program that it shows.

    A module of the program that a script imports by itself is one of them; what that imports is not.
    """
    found = {path for path in (EXAMPLES / example).rglob("*") if path.is_file() and not _is_made(path)}
    found |= {*SETUP.glob("*.sh"), *_tests_of(example)}
    todo = [path for path in found if path.suffix == ".py"] + _started(example)
    while todo:
        path = todo.pop()
        found.add(path)
        if path.is_relative_to(EXAMPLES) or path.is_relative_to(ROOT / "tests" / "support"):
            todo += [file for file in _files_imported(path) if file not in found]
    return frozenset(found)


def scripts_of(example: str) -> frozenset[Path]:
    """The Python files of the tree that run in the environment of the story."""
    beside = (EXAMPLES, ROOT / "tests" / "support")
    return frozenset(
        path for path in files_of(example) if path.suffix == ".py" and any(map(path.is_relative_to, beside))
    )


def requirements_of(example: str) -> list[Requirement]:
    """The packages that ``run.sh`` installs beside FlareIaC with ``extras_of``."""
    path = EXAMPLES / example / "requirements.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def extras_of(example: str) -> str:
    """The extras of FlareIaC that ``run.sh`` installs, separated by commas."""
    named = _EXTRAS.search((EXAMPLES / example / "run.sh").read_text(encoding="utf-8"))
    return named[1] if named else "spark"


def imported(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules that a file imports anywhere but for a type checker, each with the names taken from it."""
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                todo += node.orelse
                continue
            case ast.Import():
                yield from ((alias.name, ()) for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module, tuple(alias.name for alias in node.names)
            case _:
                pass
        todo += ast.iter_child_nodes(node)


def _is_made(path: Path) -> bool:
    """Returns True where a story or an interpreter made it."""
    return not {"work", "__pycache__"}.isdisjoint(path.relative_to(EXAMPLES).parts)


def _tests_of(example: str) -> Iterator[Path]:
    for path in [*ROOT.glob("tests/examples/*.py"), *ROOT.glob("tests/quickstart/*.py")]:
        if re.search(rf'(played|example)\("{example}"', path.read_text(encoding="utf-8")):
            yield path


def _started(example: str) -> list[Path]:
    """The scripts of other examples that ``run.sh`` starts, by itself or by what story.sh offers."""
    text = (EXAMPLES / example / "run.sh").read_text(encoding="utf-8")
    functions = _FUNCTION.findall(_STORY.read_text(encoding="utf-8"))
    used = [body for name, body in functions if re.search(rf"^{name}\b", text, re.MULTILINE)]
    return [ROOT / name for part in (text, *used) for name in _STARTED.findall(part)]


def _files_imported(path: Path) -> Iterator[Path]:
    for module, names in imported(path):
        for name in (module, *(f"{module}.{name}" for name in names)):
            for package in _PACKAGES:
                file = ROOT / package / f"{name.replace('.', '/')}.py"
                if file.is_file():
                    yield file
