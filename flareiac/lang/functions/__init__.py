"""The functions of the language, by group, and those that providers add.

All are pure but for reading files inside the module's root. They raise ``FunctionError`` for arguments that can not be used.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from flareiac.lang.functions import collections_of, encoding, hashing, marks, numeric, selection, sets, text, types_of
from flareiac.lang.functions.files import file_functions
from flareiac.lang.functions.provided import adapt
from flareiac.lang.functions.signature import Builtin
from flareiac.sdk.provider import Function

_GROUPS = (numeric, text, collections_of, selection, sets, encoding, hashing, types_of, marks)


def functions(root: Path, provided: Iterable[Function] = ()) -> Mapping[str, Builtin]:
    """Every function by name. ``root`` is the module's directory, which file functions never leave."""
    listed = [item for group in _GROUPS for item in group.FUNCTIONS]
    listed.extend(file_functions(root))
    listed.extend(adapt(item) for item in provided)
    return {item.name: item for item in listed}
