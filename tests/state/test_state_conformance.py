"""The conformance suite on the stores there are."""

import json
from pathlib import Path

import pytest

from flareiac.sdk.state import StateStore
from flareiac_state import local_backend
from tests.state.conformance import StateStoreConformance
from tests.state.memory_store import MemoryStore


class TestMemory(StateStoreConformance):
    @pytest.fixture
    def store(self) -> StateStore:
        return MemoryStore()

    def reopened(self, store: StateStore) -> StateStore:
        assert isinstance(store, MemoryStore)
        return MemoryStore(store.place)

    def let_expire(self, store: StateStore) -> None:
        assert isinstance(store, MemoryStore)
        store.expire()


class TestLocal(StateStoreConformance):
    @pytest.fixture(autouse=True)
    def root(self, tmp_path: Path) -> Path:
        self.path = tmp_path
        return tmp_path

    @pytest.fixture
    def store(self, root: Path) -> StateStore:
        return self._open()

    def reopened(self, store: StateStore) -> StateStore:
        return self._open()

    def let_expire(self, store: StateStore) -> None:
        file = self.path / ".flareiac/state/default/lock.json"
        lock = json.loads(file.read_text())
        del lock["digest"]
        lock["info"]["expires"] = lock["expires_uptime"] = 0.0
        file.write_text(json.dumps(lock))

    def _open(self) -> StateStore:
        return local_backend().open(
            {}, root=str(self.path), workspace="default", environment={"USER": "tester"}
        )
