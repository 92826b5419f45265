"""Iceberg's own REST catalog server in a JVM on a free port, from the jars of its releases; its tables are
kept in SQLite and files.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ICEBERG, JETTY = "1.11.0", "12.1.5"
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>flareiac</groupId><artifactId>rest-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.iceberg</groupId><artifactId>iceberg-open-api</artifactId><version>{ICEBERG}</version>
      <classifier>test-fixtures</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.apache.iceberg</groupId><artifactId>iceberg-core</artifactId><version>{ICEBERG}</version>
      <classifier>tests</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.apache.iceberg</groupId><artifactId>iceberg-api</artifactId><version>{ICEBERG}</version>
      <classifier>tests</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.apache.iceberg</groupId><artifactId>iceberg-core</artifactId><version>{ICEBERG}</version></dependency>
    <dependency><groupId>org.eclipse.jetty.ee10</groupId><artifactId>jetty-ee10-servlet</artifactId><version>{JETTY}</version></dependency>
    <dependency><groupId>org.eclipse.jetty.compression</groupId><artifactId>jetty-compression-server</artifactId><version>{JETTY}</version>
    </dependency>
    <dependency><groupId>org.eclipse.jetty.compression</groupId><artifactId>jetty-compression-gzip</artifactId><version>{JETTY}</version>
    </dependency>
    <dependency><groupId>org.xerial</groupId><artifactId>sqlite-jdbc</artifactId><version>3.54.1.0</version></dependency>
  </dependencies>
</project>
"""


@cache
def server_jars() -> tuple[Path, ...]:
    """The jars of the server, fetched once into the user's cache. Its dependencies are many, so that Maven
    resolves them.
    """
    from flareiac.kernel.user_cache import cache_directory

    folder = cache_directory(os.environ) / "rest-server" / f"{ICEBERG}-{JETTY}"
    done = folder / "complete"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(POM)
        command = ["mvn", "-B", "-q", "-f", str(folder / "pom.xml"), "dependency:copy-dependencies"]
        command += [f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
        ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
        done.touch()
    return tuple(sorted(folder.glob("*.jar")))


def _class_path() -> str:
    import pyspark

    spark = Path(pyspark.__file__).parent / "jars"
    hadoop = [
        *spark.glob("hadoop-client-api-*.jar"),
        *spark.glob("hadoop-client-runtime-*.jar"),
        *spark.glob("commons-logging*.jar"),
    ]
    return os.pathsep.join(map(str, [*server_jars(), *sorted(hadoop)]))


@contextmanager
def rest_server(directory: Path, java_home: Path) -> Iterator[str]:
    """The address of a running server with its data below ``directory``."""
    directory.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    environment = {
        "CATALOG_WAREHOUSE": f"file://{directory}/warehouse",
        "CATALOG_URI": f"jdbc:sqlite:{directory}/rest.db",
        "CATALOG_REST_PORT": str(port),
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
        "PATH": os.environ.get("PATH", ""),
    }
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", _class_path()]
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [str(java_home / "bin" / "java"), *options, "org.apache.iceberg.rest.RESTCatalogServer"],
            env=environment,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    try:
        _wait(f"http://127.0.0.1:{port}", process, directory / "server.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        process.kill()
        process.wait()


def _wait(uri: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(f"{uri}/v1/config", timeout=5):
                return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    print(os.pathsep.join(map(str, server_jars())), file=sys.stdout)
