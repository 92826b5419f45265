"""The functions of the language, by group, and those that providers add.

All are pure but for reading files inside the module's root, and for the time. They raise ``FunctionError``
for arguments that cannot be used.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from flareiac.lang.functions import (
    collections_of,
    encoding,
    hashing,
    marks,
    networks,
    numeric,
    selection,
    sets,
    templates,
    text,
    times,
    types_of,
)
from flareiac.lang.functions.files import file_functions
from flareiac.lang.functions.moments import functions_of_moments
from flareiac.lang.functions.provided import adapt
from flareiac.lang.functions.signature import Builtin
from flareiac.sdk.provider import Function

_GROUPS = {
    "Numbers": numeric.FUNCTIONS,
    "Text": text.FUNCTIONS,
    "Collections": collections_of.FUNCTIONS,
    "Selection": selection.FUNCTIONS,
    "Sets": sets.FUNCTIONS,
    "Encoding": encoding.FUNCTIONS,
    "Templates": templates.FUNCTIONS,
    "Hashes": hashing.FUNCTIONS,
    "Times": times.FUNCTIONS,
    "Networks": networks.FUNCTIONS,
    "Types and units": types_of.FUNCTIONS,
    "Sensitive values": marks.FUNCTIONS,
}


def by_group(root: Path, module: str = ".", began: datetime | None = None) -> Mapping[str, Sequence[Builtin]]:
    """The functions of the language by the title of their group. ``root`` is the directory of the root
    module, ``module`` that of the calling one, relative to it: file functions never leave these two.
    ``began``: the time at which the plan began (None: now).
    """
    return {**_GROUPS, "Files": file_functions(root, module), "Moments": functions_of_moments(began)}


def functions(
    root: Path, provided: Iterable[Function] = (), module: str = ".", began: datetime | None = None
) -> Mapping[str, Builtin]:
    """Every function by name. ``module`` and ``began``: see ``by_group``."""
    groups = by_group(root, module, began)
    listed = [function for group in groups.values() for function in group]
    listed.extend(adapt(function) for function in provided)
    return {function.name: function for function in listed}
