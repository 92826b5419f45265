"""Jars of servers that only tests start, resolved by Maven with all their dependencies."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def resolved_jars(name: str, versions: str, dependencies: Sequence[str]) -> tuple[Path, ...]:
    """The jars of ``dependencies`` (``<dependency>`` elements of a POM) and of what these need, sorted.

    They are fetched once into the folder ``NAME/VERSIONS`` of the user's cache.
    """
    from flareiac.kernel.user_cache import cache_directory

    folder = cache_directory(os.environ) / name / versions
    done = folder / "complete"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(_pom(name, dependencies))
        command = ["mvn", "-B", "-q", "-f", str(folder / "pom.xml"), "dependency:copy-dependencies"]
        command += [f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
        ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
        done.touch()
    return tuple(sorted(folder.glob("*.jar")))


def dependency(coordinate: str, *, classifier: str = "", alone: bool = False) -> str:
    """A ``<dependency>`` for ``group:artifact:version``; ``alone`` leaves out what it needs itself."""
    group, artifact, version = coordinate.split(":")
    inner = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
    if classifier:
        inner += f"<classifier>{classifier}</classifier>"
    if alone:
        every = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        inner += f"<exclusions>{every}</exclusions>"
    return f"<dependency>{inner}</dependency>"


def _pom(name: str, dependencies: Sequence[str]) -> str:
    listed = "\n    ".join(dependencies)
    return f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>flareiac</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    {listed}
  </dependencies>
</project>
"""
