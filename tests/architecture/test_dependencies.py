"""Every import is declared, extra by extra, for the program and for the scripts of each example, and every
declared distribution is used.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement

from flareiac.sdk.optional_packages import EXTRAS as OPTIONAL
from tests.examples.depends import extras_of, imported, requirements_of, scripts_of, with_a_story

ROOT: Final = Path(__file__).parents[2]
OWN: Final = {
    "flareiac",
    "flareiac_aws",
    "flareiac_iceberg",
    "flareiac_iceberg_runtime",
    "flareiac_kafka",
    "flareiac_consumers",
    "flareiac_secrets",
    "flareiac_spark",
    "flareiac_spark_runtime",
    "flareiac_state",
}
READ_AS_A_FILE: Final = {"python-hcl2"}
"""The grammar is read from this package; nothing of it is imported."""
BROUGHT_BY_SPARK: Final = {"py4j"}
"""The bridge to the JVM is of one version with the Spark that it comes with."""
PYPROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: Final = PYPROJECT["project"]["optional-dependencies"]
BASE: Final = tuple(map(Requirement, PYPROJECT["project"]["dependencies"]))


def with_extras(*extras: str) -> tuple[Requirement, ...]:
    """The requirements that are installed with FlareIaC and these extras."""
    return (*BASE, *(Requirement(line) for extra in extras for line in EXTRAS[extra]))


SPARK: Final = with_extras("spark")
ALL: Final = with_extras("aws", "kafka", "postgres", "spark")
PROGRAM: Final = tuple(
    path for top in ("flareiac", "providers", "state") for path in sorted((ROOT / top).rglob("*.py"))
)

# Imports each module of standard input, with the names that are taken from it, and prints why it cannot. The
# first line lists the modules that are not there where only what is declared is installed.
_IMPORTING: Final = """
import importlib, sys

hidden = frozenset(sys.stdin.readline().split())

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hiding())
for line in sys.stdin:
    module, *names = line.split()
    try:
        loaded = importlib.import_module(module)
        for name in names:
            hasattr(loaded, name) or importlib.import_module(f"{module}.{name}")
    except ImportError as error:
        print(f"{module}: {error}")
"""


def _declared() -> set[str]:
    return {_normal(requirement.name) for requirement in ALL}


def _imported() -> set[str]:
    """The distributions whose modules the program imports."""
    modules = {module.split(".")[0] for path in PROGRAM for module, _ in imported(path)}
    known = packages_distributions()
    return {
        _normal(name)
        for module in modules - OWN - set(sys.stdlib_module_names)
        for name in known.get(module, [module])[:1]
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _brought_by(requirements: Iterable[Requirement]) -> set[str]:
    """The distributions that are there after these were installed."""
    todo = [(requirement.name, extra) for requirement in requirements for extra in {"", *requirement.extras}]
    seen: set[tuple[str, str]] = set()
    while todo:
        name, extra = todo.pop()
        if (_normal(name), extra) in seen:
            continue
        seen.add((_normal(name), extra))
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                todo += [(needed.name, each) for each in {"", *needed.extras} if _is_here(needed.name)]
    return {name for name, _ in seen}


def _is_here(name: str) -> bool:
    """Returns True where it is installed: a backport for another Python is not."""
    return name.lower() in _HERE or _normal(name) in _HERE


_HERE: Final = {_normal(name) for names in packages_distributions().values() for name in names}


def cannot_import(files: Iterable[Path], requirements: Iterable[Requirement]) -> list[str]:
    """The imports of the files that fail for those who installed these requirements alone."""
    wanted = {
        " ".join((module, *names))
        for path in files
        for module, names in imported(path)
        if module.split(".")[0] not in {*OWN, *sys.stdlib_module_names, "__future__", "tests", "examples"}
    }
    return cannot_import_lines(wanted, requirements)


def cannot_import_lines(wanted: Iterable[str], requirements: Iterable[Requirement]) -> list[str]:
    """As ``cannot_import``, of lines "MODULE NAME NAME"."""
    brought = _brought_by(requirements)
    hidden = {
        module
        for module, names in packages_distributions().items()
        if not brought & {_normal(name) for name in names} and module not in OWN
    }
    text = "\n".join([" ".join(sorted(hidden)), *sorted(wanted)])
    command = [sys.executable, "-W", "ignore", "-c", _IMPORTING]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd="/")
    return done.stdout.splitlines()


def _extras_for(path: Path) -> frozenset[str]:
    """The extras that have the optional packages which a file imports by itself."""
    modules = {module.split(".")[0] for module, _ in imported(path)} - {"py4j"}
    return frozenset(OPTIONAL[module][1] for module in modules & set(OPTIONAL))


def test_what_is_imported_is_declared() -> None:
    assert _imported() - _declared() - BROUGHT_BY_SPARK == set()


def test_what_is_declared_is_used() -> None:
    assert _declared() - _imported() - READ_AS_A_FILE == set()


def test_every_optional_package_is_in_its_extra_alone() -> None:
    """The sentence about a missing package names the extra that has it."""
    extras = {extra: {_normal(each.name): each for each in with_extras(extra)} for extra in EXTRAS}
    for distribution_name, extra in OPTIONAL.values():
        if distribution_name != "pyarrow":
            having = {name for name, lines in extras.items() if _normal(distribution_name) in lines}
            assert having - {"dev"} == {extra}, distribution_name
    assert "pyarrow" in {name for each in with_extras("aws") for name in each.extras}
    assert EXTRAS["all"] == [f"flareiac[{','.join(sorted({extra for _, extra in OPTIONAL.values()}))}]"]


def test_the_program_imports_what_comes_with_it_and_with_the_extras_that_its_modules_name() -> None:
    """A module that imports no optional package by itself needs no extra."""
    by_extras: dict[frozenset[str], set[Path]] = {}
    for path in PROGRAM:
        by_extras.setdefault(_extras_for(path), set()).add(path)
    assert {extra for extras in by_extras for extra in extras} == {"aws", "kafka", "postgres", "spark"}
    assert sum(len(files) for extras, files in by_extras.items() if extras) < len(PROGRAM) / 10
    for extras, files in by_extras.items():
        needed = (
            with_extras(*extras, "spark")
            if any("py4j" in path.read_text() for path in files)
            else (with_extras(*extras))
        )
        assert cannot_import(files, needed) == [], sorted(extras)


def test_the_scripts_of_an_example_import_what_its_text_installs() -> None:
    """Examples with equal packages share an interpreter: each one imports Spark and Iceberg again."""
    alike: dict[tuple[Requirement, ...], set[Path]] = {}
    for example in with_a_story():
        installed = (*with_extras(*extras_of(example).split(",")), *requirements_of(example))
        alike.setdefault(installed, set()).update(scripts_of(example))
    assert len(alike) >= 4
    assert {needed: cannot_import(files, needed) for needed, files in alike.items()} == {
        needed: [] for needed in alike
    }


@pytest.mark.parametrize("example", with_a_story())
def test_an_example_installs_what_the_tests_are_checked_with(example: str) -> None:
    """Their versions are those of ``dev``."""
    of_tests = {_normal(each.name): each.specifier for each in map(Requirement, EXTRAS["dev"])}
    for requirement in requirements_of(example):
        assert requirement.specifier == of_tests[_normal(requirement.name)], requirement


def test_a_module_that_needs_what_only_developers_have_is_seen() -> None:
    """It is there, and the distribution that it is of is declared; what it imports itself is not."""
    (why,) = cannot_import_lines(["pyiceberg.catalog.sql SqlCatalog", "pyiceberg.catalog Catalog"], SPARK)
    assert why == "pyiceberg.catalog.sql: No module named 'sqlalchemy'"
    assert cannot_import_lines(["pyspark.sql SparkSession"], BASE) == [
        "pyspark.sql: No module named 'pyspark'"
    ]
