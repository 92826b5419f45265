"""Imports by old names of a driver of release 0.1.0, where the package was upgraded while it runs.

That driver has everything in memory but the kinds of sources, which it imports by name when a job reads one
for the first time. They are classes of this release then, on the modules that the driver has loaded already,
so that what they raise and return is what it expects.
"""

import sys
from importlib import import_module
from typing import Any, Final

_OLD, _NEW = "flareiac_spark.", "flareiac_spark_runtime."
_KINDS: Final = "flareiac_spark.sources"


def source_kind(name: str) -> Any:
    """The class of a kind of sources."""
    asking = f"{_KINDS}.{name}.resolved"
    for old, module in list(sys.modules.items()):
        # A package of sources looks for its modules in the old folder, where they are no more
        is_folder = old.startswith(_KINDS) and hasattr(module, "__path__")
        if old.startswith(_OLD) and not is_folder and old != asking:
            sys.modules.setdefault(_NEW + old.removeprefix(_OLD), module)
    return import_module(f"flareiac_spark_runtime.sources.{name}.resolved").KIND
