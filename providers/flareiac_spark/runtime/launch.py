"""With which Java, jars and JVM options a driver starts."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.runtime.archive import usable_archive
from flareiac_spark.runtime.jars import fetch_locked, locked_jars
from flareiac_spark.runtime.java import Java, require_java
from flareiac_spark.runtime.versions import DEFAULT, HOW_TO_INSTALL, fit_of, installed_pyspark, misfits

_OPTIONS_OF_JAVA: Final = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""The environment variables from which each JVM takes options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The versions and files that the start of a driver needs. ``jars`` belong on the driver's class path in
    this order (the archive depends on it).
    """

    spark_version: str
    java: Java
    jars: tuple[Path, ...]
    java_options: tuple[str, ...]


def prepare(
    project_root: Path,
    packages: Sequence[str],
    *,
    long_lived: bool = True,
    locked: Mapping[str, str] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Runtime:
    """Everything checked and found, without network and without starting a JVM. Raises ``Failure`` when
    something is missing.

    ``locked``: SHA-256 by coordinate in the place of a lock file; what the cache does not hold is fetched.
    """
    spark_version = require_pyspark()
    fit = fit_of(spark_version) or DEFAULT
    complaints = misfits(spark_version, packages)
    if complaints:
        raise Failure(*complaints)
    java = require_java(environment, majors=fit.java)
    if locked is None:
        jars = locked_jars(project_root, packages, environment)
    else:
        jars = fetch_locked(locked, environment)
    archive = usable_archive(java, jars, environment)
    return Runtime(
        spark_version=spark_version,
        java=java,
        jars=jars,
        java_options=java_options(archive, environment, long_lived=long_lived),
    )


def require_pyspark() -> str:
    """The version of the installed pyspark. Raises ``Failure``."""
    version = installed_pyspark()
    if version is None:
        detail = f"Jobs run on Spark, which is an extra. Install it with: {HOW_TO_INSTALL}."
        raise Failure(error(codes.PYSPARK_NOT_INSTALLED, detail))
    return version


def java_options(
    archive: Path | None, environment: Mapping[str, str] = os.environ, *, long_lived: bool
) -> tuple[str, ...]:
    """Options of the driver's JVM.

    A short driver gains from the first compiler alone and the simplest collector; a long one needs the second
    compiler for its throughput and keeps the JVM's own choice of collector. A JVM does not start with two
    collectors, so that one which the environment names stays.
    """
    named = any("GC" in environment.get(name, "") for name in _OPTIONS_OF_JAVA)
    collector = () if named else ("-XX:+UseSerialGC",)
    short = () if long_lived else ("-XX:TieredStopAtLevel=1", *collector)
    mapped = (
        ("-Xshare:auto", f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
        if archive
        else ()
    )
    return (*short, "-XX:-UsePerfData", *mapped)
