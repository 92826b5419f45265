"""Finds a Java that Spark runs on: JAVA_HOME, then PATH, then where packages install it. Remembers what
``java -version`` says.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark import codes
from flareiac_spark.runtime.cache import remembered
from flareiac_spark.runtime.versions import DEFAULT

_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk@*",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """An installed Java. ``version`` is the full text of ``java -version``'s build (what a class-data archive
    depends on).
    """

    home: Path
    version: str
    major: int

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def find_java(
    environment: Mapping[str, str] = os.environ,
    *,
    majors: tuple[int, ...] = DEFAULT.java,
    places: tuple[str, ...] = _PLACES,
) -> Java | None:
    """The first Java whose major version is wanted, or None."""
    return next((java for java in installed_javas(environment, places=places) if java.major in majors), None)


def require_java(
    environment: Mapping[str, str] = os.environ,
    *,
    majors: tuple[int, ...] = DEFAULT.java,
    places: tuple[str, ...] = _PLACES,
) -> Java:
    """The Java to use. Raises ``Failure`` that says which to install and how."""
    java = find_java(environment, majors=majors, places=places)
    if java is None:
        raise Failure(no_java(tuple(installed_javas(environment, places=places)), majors))
    return java


def installed_javas(
    environment: Mapping[str, str] = os.environ, *, places: tuple[str, ...] = _PLACES
) -> Iterator[Java]:
    """Every Java that answers, in the order of preference, once each."""
    seen: set[Path] = set()
    for candidate in _candidates(environment, places):
        try:
            real = candidate.resolve(strict=True)
        except OSError:
            continue
        if real not in seen:
            seen.add(real)
            if (java := _asked(real, environment)) is not None:
                yield java


def no_java(javas: tuple[Java, ...], majors: tuple[int, ...] = DEFAULT.java) -> Diagnostic:
    """The complaint that no found Java fits."""
    return error(codes.JAVA_NOT_FOUND, f"{what_is_there(javas, majors)} {how_to_install(majors[0])}")


def what_is_there(javas: tuple[Java, ...], majors: tuple[int, ...] = DEFAULT.java) -> str:
    """The Java that Spark needs, and those that were found instead, as sentences."""
    wanted = " or ".join(map(str, majors))
    others = "; ".join(f"Java {java.major} in {java.home}" for java in javas)
    looked = f"Spark needs Java {wanted}. Looked at JAVA_HOME, PATH and the usual places and found"
    return f"{looked} only {others}." if others else f"{looked} none."


def how_to_install(major: int) -> str:
    """A sentence with the command that installs a Java here."""
    if sys.platform == "darwin":
        return f"Install it with: brew install openjdk@{major}"
    package_managers = {
        "apt-get": f"apt-get install openjdk-{major}-jre-headless",
        "dnf": f"dnf install java-{major}-openjdk-headless",
        "apk": f"apk add openjdk{major}-jre-headless",
    }
    known = next((command for program, command in package_managers.items() if shutil.which(program)), None)
    return (
        f"Install it with: {known}" if known else f"Install a Java {major} runtime"
    ) + ", or set JAVA_HOME to one that is installed."


def wanted_home(environment: Mapping[str, str]) -> Path | None:
    """The Java that the user names."""
    home = environment.get("JAVA_HOME")
    return Path(home) if home else None


def unused_home(environment: Mapping[str, str], java: Java, majors: tuple[int, ...]) -> str | None:
    """Says why ``java`` was taken and not the one that JAVA_HOME names; None where it is that one or none is
    named.
    """
    home = wanted_home(environment)
    if home is None or (home / "bin" / "java").resolve() == java.executable.resolve():
        return None
    named = next(installed_javas({**environment, "PATH": ""}, places=()), None)
    if not home.is_dir():
        why = "which is no folder"
    elif not (home / "bin" / "java").is_file():
        why = "which holds no bin/java"
    elif named is None:
        why = "whose bin/java does not say its version"
    else:
        why = f"which is Java {named.major}; Spark needs Java {' or '.join(map(str, majors))}"
    return f"JAVA_HOME={home}, {why}"


def _candidates(environment: Mapping[str, str], places: tuple[str, ...]) -> Iterator[Path]:
    if home := wanted_home(environment):
        yield home / "bin" / "java"
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield Path(on_path)
    for place in places:
        # A pattern with a root of its own: Path.glob would want it taken apart first.
        yield from (Path(home) / "bin" / "java" for home in sorted(glob.glob(place)))  # noqa: PTH207


def _asked(executable: Path, environment: Mapping[str, str]) -> Java | None:
    note = cache_directory(environment) / "java" / f"{digest(str(executable))[:16]}.json"
    try:
        text = remembered(note, executable, _version_text)
    except OSError:
        return None
    return _parsed(executable, text) if text is not None else None


def _version_text(executable: Path) -> str | None:
    try:
        done = subprocess.run(
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stderr if done.returncode == 0 else None


def _parsed(executable: Path, text: str) -> Java | None:
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    if match is None:
        return None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Picked up")]
    return Java(home=executable.parent.parent, version="\n".join(lines), major=int(match.group(1)))
