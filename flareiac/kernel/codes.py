"""The codes of diagnostics: an id and a title each, once. Pure.

The table of the core stands here; each provider keeps a ``codes`` module of its own. What a code means at length stands in its page.
"""

from types import ModuleType
from typing import NamedTuple


class Code(NamedTuple):
    """One kind of diagnostic. The ``id`` never changes its meaning; the ``title`` is fixed and holds no data of the user."""

    id: str
    title: str


class CodeTable(NamedTuple):
    """The codes that one package uses, and the Markdown files that explain them: ``package`` is where the files are."""

    codes: tuple[Code, ...]
    package: str
    folder: str = ""
    """Empty: the pages are the one file ``codes.md`` of the package. Otherwise: all Markdown files of this folder."""


def code_table(module: ModuleType, *, package: str | None = None, folder: str = "") -> CodeTable:
    """The codes that a module defines as constants. The pages belong to the module's own package unless told otherwise."""
    codes = tuple(value for value in vars(module).values() if isinstance(value, Code))
    return CodeTable(codes, package or module.__name__.rpartition(".")[0], folder)


NO_CODES = CodeTable((), "")
