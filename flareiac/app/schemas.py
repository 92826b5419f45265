"""The use case of ``schema``: JSON schemas of the language and of what the program prints. Touches the
installed packages.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from flareiac.app.discovery import installed
from flareiac.kernel.data import Json
from flareiac.render.language_schema import TITLE, language_schema

LANGUAGE: Final = "language"
_SUFFIX: Final = ".json"
_FOLDER: Final = files("flareiac").joinpath("docs", "formats", "printed")


def schema_titles() -> Mapping[str, str]:
    """The subject of each schema, by its name; the language comes first."""
    printed = sorted(file.name.removesuffix(_SUFFIX) for file in _FOLDER.iterdir())
    titles = {name: str(_printed(name)["title"]) for name in printed if name != LANGUAGE}
    return {LANGUAGE: TITLE, **titles}


def schema(name: str) -> Mapping[str, Json] | None:
    """The schema of that name, None where there is none. That of the language has the blocks of all installed
    providers.
    """
    if name == LANGUAGE:
        return language_schema(installed().registry)
    return _printed(name) if name in schema_titles() else None


def _printed(name: str) -> dict[str, Json]:
    document: dict[str, Json] = json.loads(_FOLDER.joinpath(f"{name}{_SUFFIX}").read_text(encoding="utf-8"))
    return document
