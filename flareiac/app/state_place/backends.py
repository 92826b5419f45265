"""Finds the installed state backends by their entry points. Touches the installed packages."""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from flareiac.config.backend import BackendKinds
from flareiac.sdk.plug_ins import plug_in
from flareiac.sdk.state import BackendSetting, StateBackend

_BACKENDS: Final = "flareiac.state_backends"


@cache
def state_backend(name: str) -> StateBackend | None:
    """An installed state backend. None when there is none of that name; raises ``Failure`` when there is more
    than one.
    """
    factory = plug_in(_BACKENDS, name)
    if factory is None:
        return None
    backend: StateBackend = factory()
    return backend


def _settings(name: str) -> Sequence[BackendSetting] | None:
    backend = state_backend(name)
    return None if backend is None else backend.settings


def _names() -> Sequence[str]:
    return sorted({entry.name for entry in entry_points(group=_BACKENDS)})


BACKEND_KINDS: Final = BackendKinds(names=_names, settings=_settings)
