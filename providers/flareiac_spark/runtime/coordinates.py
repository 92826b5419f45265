"""Maven coordinates: ``group:artifact:version``, one exact jar each."""

import re
from dataclasses import dataclass

from flareiac.kernel.diagnostics import Failure, error
from flareiac_spark import codes

_PART = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_COORDINATE = re.compile(rf"({_PART}):({_PART}):({_PART})")


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """One jar in a Maven repository."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


def parse_coordinate(text: str) -> Coordinate | None:
    """The coordinate that a text spells, or None."""
    match = _COORDINATE.fullmatch(text)
    return Coordinate(*match.groups()) if match else None


def parse_coordinates(texts: tuple[str, ...]) -> tuple[Coordinate, ...]:
    """The coordinates, sorted and once each: class path and archive depend on one fixed order. Raises
    ``Failure``.
    """
    wrong = [text for text in texts if parse_coordinate(text) is None]
    if wrong:
        raise Failure(
            *(
                error(
                    codes.INVALID_COORDINATE,
                    f'"{text}" is not a Maven coordinate. Write "group:artifact:version", such as '
                    '"org.xerial:sqlite-jdbc:3.54.1.0".',
                )
                for text in wrong
            )
        )
    parsed = {coordinate for text in texts if (coordinate := parse_coordinate(text)) is not None}
    return tuple(sorted(parsed))


def version_of(coordinate: str) -> str:
    """``1.2.3`` of ``group:artifact:1.2.3``."""
    return coordinate.rpartition(":")[2]
