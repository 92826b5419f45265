"""Finds the installed providers and state backends by their entry points. Touches the installed packages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from flareiac.config.registry import Registry
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.plug_ins import plug_in
from flareiac.sdk.provider import Function, Provider
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.state import StateBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Providers by name, and what they offer together."""

    providers: Mapping[str, Provider]
    registry: Registry


@cache
def installed() -> Installed:
    """All installed providers. Raises ``Failure`` when two offer the same block type or function."""
    providers: dict[str, Provider] = {}
    types: dict[str, ResourceType] = {}
    provider_of: dict[str, str] = {}
    functions: dict[str, Function] = {}
    for entry in sorted(entry_points(group="flareiac.providers"), key=lambda item: item.name):
        provider: Provider = entry.load()()
        providers[provider.name] = provider
        for kind in provider.resource_types():
            _once(kind.name, types, provider.name)
            types[kind.name], provider_of[kind.name] = kind, provider.name
        for function in provider.functions():
            _once(function.name, functions, provider.name)
            functions[function.name] = function
    registry = Registry(types=types, provider_of=provider_of, functions=tuple(functions.values()))
    return Installed(providers=providers, registry=registry)


def _once(name: str, known: Mapping[str, object], provider: str) -> None:
    if name in known:
        raise Failure(
            error(
                codes.NAME_OFFERED_TWICE,
                f"{name!r} is offered twice, the second time by {provider}. Uninstall one of the packages "
                "that bring them.",
            )
        )


def state_backend(name: str) -> StateBackend:
    """An installed state backend. Raises ``Failure`` when there is none of that name, or more than one."""
    found = plug_in("flareiac.state_backends", name)
    if found is not None:
        backend: StateBackend = found()
        return backend
    raise Failure(
        error(
            codes.STATE_BACKEND_NOT_INSTALLED,
            f"No installed package brings the state backend {name!r}. Install the package that does, or "
            "use the local one.",
        )
    )
