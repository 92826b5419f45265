"""The places of modules: from the ``source`` of a ``module`` block to a directory. Pure."""

import posixpath
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.lang.syntax import AttributeNode, literal_text

_LOCAL: Final = ("./", "../")


def module_directory(source: AttributeNode, caller: str, diagnostics: Diagnostics) -> str | None:
    """The directory, relative to the root module, that a module in ``caller`` means; None after
    complaining.
    """
    text = literal_text(source.expr)
    if text is not None and (text.startswith(_LOCAL) or text in (".", "..")):
        return posixpath.normpath(posixpath.join(caller, text))
    if text is None:
        why = (
            "source must be a text without interpolation: modules are read before any value is known. "
            'Write it out: source = "./modules/sales".'
        )
    elif text.startswith("/"):
        why = f'"{text}" is an absolute path, which other machines do not have. Write one from here: ../...'
    else:
        why = (
            f'"{text}" is no path of a folder, which begins with ./ or ../. Modules are not fetched from '
            "git, a registry or a server: copy the module into this project, or beside it, and name its "
            'folder: source = "./modules/sales".'
        )
    diagnostics.error(codes.INVALID_MODULE_SOURCE, why, subject=source.expr.span)
    return None
