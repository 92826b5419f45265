"""The conformance suite on the stores there are."""

import json
from pathlib import Path

import pytest

from flareiac.sdk.state import StateStore
from flareiac_state import local_backend
from tests.state.conformance import Opener, StateStoreConformance
from tests.state.memory_store import MemoryBackend, MemoryStore


class TestMemory(StateStoreConformance):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Opener:
        return Opener(backend=MemoryBackend())

    def let_expire(self, store: StateStore) -> None:
        assert isinstance(store, MemoryStore)
        store.expire()


class TestLocal(StateStoreConformance):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Opener:
        self.path = tmp_path
        return Opener(backend=local_backend(), root=str(tmp_path))

    def let_expire(self, store: StateStore) -> None:
        file = self.path / ".flareiac/state/default/lock.json"
        lock = json.loads(file.read_text())
        del lock["digest"]
        lock["info"]["expires"] = lock["expires_uptime"] = 0.0
        file.write_text(json.dumps(lock))
