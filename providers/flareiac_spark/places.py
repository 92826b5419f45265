"""Resolves paths of the configuration. Pure: relative paths stay relative to the root module, so that a
project can move.
"""

import os.path
import re
from itertools import takewhile
from pathlib import Path
from typing import Final

from flareiac.kernel.addresses import Address, parse_address
from flareiac.sdk.locations import path_of_uri
from flareiac.sdk.project import Project
from flareiac_spark_runtime.storage import Place, is_object_uri, object_uri, place_at

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/|s3[an]?:", re.IGNORECASE)
_WILD: Final = re.compile(r"[*?\[{]")


def recorded_place(text: str, project: Project) -> str | None:
    """A path or ``file:`` URI as it is recorded: relative to the root where it lies below it, else absolute.
    None for another scheme, and for a file on another host.
    """
    path = _local(text)
    if path is None:
        return None
    root, place = absolute_place("", project), absolute_place(path, project)
    return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)


def recorded_location(text: str, project: Project) -> str | None:
    """The place, which may also be in object storage, as it is recorded. None for a scheme that is not
    supported.
    """
    return object_uri(text) if is_object_uri(text) else recorded_place(text, project)


def place_of(recorded: str, project: Project) -> Place:
    """The place of a recorded location."""
    return place_at(recorded) if is_object_uri(recorded) else absolute_place(recorded, project)


def absolute_place(recorded: str, project: Project) -> Path:
    """The absolute path of a recorded place, which is local."""
    return Path(os.path.normpath(project.root.absolute() / recorded))


def folder_of_pattern(recorded: str, project: Project) -> str:
    """The folder that everything lies in that a path with wildcards means."""
    parts = absolute_place(recorded, project).parts
    plain = list(takewhile(lambda part: not _WILD.search(part), parts))
    return str(Path(*plain))


def escaped(address: str) -> str:
    """An address as one folder name that no other address has: ``job.x["a/b"]`` becomes
    ``job.x.%22a%2Fb%22``.
    """
    parsed = parse_address(address)
    return "".join(
        char if char.isalnum() or char in "._-" else f"%{ord(char):02X}" for char in str(parsed or address)
    )


def short_name(address: str) -> str:
    """An address without its type, for a folder that holds one type only."""
    parsed = parse_address(address)
    if not isinstance(parsed, Address):
        return escaped(address)
    return escaped(str(parsed).replace(f"{parsed.type}.", "", 1) if not parsed.module else str(parsed))


def _local(text: str) -> str | None:
    if text.startswith("file:/"):
        return path_of_uri(text)
    return None if _SCHEME.match(text) else text
