"""Finds the installed providers and state backends by their entry points. Touches the installed packages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from flareiac.config.backend import BackendKinds
from flareiac.config.registry import Registry
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.plug_ins import plug_in
from flareiac.sdk.provider import Function, Provider
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.state import BackendSetting, StateBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Providers by name, and what they offer together."""

    providers: Mapping[str, Provider]
    registry: Registry
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of the packages that bring providers, beside FlareIaC itself."""


@cache
def installed() -> Installed:
    """All installed providers. Raises ``Failure`` when two offer the same block type or function."""
    providers: dict[str, Provider] = {}
    types: dict[str, ResourceType] = {}
    provider_of: dict[str, str] = {}
    functions: dict[str, Function] = {}
    versions: dict[str, str] = {}
    for entry in sorted(entry_points(group="flareiac.providers"), key=lambda item: item.name):
        provider: Provider = entry.load()()
        providers[provider.name] = provider
        if entry.dist is not None and entry.dist.name != "flareiac":
            versions[entry.dist.name] = entry.dist.version
        for kind in provider.resource_types():
            _once(kind.name, types, provider.name)
            types[kind.name], provider_of[kind.name] = kind, provider.name
        for function in provider.functions():
            _once(function.name, functions, provider.name)
            functions[function.name] = function
    registry = Registry(
        types=types,
        provider_of=provider_of,
        functions=tuple(functions.values()),
        backends=BACKEND_KINDS,
    )
    return Installed(providers=providers, registry=registry, versions=versions)


def _once(name: str, known: Mapping[str, object], provider: str) -> None:
    if name in known:
        raise Failure(
            error(
                codes.NAME_OFFERED_TWICE,
                f"{name!r} is offered twice, the second time by {provider}. Uninstall one of the packages "
                "that bring them.",
            )
        )


_BACKENDS: Final = "flareiac.state_backends"


@cache
def state_backend(name: str) -> StateBackend | None:
    """An installed state backend. None when there is none of that name; raises ``Failure`` when there is more
    than one.
    """
    found = plug_in(_BACKENDS, name)
    if found is None:
        return None
    backend: StateBackend = found()
    return backend


def _settings(name: str) -> Sequence[BackendSetting] | None:
    backend = state_backend(name)
    return None if backend is None else backend.settings


def _names() -> Sequence[str]:
    return sorted({entry.name for entry in entry_points(group=_BACKENDS)})


BACKEND_KINDS: Final = BackendKinds(names=_names, settings=_settings)
