"""The jars of a project: fetched once into the user's cache, checked by SHA-256, taken from there by path at
every start.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.durable_files import READABLE_DIRECTORY_MODE, READABLE_FILE_MODE, make_directory
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark import codes
from flareiac_spark.runtime.cache import not_writable, remembered
from flareiac_spark.runtime.coordinates import Coordinate, parse_coordinates
from flareiac_spark.runtime.fetch_client import NotFetched
from flareiac_spark.runtime.ivy import fetch_with_ivy
from flareiac_spark.runtime.java import find_java
from flareiac_spark.runtime.lock_file import LOCK_FILE, read_lock
from flareiac_spark.runtime.maven import fetch_with_maven

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """One jar in the cache."""

    coordinate: Coordinate
    path: Path
    sha256: str
    fetched: bool = False


def jar_path(coordinate: Coordinate, environment: Mapping[str, str] = os.environ) -> Path:
    """The place of a jar in the cache."""
    return cache_directory(environment) / "jars" / coordinate.group / coordinate.file_name


def locked_jars(
    project_root: Path, packages: Sequence[str], environment: Mapping[str, str] = os.environ
) -> tuple[Path, ...]:
    """The paths of the jars in the one order of every start (by coordinate). No network.

    Raises ``Failure`` when one is not locked, not in the cache or not the locked one; the way out is always
    ``flareiac init``.
    """
    coordinates = parse_coordinates(tuple(packages))
    locked = read_lock(project_root)
    if locked is None and coordinates:
        raise Failure(error(codes.JAR_NOT_LOCKED, f'There is no {LOCK_FILE}. Run "flareiac init".'))
    results = [_locked(coordinate, locked or {}, environment) for coordinate in coordinates]
    complaints = tuple(result for result in results if isinstance(result, Diagnostic))
    if complaints:
        raise Failure(*complaints)
    return tuple(result for result in results if isinstance(result, Path))


def fetch_jars(
    coordinates: Sequence[Coordinate],
    progress: Progress,
    environment: Mapping[str, str] = os.environ,
    *,
    locked: Mapping[Coordinate, str],
) -> tuple[Jar, ...]:
    """The jars, fetched where the cache does not hold them. A jar whose SHA-256 is not the locked one is an
    error. Raises ``Failure``.
    """
    here = {
        coordinate: sha
        for coordinate in coordinates
        if (sha := _cached_sha256(jar_path(coordinate, environment))) is not None
    }
    usable = {coordinate: sha for coordinate, sha in here.items() if locked.get(coordinate, sha) == sha}
    missing = tuple(coordinate for coordinate in coordinates if coordinate not in usable)
    fetched = _fetch(missing, locked, progress, environment) if missing else {}
    hashes = {**usable, **fetched}
    return tuple(
        Jar(
            coordinate=coordinate,
            path=jar_path(coordinate, environment),
            sha256=hashes[coordinate],
            fetched=coordinate in fetched,
        )
        for coordinate in coordinates
    )


def fetch_locked(locked: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The paths of jars whose SHA-256 are known, by coordinate as text, in the one order of every start;
    fetched where the cache does not hold them. Raises ``Failure``.
    """
    coordinates = parse_coordinates(tuple(locked))
    hashes = {coordinate: locked[str(coordinate)] for coordinate in coordinates}
    jars = fetch_jars(coordinates, _quiet, environment, locked=hashes)
    return tuple(jar.path for jar in jars)


def _quiet(_text: str) -> None:
    pass


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _locked(
    coordinate: Coordinate, locked: Mapping[Coordinate, str], environment: Mapping[str, str]
) -> Path | Diagnostic:
    path = jar_path(coordinate, environment)
    if coordinate not in locked:
        return error(
            codes.JAR_NOT_LOCKED,
            f'{coordinate} is not in {LOCK_FILE}, and the project needs it. Run "flareiac init".',
        )
    sha256 = _cached_sha256(path)
    if sha256 is None:
        return error(
            codes.JAR_NOT_CACHED, f'{coordinate} is not in the cache: {path} is missing. Run "flareiac init".'
        )
    if sha256 != locked[coordinate]:
        detail = (
            f"{coordinate}: {path} has SHA-256 {sha256}, the lock file says {locked[coordinate]}. Run "
            '"flareiac init" to fetch it again.'
        )
        return error(codes.JAR_DIFFERS, detail)
    return path


def _cached_sha256(path: Path) -> str | None:
    """The hash of a jar; remembered beside it and computed again when the file may be another one."""
    try:
        return remembered(path.with_name(path.name + ".sha256.json"), path, sha256_of)
    except OSError:
        return None


def _fetch(
    coordinates: tuple[Coordinate, ...],
    locked: Mapping[Coordinate, str],
    progress: Progress,
    environment: Mapping[str, str],
) -> dict[Coordinate, str]:
    folder = cache_directory(environment) / "jars"
    try:
        make_directory(folder, READABLE_DIRECTORY_MODE)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as name:
            into = Path(name)
            for coordinate in coordinates:
                progress(f"fetching {coordinate}")
            _fetch_into(coordinates, into, environment)
            return {
                coordinate: _kept(coordinate, into, locked, progress, environment)
                for coordinate in coordinates
            }
    except OSError as failure:
        raise not_writable(folder, failure) from failure


def _kept(
    coordinate: Coordinate,
    into: Path,
    locked: Mapping[Coordinate, str],
    progress: Progress,
    environment: Mapping[str, str],
) -> str:
    came = into / coordinate.group / coordinate.file_name
    sha256 = sha256_of(came)
    if locked.get(coordinate, sha256) != sha256:
        detail = (
            f"{coordinate}: the repository gave a file with SHA-256 {sha256}, {LOCK_FILE} says "
            f"{locked[coordinate]}. Do not use it before you know why it changed; if the new one is wanted, "
            f"remove its block from {LOCK_FILE} and run init again."
        )
        raise Failure(error(codes.JAR_DIFFERS, detail))
    path = jar_path(coordinate, environment)
    make_directory(path.parent, READABLE_DIRECTORY_MODE)
    came.chmod(READABLE_FILE_MODE)
    came.replace(path)
    progress(f"fetched  {coordinate} ({path.stat().st_size / 1e6:.1f} MB)")
    return sha256


def _fetch_into(coordinates: tuple[Coordinate, ...], into: Path, environment: Mapping[str, str]) -> None:
    java = find_java(environment)
    first = (
        fetch_with_ivy(coordinates, into, java, environment)
        if java
        else NotFetched("No Java was found to fetch them with.", "Install a Java, or set JAVA_HOME.")
    )
    if first is None:
        return
    _empty(into)
    if fetch_with_maven(coordinates, into, environment):
        return
    # Maven was a second attempt: what it says of the same repositories is the first cause in other words.
    detail = f"{first.why} {first.advice} Needed, and not in the cache: {', '.join(map(str, coordinates))}."
    raise Failure(error(codes.JARS_NOT_FETCHED, detail))


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
