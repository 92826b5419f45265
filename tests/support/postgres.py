"""A PostgreSQL server of its own on a free port of the loopback, in a directory of a test."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2

from tests.support.ports import free_port

USER, PASSWORD = "flare", "a pass:word@with/strange%signs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """``process`` is the server."""

    port: int
    process: "subprocess.Popen[bytes]"

    def uri(self, database: str) -> str:
        """The URI that a catalog block has, without the password."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str) -> str:
        """A new database; returns its URI."""
        self.run(f'CREATE DATABASE "{database}"')
        return self.uri(database)

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Runs a statement of its own transaction; returns its rows."""
        with contextlib.closing(self._connect(database)) as connection:
            connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def _connect(self, database: str) -> Any:
        return psycopg2.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, dbname=database, connect_timeout=5
        )


def binaries() -> Path | None:
    """The folder of ``initdb`` and ``postgres``, or None."""
    listed = shutil.which("pg_config")
    found = (
        [subprocess.run([listed, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()]
        if listed
        else []
    )
    found += map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))
    return next(
        (
            Path(item)
            for item in found
            if (Path(item) / "initdb").exists() and (Path(item) / "postgres").exists()
        ),
        None,
    )


@contextmanager
def postgres(directory: Path) -> Iterator[Postgres]:
    """A running server with its data below ``directory``; passwords are asked for."""
    bindir = binaries()
    assert bindir is not None, (
        "PostgreSQL's server is needed: apt-get install postgresql (tests/run.sh does it)"
    )
    data, secret = directory / "data", directory / "password"
    directory.mkdir(parents=True, exist_ok=True)
    secret.write_text(PASSWORD)
    who = _identity()
    if who:
        os.chown(directory, who["user"], who["group"])  # it refuses to run as root
        os.chown(secret, who["user"], who["group"])
        _open_parents(directory)
    options = [
        "-U",
        USER,
        "-A",
        "scram-sha-256",
        f"--pwfile={secret}",
        "--no-sync",
        "-E",
        "UTF8",
        "--locale=C",
    ]
    made = subprocess.run(
        [bindir / "initdb", "-D", data, *options], capture_output=True, text=True, cwd="/", **_as(who)
    )
    assert made.returncode == 0, made.stderr
    port = free_port()
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "fsync": "off",
        "synchronous_commit": "off",
    }
    settings |= {"full_page_writes": "off", "shared_buffers": "16MB"}
    arguments = [item for name, value in settings.items() for item in ("-c", f"{name}={value}")]
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [bindir / "postgres", "-D", data, "-p", str(port), *arguments],
            stdout=log,
            stderr=log,
            cwd="/",
            **_as(who),
        )
    server = Postgres(port=port, process=process)
    try:
        _wait(server, directory / "server.log")
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _wait(server: Postgres, log: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            server.run("SELECT 1")
        except psycopg2.OperationalError:
            assert server.process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        else:
            return


def _identity() -> dict[str, int]:
    """Whom the server runs as, where we are root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            found = pwd.getpwnam(name)
            return {"user": found.pw_uid, "group": found.pw_gid}
    raise AssertionError("there is neither a user postgres nor nobody")


def _as(who: dict[str, int]) -> dict[str, Any]:
    return {**who, "extra_groups": []} if who else {}


def _open_parents(directory: Path) -> None:
    """Its folders must be passable for whom the server runs as; a test's own are closed to others."""
    for parent in directory.parents:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
