"""The combinations of Spark, Scala, Iceberg and Java that run together, and the checks against them. The
coordinates themselves stand in ``flareiac.sdk.versions``.
"""

import importlib.metadata
import re
from collections.abc import Iterable

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.optional_packages import how_to_install
from flareiac.sdk.versions import ICEBERG, ICEBERG_RUNTIME, SCALA, SPARK_LINE, SQLITE_JDBC
from flareiac_spark import codes
from flareiac_spark.runtime.coordinates import Coordinate, parse_coordinate


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One line of versions that were run together. ``iceberg`` holds the minor versions that work;
    ``default`` is the one taken.
    """

    spark: str
    scala: str
    iceberg: tuple[str, ...]
    default: str
    java: tuple[int, ...]

    @property
    def runtime(self) -> tuple[str, str]:
        """Group and artifact of Iceberg's Spark runtime for this line."""
        return "org.apache.iceberg", f"iceberg-spark-runtime-{self.spark}_{self.scala}"


FITS: tuple[Fit, ...] = (
    Fit(spark=SPARK_LINE, scala=SCALA, iceberg=("1.11", "1.12"), default=ICEBERG, java=(17, 21)),
)
DEFAULT: Fit = FITS[0]
HOW_TO_INSTALL = how_to_install("spark")


def default_packages() -> tuple[str, ...]:
    """The coordinates of the embedded catalog on the default line."""
    return ICEBERG_RUNTIME, SQLITE_JDBC


def fit_of(spark_version: str) -> Fit | None:
    """The line that a full Spark version such as ``4.1.4`` belongs to."""
    return next((fit for fit in FITS if minor(spark_version) == fit.spark), None)


def minor(version: str) -> str:
    """``4.1`` of ``4.1.4``; the text itself where it has no such form."""
    match = re.match(r"\d+\.\d+", version)
    return match.group() if match else version


def installed_pyspark() -> str | None:
    """The version of the installed pyspark, found without importing it."""
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return None


def misfits(
    spark_version: str, packages: Iterable[str], java_major: int | None = None
) -> tuple[Diagnostic, ...]:
    """The parts of this combination that are known not to fit or were never seen to fit, as errors."""
    fit = fit_of(spark_version)
    if fit is None:
        known = ", ".join(known_fit.spark for known_fit in FITS)
        return (
            error(
                codes.VERSIONS_DO_NOT_FIT,
                f"Spark {spark_version} has no fitting Iceberg runtime. FlareIaC runs Spark {known}. "
                f"Install one that fits: {HOW_TO_INSTALL}.",
            ),
        )
    diagnostics: list[Diagnostic] = []
    if java_major is not None and java_major not in fit.java:
        wanted = " or ".join(map(str, fit.java))
        diagnostics.append(
            error(
                codes.VERSIONS_DO_NOT_FIT,
                f"Spark {spark_version} does not run on Java {java_major}. Use Java {wanted}: set "
                "JAVA_HOME to one.",
            )
        )
    for coordinate in filter(None, map(parse_coordinate, packages)):
        diagnostics.extend(_package_misfit(fit, spark_version, coordinate))
    return tuple(diagnostics)


def _package_misfit(fit: Fit, spark_version: str, coordinate: Coordinate) -> Iterable[Diagnostic]:
    runtime = re.fullmatch(r"iceberg-spark-runtime-([\d.]+)_([\d.]+)", coordinate.artifact)
    if runtime is not None:
        if (coordinate.group, coordinate.artifact) != fit.runtime:
            yield error(
                codes.VERSIONS_DO_NOT_FIT,
                f"{coordinate} is made for Spark {runtime.group(1)} with Scala {runtime.group(2)}, and "
                f"Spark {spark_version} is installed. Use {':'.join(fit.runtime)}:{fit.default}.",
            )
        elif minor(coordinate.version) not in fit.iceberg:
            yield error(
                codes.VERSIONS_DO_NOT_FIT,
                f"Iceberg {coordinate.version} is not known to work with Spark {spark_version}. "
                f"Known to work: {', '.join(fit.iceberg)}. Use {':'.join(fit.runtime)}:{fit.default}: "
                "in packages of the engine where they name the other one; flareiac init -upgrade takes it "
                "where the lock file does.",
            )
        return
    scala = re.search(r"_(2\.1[0-9])$", coordinate.artifact)
    if scala is not None and scala.group(1) != fit.scala:
        yield error(
            codes.VERSIONS_DO_NOT_FIT,
            f"{coordinate} is made for Scala {scala.group(1)}, and Spark {spark_version} uses Scala "
            f"{fit.scala}. Use the artifact that ends in _{fit.scala}.",
        )
