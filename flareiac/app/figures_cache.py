"""Keeps the last measurements in the user's cache: so that a table without commits since is not measured
again.
"""

import contextlib
from collections.abc import Mapping

from flareiac import __version__
from flareiac.kernel import user_cache
from flareiac.kernel.data import Attributes, read_json, write_json


def known_figures(lineage: str, workspace: str) -> dict[str, Attributes]:
    """By address; empty where nothing is known."""
    with contextlib.suppress(ValueError):
        figures = read_json(user_cache.read_whole(_name(lineage, workspace)) or b"{}")
        if isinstance(figures, dict) and all(isinstance(measured, dict) for measured in figures.values()):
            return figures
    return {}


def remember(lineage: str, workspace: str, figures: Mapping[str, Attributes]) -> None:
    """Keeps them for the next time."""
    user_cache.keep_whole(_name(lineage, workspace), write_json(figures).encode())


def _name(lineage: str, workspace: str) -> str:
    return f"figures-{__version__}-{lineage}-{workspace}.json"  # another version looks at other figures
