"""A small part of what ``python -m tests.bench mutations`` does at length."""

from pathlib import Path

import pytest

from tests.mutations.kinds import KINDS, attack, prepare

COUNT, SEED = 25, 20_261_122


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mutations") / "project"
    root.mkdir()
    prepare(root)
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_told(project: Path, kind: str) -> None:
    found = list(attack(project, kind, COUNT, SEED))
    assert found == []
