"""The conditions of a block's ``run_if``. Pure."""

from collections.abc import Callable

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac_iceberg import codes


def conditions(
    name: str, declared: Data, diagnostics: Diagnostics, **forms: Callable[[str], object]
) -> Attributes:
    """The conditions that are written, read by ``forms``; empty where the default counts."""
    if not isinstance(declared, dict):
        return {}
    given = {key: value for key, value in declared.items() if value is not None}
    if not given:
        why = f"{name}.run_if is empty. Give it a condition, or leave it out for the default."
        diagnostics.error(codes.EMPTY_CONDITIONS, why, attribute=(name, "run_if"))
    return {key: forms[key](value) if key in forms else value for key, value in given.items()}
