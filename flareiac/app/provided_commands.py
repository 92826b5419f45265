"""The commands that installed providers declare. Imports the declarations alone, no provider."""

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.commands import Commands


def provided_commands() -> Commands:
    """Returns the commands of all providers, by their first word. Raises ``Failure`` where two providers
    offer the same word.
    """
    provider_of: dict[str, str] = {}
    commands = {}
    for provider, declared in _declarations():
        for word, command in declared.items():
            if word in provider_of:
                why = (
                    f"The command {word!r} is offered by {provider_of[word]} and by {provider}. "
                    "Uninstall one of the packages that bring it."
                )
                raise Failure(error(codes.NAME_OFFERED_TWICE, why))
            provider_of[word], commands[word] = provider, command
    return commands


def _declarations() -> Iterator[tuple[str, Commands]]:
    for entry in sorted(entry_points(group="flareiac.providers"), key=lambda entry: entry.name):
        package, module = find_spec(entry.module), f"{entry.module}.commands"
        if package is not None and package.submodule_search_locations is not None and find_spec(module):
            yield entry.name, import_module(module).COMMANDS
