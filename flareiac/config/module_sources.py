"""The places of modules: from the ``source`` of a ``module`` block to a directory. Pure."""

import posixpath
from pathlib import Path
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.lang.syntax import AttributeNode, literal_text

_LOCAL: Final = ("./", "../")


class ModuleSources:
    """The places of the modules of one project."""

    def __init__(self, root: Path, diagnostics: Diagnostics) -> None:
        self._root, self._diagnostics = root, diagnostics

    def directory(self, source: AttributeNode, caller: str) -> str | None:
        """The directory, relative to the root module, that a module in ``caller`` means; None after
        complaining.
        """
        text = literal_text(source.expr)
        if text is None:
            why = (
                "source must be a text without interpolation: modules are read before any value is known. "
                'Write it out: source = "./modules/sales".'
            )
        elif text.startswith(_LOCAL) or text in (".", ".."):
            return posixpath.join(caller, text)
        else:
            why = _refusal(text)
        self._diagnostics.error(codes.INVALID_MODULE_SOURCE, why, subject=source.expr.span)
        return None


def _refusal(text: str) -> str:
    if text.startswith("/"):
        return (
            f'"{text}" is an absolute path, which other machines do not have. Write a path from here: ../...'
        )
    return f'"{text}" is no source of a module. A path begins with ./ or ../: source = "./{text}".'
