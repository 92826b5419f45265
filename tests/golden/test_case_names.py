"""The names of golden cases: each is in the folder of its subject, and those that tests name exist."""

import re
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from tests.golden.case import CASES, name_of

_NAMED: Final = re.compile(r"[Gg]olden cases? `*([a-z_]+/[a-z_0-9*]+)")
_NAMES: Final = [name_of(path) for path in CASES]


def test_a_name_is_a_folder_and_what_the_folder_does_not_say() -> None:
    parts = [name.split("/") for name in _NAMES]
    assert [name for name in parts if len(name) != 2 or name[1].startswith(f"{name[0]}_")] == []


def test_cases_that_are_named_exist() -> None:
    """Also those in comments and tables of exceptions, which no test reads."""
    named = defaultdict(list)
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        for name in _NAMED.findall(path.read_text(encoding="utf-8")):
            named[name].append(path.name)
    assert named, "no test names a case any more"
    assert {name: where for name, where in named.items() if not any(fnmatch(x, name) for x in _NAMES)} == {}
