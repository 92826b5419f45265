"""The class-data archive (AppCDS): Spark's and Iceberg's classes as a JVM maps them, made once per Java,
pyspark and ordered jars.

It only saves time. One that does not fit is ignored by the JVM, one that cannot be made is done without.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from flareiac.kernel.durable_files import READABLE_DIRECTORY_MODE, make_directory
from flareiac.kernel.user_cache import cache_directory
from flareiac_spark.runtime.ivy import pyspark_directory
from flareiac_spark.runtime.java import Java
from flareiac_spark.runtime.versions import installed_pyspark

_TRAINING_S = 600
_KEPT = 4
_SETTING = "FLAREIAC_CLASS_ARCHIVE"
_OFF, _USE = "off", "use"


def archive_path(java: Java, jars: Sequence[Path], environment: Mapping[str, str] = os.environ) -> Path:
    """The place of the archive for this combination. The JVM compares sizes and times of the jars itself, so
    they are part of the key.
    """
    stamps = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    pyspark = pyspark_directory()
    key = json.dumps(
        [java.version, str(java.home), installed_pyspark(), str(pyspark), _spark_stamp(pyspark), stamps]
    )
    return (
        cache_directory(environment)
        / "class-archives"
        / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.jsa"
    )


def usable_archive(
    java: Java, jars: Sequence[Path], environment: Mapping[str, str] = os.environ
) -> Path | None:
    """The archive if it has been made, else None. ``FLAREIAC_CLASS_ARCHIVE=off`` means none.

    Its time is then that of this use, so that the ones in use are those that are kept.
    """
    if environment.get(_SETTING) == _OFF:
        return None
    try:
        path = archive_path(java, jars, environment)
    except OSError:
        return None
    if not path.is_file():
        return None
    with suppress(OSError):  # another user's may be read, and not touched
        os.utime(path)
    return path


def is_made(environment: Mapping[str, str] = os.environ) -> bool:
    """Returns True if archives are made; ``FLAREIAC_CLASS_ARCHIVE=use`` and ``off`` say that none is."""
    return environment.get(_SETTING) not in (_OFF, _USE)


def make_in_background(java: Java, jars: Sequence[Path], environment: Mapping[str, str] = os.environ) -> bool:
    """Starts making the archive in a process of its own that outlives this one; False when there is nothing
    to make.
    """
    if not is_made(environment) or not jars or usable_archive(java, jars, environment) is not None:
        return False
    command = [sys.executable, "-m", "flareiac_spark.runtime.make_archive", str(java.home), *map(str, jars)]
    # The shell ends at once and leaves its child to the system: no one has to wait for it, and it outlives
    # the terminal.
    detached = ["sh", "-c", '"$@" </dev/null >/dev/null 2>&1 &', "sh", *command]
    return (
        subprocess.run(detached, env=dict(environment), start_new_session=True, check=False).returncode == 0
    )


def make_archive(
    java: Java, jars: Sequence[Path], environment: Mapping[str, str] = os.environ
) -> Path | None:
    """Makes the archive now: a short Spark application loads the classes, and its JVM writes them when it
    ends.

    Returns None when it could not be made. One process makes it at a time; another one waits and finds it
    made.
    """
    path = archive_path(java, jars, environment)
    make_directory(path.parent, READABLE_DIRECTORY_MODE)
    with _alone(path.with_suffix(".lock")):
        if path.is_file():
            return path
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as name:
            made = Path(name) / "archive.jsa"
            if not _train(java, jars, made, Path(name), environment):
                return None
            made.replace(path)
    _drop_old(path.parent)
    return path


def _train(java: Java, jars: Sequence[Path], made: Path, work: Path, environment: Mapping[str, str]) -> bool:
    command = [
        sys.executable,
        "-m",
        "flareiac_spark_runtime.train_archive",
        str(made),
        str(work),
        *map(str, jars),
    ]
    without = {
        key: value
        for key, value in environment.items()
        if key not in {"SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"}
    }
    settings = {
        **without,
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with (work / "log").open("wb") as log:
        try:
            done = subprocess.run(
                command,
                cwd=work,
                env=settings,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=_TRAINING_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and made.is_file() and made.stat().st_size > 0


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _spark_stamp(pyspark: Path | None) -> list[tuple[str, int, int]]:
    # A reinstalled pyspark has new times on its jars; the core jar stands for all of them.
    jars = sorted((pyspark / "jars").glob("spark-core_*.jar")) if pyspark else []
    return [(jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]


def _drop_old(folder: Path) -> None:
    """Keeps those that were used last, and nothing half made. Each has about 200 MB; a JVM that has mapped
    one keeps it without its name.
    """
    made = sorted(folder.glob("*.jsa"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for old in made[_KEPT:]:
        old.unlink(missing_ok=True)
        old.with_suffix(".lock").unlink(missing_ok=True)
    for left in folder.glob(".making-*"):
        if left.stat().st_mtime < time.time() - 2 * _TRAINING_S:
            shutil.rmtree(left, ignore_errors=True)
