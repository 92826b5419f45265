"""The versions of the jars that a project runs with: those of its lock file, else FlareIaC's own. Pure.

An upgrade of FlareIaC alone changes no version, so that no query restarts for it.
"""

from collections.abc import Collection, Iterable

from flareiac.sdk.versions import ICEBERG_RELEASES
from flareiac_spark.runtime.coordinates import Coordinate, parse_coordinate

_RELEASES = tuple(
    frozenset(coordinate for text in release if (coordinate := parse_coordinate(text)) is not None)
    for release in ICEBERG_RELEASES
)


def as_locked(
    packages: Iterable[str], declared: Iterable[str], locked: Collection[Coordinate]
) -> frozenset[str]:
    """The coordinates to run with: ``packages`` are FlareIaC's choice, each taken in the version that is
    declared or locked; those that an engine has ``declared`` itself are kept as they are.
    """
    own = list(declared)
    fixed = frozenset(filter(None, map(parse_coordinate, own)))
    taken = {_artifact(coordinate) for coordinate in fixed}
    parsed = {text: parse_coordinate(text) for text in packages}
    kept = (
        text if coordinate is None else _in_known_version(coordinate, fixed, frozenset(locked))
        for text, coordinate in parsed.items()
        if coordinate is None or _artifact(coordinate) not in taken
    )
    return frozenset((*own, *(str(each) for each in kept if each is not None)))


def other_versions(running: Iterable[str], wanted: Iterable[str]) -> dict[str, str]:
    """The jars that run in another version than the wanted one: the wanted coordinate by the running one."""
    has = {
        _artifact(coordinate): coordinate
        for text in running
        if (coordinate := parse_coordinate(text)) is not None
    }
    wanted_by_running: dict[str, str] = {}
    for text in sorted(wanted):
        coordinate = parse_coordinate(text)
        runs = has.get(_artifact(coordinate)) if coordinate is not None else None
        if runs is not None and runs != coordinate:
            wanted_by_running[str(runs)] = text
    return wanted_by_running


def _in_known_version(
    coordinate: Coordinate, declared: frozenset[Coordinate], locked: frozenset[Coordinate]
) -> Coordinate | None:
    """None where the release that is declared or locked does without it. What is declared decides before what
    is locked.
    """
    belongs = any(_of_artifact(release, coordinate) is not None for release in _RELEASES)
    for known in (declared, locked):
        if coordinate in known:
            return coordinate
        for release in _RELEASES:
            if belongs and not known.isdisjoint(release):
                return _of_artifact(release, coordinate)
        # A version that this release of FlareIaC knows nothing about
        others = sorted(each for each in known if _artifact(each) == _artifact(coordinate))
        if others:
            return others[-1]
    return coordinate


def _of_artifact(coordinates: Iterable[Coordinate], wanted: Coordinate) -> Coordinate | None:
    return next((each for each in coordinates if _artifact(each) == _artifact(wanted)), None)


def _artifact(coordinate: Coordinate) -> tuple[str, str]:
    return coordinate.group, coordinate.artifact
