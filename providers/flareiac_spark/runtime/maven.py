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
    for item in coordinates:
        if (flat / item.file_name).is_file():
            (into / item.group).mkdir(exist_ok=True)
            (flat / item.file_name).replace(into / item.group / item.file_name)
    return all((into / item.group / item.file_name).is_file() for item in coordinates)


def _project(coordinates: Sequence[Coordinate]) -> str:
    wanted = "\n".join(
        f"    <dependency><groupId>{item.group}</groupId><artifactId>{item.artifact}</artifactId>"
        f"<version>{item.version}</version><exclusions><exclusion><groupId>*</groupId>"
        "<artifactId>*</artifactId></exclusion></exclusions></dependency>"
        for item in coordinates
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
