"""Fetches jars with ``mvn`` where there is one: the second client, for machines on which Ivy does not get
through.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.fetch_client import NotFetched, run_client


def fetch_with_maven(
    coordinates: Sequence[Coordinate], into: Path, environment: Mapping[str, str] = os.environ
) -> bool:
    """Puts ``group/artifact-version.jar`` of each coordinate below ``into``; False unless all are there."""
    maven = shutil.which("mvn", path=environment.get("PATH", ""))
    if maven is None:
        return False
    project = into / "pom.xml"
    project.write_text(_project(coordinates), encoding="utf-8")
    flat = into / "flat"
    # -U: Maven remembers an artifact that was once not found, and would not ask again for a day.
    command = [
        maven,
        "-B",
        "-q",
        "-U",
        "-f",
        str(project),
        "dependency:copy-dependencies",
        f"-DoutputDirectory={flat}",
        "-DexcludeTransitive=true",
    ]
    if isinstance(run_client(command, environment), NotFetched):
        return False
    for coordinate in coordinates:
        if (flat / coordinate.file_name).is_file():
            (into / coordinate.group).mkdir(exist_ok=True)
            (flat / coordinate.file_name).replace(into / coordinate.group / coordinate.file_name)
    return all((into / coordinate.group / coordinate.file_name).is_file() for coordinate in coordinates)


def _project(coordinates: Sequence[Coordinate]) -> str:
    wanted = "\n".join(
        f"    <dependency><groupId>{coordinate.group}</groupId><artifactId>{coordinate.artifact}</artifactId>"
        f"<version>{coordinate.version}</version><exclusions><exclusion><groupId>*</groupId>"
        "<artifactId>*</artifactId></exclusion></exclusions></dependency>"
        for coordinate in coordinates
    )
    return f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>flareiac</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{wanted}
  </dependencies>
</project>
"""
