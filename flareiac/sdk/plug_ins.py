"""Finds what installed packages declare as entry points. Touches the installed packages."""

from importlib.metadata import entry_points
from typing import Any

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error


def plug_in(group: str, name: str) -> Any | None:
    """Loads what a package offers under a name of a group; None where no installed package does. Raises
    ``Failure`` where two offer different things.
    """
    offered = {entry.value: entry for entry in entry_points(group=group, name=name)}
    if len(offered) > 1:
        places = " and ".join(
            f"{entry.value} of {entry.dist.name if entry.dist else 'an unnamed package'}"
            for _value, entry in sorted(offered.items())
        )
        why = f"{name!r} ({group}) is offered by {places}. Uninstall one of the packages that bring it."
        raise Failure(error(codes.NAME_OFFERED_TWICE, why))
    return next((entry.load() for entry in offered.values()), None)
