"""Finds the installed providers by their entry points, beside the one of the core. Touches the installed
packages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from importlib.metadata import entry_points

from flareiac.app.other_states.states_provider import StatesProvider
from flareiac.app.state_place.backends import BACKEND_KINDS
from flareiac.config.registry import Registry
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.provider import Function, Offered, Provider
from flareiac.sdk.resource_type import ResourceType


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
    offered: dict[str, Offered] = {}
    provider_of: dict[str, str] = {}
    functions: dict[str, Function] = {}
    versions: dict[str, str] = {}
    loaded: list[Provider] = [StatesProvider()]
    for entry in sorted(entry_points(group="flareiac.providers"), key=lambda entry: entry.name):
        loaded.append(entry.load()())
        if entry.dist is not None and entry.dist.name != "flareiac":
            versions[entry.dist.name] = entry.dist.version
    for provider in loaded:
        providers[provider.name] = provider
        for name, resource_type in provider.resource_types().items():
            _once(name, offered, provider.name)
            offered[name], provider_of[name] = resource_type, provider.name
        for function in provider.functions():
            _once(function.name, functions, provider.name)
            functions[function.name] = function
    registry = Registry(
        offered=offered,
        provider_of=provider_of,
        functions=tuple(functions.values()),
        backends=BACKEND_KINDS,
    )
    return Installed(providers=providers, registry=registry, versions=versions)


class InstalledTypes(Mapping[str, ResourceType]):
    """The installed resource types by name. Providers are imported when the first type is asked for, so that
    commands on an empty state do without them.
    """

    def __getitem__(self, name: str) -> ResourceType:
        return installed().registry.types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(installed().registry.types)

    def __len__(self) -> int:
        return len(installed().registry.types)


def _once(name: str, known: Mapping[str, object], provider: str) -> None:
    if name in known:
        raise Failure(
            error(
                codes.NAME_OFFERED_TWICE,
                f"{name!r} is offered twice, the second time by {provider}. Uninstall one of the packages "
                "that bring them.",
            )
        )
