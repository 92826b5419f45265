"""The conformance suite on the remote stores, each on a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.sdk.state import StateStore
from tests.state.conformance import Opener, StateStoreConformance
from tests.state.remote_places import (
    Remote,
    postgresql_place,
    postgresql_server,
    s3_place,
    s3_server,
)
from tests.support.postgres import Postgres


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with postgresql_server(tmp_path_factory.mktemp("postgres") / "server") as server:
        yield server


class RemoteConformance(StateStoreConformance):
    remote: Remote

    def let_expire(self, store: StateStore) -> None:
        self.remote.let_expire()

    def let_time_pass(self) -> None:
        self.remote.skew.uptime += 61.0


class TestS3(RemoteConformance):
    @pytest.fixture
    def place(self, tmp_path: Path, s3: str) -> Opener:
        self.remote = s3_place(s3)
        return self.remote.opener


class TestPostgresql(RemoteConformance):
    @pytest.fixture
    def place(self, tmp_path: Path, database: Postgres) -> Opener:
        self.remote = postgresql_place(database)
        return self.remote.opener
