"""Iceberg's own REST catalog server in a JVM on a free port, from the jars of its releases; its tables are
kept in SQLite and files.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from flareiac.sdk.versions import SQLITE_JDBC
from tests.support.maven_jars import dependency, resolved_jars
from tests.support.ports import free_port

JETTY = "12.1.5"


ICEBERG: Final = "1.11.0"
"""The server is another party than the clients under test: its release need not be theirs. Of 1.12.0 the
fixtures that hold it are not in the repositories that serve the tests.
"""


@cache
def server_jars() -> tuple[Path, ...]:
    """The jars of the server and of what it needs."""
    iceberg, jetty = "org.apache.iceberg", "org.eclipse.jetty"
    return resolved_jars(
        "rest-server",
        f"{ICEBERG}-{JETTY}",
        (
            dependency(f"{iceberg}:iceberg-open-api:{ICEBERG}", classifier="test-fixtures", alone=True),
            dependency(f"{iceberg}:iceberg-core:{ICEBERG}", classifier="tests", alone=True),
            dependency(f"{iceberg}:iceberg-api:{ICEBERG}", classifier="tests", alone=True),
            dependency(f"{iceberg}:iceberg-core:{ICEBERG}"),
            dependency(f"{jetty}.ee10:jetty-ee10-servlet:{JETTY}"),
            dependency(f"{jetty}.compression:jetty-compression-server:{JETTY}"),
            dependency(f"{jetty}.compression:jetty-compression-gzip:{JETTY}"),
            dependency(SQLITE_JDBC),
        ),
    )


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
    port = free_port()
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


if __name__ == "__main__":
    print(os.pathsep.join(map(str, server_jars())), file=sys.stdout)
