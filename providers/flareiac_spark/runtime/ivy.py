"""Fetches jars with Spark's own Ivy, started from the jars of the installed pyspark. Honours what is set up
for Spark.

``DEFAULT_ARTIFACT_REPOSITORY``, ``SPARK_SUBMIT_OPTS`` (trust stores, proxies), the local Maven repository,
and ``spark.jars.ivySettings`` and ``spark.jars.repositories`` of ``spark-defaults.conf`` mean here what they
mean to Spark.
"""

import importlib.util
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.fetch_client import NotFetched, run_client
from flareiac_spark.runtime.ivy_report import not_fetched
from flareiac_spark.runtime.java import Java
from flareiac_spark.runtime.versions import HOW_TO_INSTALL


def pyspark_directory() -> Path | None:
    """The directory of the installed pyspark, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def fetch_with_ivy(
    coordinates: Sequence[Coordinate], into: Path, java: Java, environment: Mapping[str, str] = os.environ
) -> NotFetched | None:
    """Puts ``group/artifact-version.jar`` of each coordinate below ``into`` (an existing empty directory);
    None when all are there.
    """
    pyspark = pyspark_directory()
    ivy_jars = (
        sorted((pyspark / "jars").glob("ivy-*.jar")) + sorted((pyspark / "jars").glob("commons-cli-*.jar"))
        if pyspark
        else []
    )
    if not ivy_jars:
        why = "PySpark, which brings the program that fetches them, is not installed."
        return NotFetched(why, f"Install it with: {HOW_TO_INSTALL}.")
    spark_conf = _spark_defaults(environment)
    own = spark_conf.get("spark.jars.ivySettings")
    settings = into / "ivysettings.xml" if own is None else Path(own)
    if own is None:
        repositories = spark_conf.get("spark.jars.repositories", "")
        settings.write_text(_settings(environment, repositories), encoding="utf-8")
    module = into / "ivy.xml"
    module.write_text(_module(coordinates), encoding="utf-8")
    command = [
        str(java.executable),
        *shlex.split(environment.get("SPARK_SUBMIT_OPTS", "")),
        *("-cp", os.pathsep.join(map(str, ivy_jars)), "org.apache.ivy.Main"),
        *(
            "-settings",
            str(settings),
            "-cache",
            str(into / "cache"),
            "-ivy",
            str(module),
            "-notransitive",
            "-confs",
            "default",
        ),
        *("-retrieve", f"{into}/[organisation]/[artifact]-[revision].[ext]"),
    ]
    done = run_client(command, environment)
    if isinstance(done, NotFetched):
        return done
    if all((into / coordinate.group / coordinate.file_name).is_file() for coordinate in coordinates):
        return None
    return not_fetched(done.stdout + done.stderr, coordinates)


def _spark_defaults(environment: Mapping[str, str]) -> Mapping[str, str]:
    home = environment.get("SPARK_HOME")
    folder = environment.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else "")
    try:
        text = (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8") if folder else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    lines = (line.strip() for line in text.splitlines())
    pairs = (re.split(r"[\s=:]+", line, maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _settings(environment: Mapping[str, str], repositories: str) -> str:
    roots = [repository.strip() for repository in repositories.split(",") if repository.strip()]
    resolvers = [
        (
            '<ibiblio name="local-m2" m2compatible="true" usepoms="false" checksums="" '
            'root="file://${user.home}/.m2/repository/"/>'
        )
    ]
    default = environment.get("DEFAULT_ARTIFACT_REPOSITORY", "")
    central = f" root={quoteattr(default.rstrip('/') + '/')}" if default else ""
    resolvers.append(f'<ibiblio name="central" m2compatible="true" usepoms="false"{central}/>')
    resolvers += [
        f'<ibiblio name="repository-{index}" m2compatible="true" usepoms="false" '
        f"root={quoteattr(root.rstrip('/') + '/')}/>"
        for index, root in enumerate(roots)
    ]
    chain = "\n      ".join(resolvers)
    return f"""\
<ivysettings>
  <settings defaultResolver="all"/>
  <resolvers>
    <chain name="all" returnFirst="true">
      {chain}
    </chain>
  </resolvers>
</ivysettings>
"""


def _module(coordinates: Sequence[Coordinate]) -> str:
    wanted = "\n".join(
        f"    <dependency org={quoteattr(coordinate.group)} name={quoteattr(coordinate.artifact)} "
        f"rev={quoteattr(coordinate.version)}"
        f' transitive="false" conf="default->*"><artifact name={quoteattr(coordinate.artifact)} type="jar" '
        'ext="jar"/></dependency>'
        for coordinate in coordinates
    )
    return f"""\
<ivy-module version="2.0">
  <info organisation="flareiac" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{wanted}
  </dependencies>
</ivy-module>
"""
