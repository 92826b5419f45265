"""The load of a team's project on its backends: requests, bytes and seconds of a plan, an apply and an idle
plan, by the number of its resources. The resources do nothing, so that all of it is the state's.
"""

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.bench.counting_s3 import counting_s3
from tests.bench.figure import Figure, remark
from tests.bench.programs import flareiac
from tests.bench.work import write_nothings
from tests.support.moto_server import KEYS, make_bucket
from tests.support.postgres import PASSWORD, Postgres, postgres

_SIZES: Final = (100, 1_000, 10_000)
_S3: Final = """backend "s3" {{
  bucket     = "states"
  region     = "us-east-1"
  endpoint   = "{endpoint}"
  path_style = true
}}
"""
_POSTGRESQL: Final = """backend "postgresql" {{
  connection = "{uri}"
}}
"""


def team(directory: Path, most: int) -> Iterator[Figure]:
    """For 100, 1,000 and 10,000 resources, up to ``most``, on each backend."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    sizes = [size for size in _SIZES if size <= most]
    for size in sizes:
        yield from _commands(directory / f"local{size}", size, "local", "", {}, lambda: None, dict)
    with counting_s3() as (endpoint, traffic):
        make_bucket(endpoint, "states")
        for size in sizes:
            block = _S3.format(endpoint=endpoint)
            yield from _commands(
                directory / f"s3-{size}", size, "s3", block, KEYS, traffic.begin, traffic.said
            )
    with postgres(directory / "server") as server:
        for size in sizes:
            block = _POSTGRESQL.format(uri=server.create(f"states{size}"))
            count = _Transactions(server)
            yield from _commands(
                directory / f"pg-{size}",
                size,
                "postgresql",
                block,
                {"PGPASSWORD": PASSWORD},
                count.begin,
                count.said,
            )


def _commands(
    directory: Path,
    size: int,
    backend: str,
    block: str,
    environment: Any,
    begin: Callable[[], None],
    said: Callable[[], dict[str, object]],
) -> Iterator[Figure]:
    remark(f"{backend}: {size} resources")
    directory.mkdir()
    write_nothings(directory, size)
    declared = (directory / "main.flare.hcl").read_text()
    if block:
        (directory / "backend.flare.hcl").write_text("flareiac {\n" + block + "}\n")
    os.environ.update(environment)
    flareiac(directory, "init", idle=True).run()
    steps: list[tuple[str, tuple[str, ...], str]] = [
        ("apply that creates all", ("apply", "-auto-approve"), declared),
        ("plan without changes", ("plan",), declared),
        (
            "apply that removes one",
            ("apply", "-auto-approve"),
            declared.rpartition('nothing "')[0],
        ),
    ]
    for name, words, text in steps:
        (directory / "main.flare.hcl").write_text(text)
        begin()
        run = flareiac(directory, *words, idle=True).run()
        yield Figure(
            name=f"{backend}, {size} resources: {name}",
            value=run.wall,
            unit="s",
            detail={"processor seconds": round(run.processor, 2), "megabytes": round(run.memory), **said()},
        )


class _Transactions:
    """Transactions of a server, its own questions left out."""

    def __init__(self, server: Postgres) -> None:
        self._server, self._before = server, 0

    def begin(self) -> None:
        self._before = self._count()

    def said(self) -> dict[str, object]:
        return {"transactions": self._count() - self._before - 2}

    def _count(self) -> int:
        self._server.run("SELECT pg_stat_force_next_flush()")
        [(count,)] = self._server.run("SELECT sum(xact_commit + xact_rollback)::int FROM pg_stat_database")
        return int(str(count))
