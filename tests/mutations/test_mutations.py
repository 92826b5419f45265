"""A small part of what ``python -m tests.bench mutations`` does at length."""

import os
import tempfile
from collections.abc import Iterator

import pytest

from tests.mutations.attack import Range, attack
from tests.mutations.kinds import KINDS

COUNT, SEED = 25, 20_261_122


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Range]:
    environment, kept = dict(os.environ), tempfile.tempdir
    yield Range.made(tmp_path_factory.mktemp("mutations"))
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = kept


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_told(ground: Range, kind: str) -> None:
    ended = list(attack(ground, kind, COUNT, SEED))
    assert [item for item in ended if item.wrong] == []
    assert len(ended) == COUNT
