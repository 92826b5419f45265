"""Places of remote states for tests: an S3 server, a PostgreSQL server, and what tells one test from
another.
"""

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from flareiac_state.lease import Terms
from flareiac_state.lock_file import SYSTEM_CLOCK, Clock
from flareiac_state.log_backend import LogBackend
from flareiac_state.postgresql import PostgresqlBackend
from flareiac_state.s3 import S3Backend
from tests.state.conformance import Opener
from tests.support.moto_server import aws_keys, make_bucket, moto_server
from tests.support.postgres import PASSWORD, Postgres, postgres

BUCKET: Final = "states"
_numbers: Final = itertools.count()


@dataclass(slots=True)
class Skew:
    """Seconds by which a test's clock is ahead."""

    uptime: float = 0.0
    wall: float = 0.0

    def clock(self) -> Clock:
        return Clock(wall=lambda: time.time() + self.wall, uptime=lambda: SYSTEM_CLOCK.uptime() + self.uptime)


@dataclass(slots=True)
class Remote:
    """A place that holds nothing yet, and the clock and terms of those who open it from now on."""

    backend: LogBackend
    opener: Opener
    skew: Skew = field(default_factory=Skew)

    def let_expire(self) -> None:
        """Whoever holds the lock knows no more that it does; whoever opens the place now believes it over."""
        self.skew.uptime += 61.0
        self.backend.terms = Terms(length=-1.0)


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server with a bucket; this process has keys for it."""
    with aws_keys(), moto_server() as endpoint:
        make_bucket(endpoint, BUCKET)
        yield endpoint


def s3_block(endpoint: str, prefix: str) -> str:
    """A backend block for a project. No other test has the prefix: the servers of a process share what they
    hold.
    """
    return (
        f'backend "s3" {{\n    bucket     = "{BUCKET}"\n    prefix     = "{prefix}"\n'
        f'    endpoint   = "{endpoint}"\n    region     = "us-east-1"\n    path_style = true\n  }}'
    )


def s3_place(endpoint: str) -> Remote:
    skew = Skew()
    backend = S3Backend(clock=skew.clock())
    settings = {
        "bucket": BUCKET,
        "prefix": f"team/{next(_numbers)}",
        "endpoint": endpoint,
        "region": "us-east-1",
        "path_style": True,
    }
    return Remote(backend=backend, opener=Opener(backend=backend, settings=settings), skew=skew)


@contextmanager
def postgresql_server(directory: Path) -> Iterator[Postgres]:
    """A server; this process has its password."""
    with postgres(directory) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", PASSWORD)
        yield server


def postgresql_place(server: Postgres) -> Remote:
    skew = Skew()
    backend = PostgresqlBackend(clock=skew.clock())
    settings = {"connection": server.uri("postgres"), "schema": f'a "schema" {next(_numbers)}'}
    return Remote(backend=backend, opener=Opener(backend=backend, settings=settings), skew=skew)
