"""The tables of versions.md and the file of constraints, made from what is installed: ``python -m
tests.docs.versions`` writes them.
"""

import re
from collections.abc import Iterator
from importlib.metadata import distribution
from typing import Final

from packaging.requirements import Requirement

from flareiac.sdk import versions
from tests.docs.pages import DOCS, ROOT

PAGE: Final = DOCS / "versions.md"
CONSTRAINTS: Final = ROOT / "tests" / "constraints.txt"
_HEAD: Final = """\
# The exact versions that tests/run.sh and the examples install, with which all tests passed.
# To renew them, install without this file, run the tests, and write it: python -m tests.docs.versions
"""
_SECTION: Final = r"(<!-- {name} -->)\n.*?(<!-- end -->)"


def installed_versions(*extras: str) -> dict[str, str]:
    """The version of each distribution that the project needs with these extras, directly or through
    another, by its name.
    """
    found: dict[str, str] = {}
    wanted = [Requirement(f"flareiac[{','.join(extras)}]")]
    while wanted:
        requirement = wanted.pop()
        name = normal(requirement.name)
        known = distribution(name)
        found[name] = known.version
        extras_of_it = requirement.extras or {""}
        for needed in map(Requirement, known.requires or ()):
            marker = needed.marker
            asked_for = any(marker is None or marker.evaluate({"extra": extra}) for extra in extras_of_it)
            if asked_for and (needed.extras or normal(needed.name) not in found):
                wanted.append(needed)
    del found["flareiac"]
    return dict(sorted(found.items()))


def jars() -> list[str]:
    """The coordinates that the table of versions chooses, each once."""
    earlier = "ICEBERG_RELEASES"
    chosen = (name for name in vars(versions) if name.isupper() and not name.startswith("_"))
    values = [getattr(versions, name) for name in chosen if name != earlier]
    texts = {text for value in values for text in ([value] if isinstance(value, str) else value)}
    return sorted(text for text in texts if ":" in text)


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints() -> dict[str, str]:
    """The version of each distribution that ``tests/constraints.txt`` allows, by its normal name."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {normal(name): version for name, version in pairs}


def section(text: str, name: str) -> str:
    """The lines of one table of the page, without its head."""
    match = re.search(_SECTION.format(name=name).replace(".*?", "(.*?)"), text, re.DOTALL)
    assert match is not None, f"the page has no section {name}"
    return match[2]


def _table(versions: dict[str, str]) -> Iterator[str]:
    yield "| distribution | version |\n|---|---|"
    for name, version in versions.items():
        yield f"| {name} | {version} |"


def _write() -> None:
    program = installed_versions("all")
    everything = installed_versions("all", "dev")
    tables = {
        "program": "\n".join(_table(program)),
        "tests": "\n".join(_table({name: everything[name] for name in everything if name not in program})),
        "jars": "\n".join(f"- `{jar}`" for jar in jars()),
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables.items():
        text = re.sub(_SECTION.format(name=name), rf"\1\n{table}\n\2", text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")
    exact = "".join(f"{name}=={version}\n" for name, version in everything.items())
    CONSTRAINTS.write_text(_HEAD + exact, encoding="utf-8")


if __name__ == "__main__":
    _write()
