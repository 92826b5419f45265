"""What the program imports is declared in pyproject.toml, and what is declared there is used."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
OWN: Final = {
    "flareiac",
    "flareiac_iceberg",
    "flareiac_kafka",
    "flareiac_secrets",
    "flareiac_spark",
    "flareiac_state",
}
READ_AS_A_FILE: Final = {"python-hcl2"}
"""The grammar is read from this package; nothing of it is imported."""
BROUGHT_BY_SPARK: Final = {"py4j"}
"""The bridge to the JVM is of one version with the Spark that it comes with."""


def _imported() -> set[str]:
    """The distributions whose modules the program imports."""
    modules = set()
    for path in (path for top in ("flareiac", "providers", "state") for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                modules.add(node.module.split(".")[0])
    known = packages_distributions()
    return {
        _normal(name)
        for module in modules - OWN - set(sys.stdlib_module_names)
        for name in known.get(module, [module])[:1]
    }


def _declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["spark"]]
    return {_normal(re.split(r"[^A-Za-z0-9_.-]", line)[0]) for line in lines}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_imported_is_declared() -> None:
    assert _imported() - _declared() - BROUGHT_BY_SPARK == set()


def test_what_is_declared_is_used() -> None:
    assert _declared() - _imported() - READ_AS_A_FILE == set()


def test_every_file_names_one_version_of_a_jar() -> None:
    """Providers do not import each other, so that each names the jars that it needs."""
    coordinate = re.compile(r"\b((?:org|com|io)\.[\w.-]+:[\w.-]+):(\d[\w.]*\w)")
    versions: dict[str, dict[str, str]] = {}
    programs = [*(ROOT / "providers").rglob("*.py"), *(ROOT / "tests" / "support").glob("*.py")]
    for file in [*programs, ROOT / "tests" / "run.sh"]:
        for artifact, version in coordinate.findall(file.read_text(encoding="utf-8")):
            versions.setdefault(artifact, {})[version] = str(file.relative_to(ROOT))
    assert len(versions) >= 8, "the pattern finds them"
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}
