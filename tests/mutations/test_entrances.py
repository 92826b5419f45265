"""A small part of what ``python -m tests.bench entrances`` does at length."""

import mmap
import os

import pytest

from tests.mutations.entrances.all import ENTRANCES
from tests.mutations.entrances.run import Fall, throw

SEED = 20_261_127
_IN_TURNS = [name for name, item in ENTRANCES.items() if item.memory is not None]
_PLAIN = [name for name in ENTRANCES if name not in _IN_TURNS]
_OF = 4


@pytest.mark.parametrize("name", _PLAIN)
def test_a_few_inputs_end_well(name: str) -> None:
    assert _falls(name, 100) == []


def test_a_large_parent_does_not_count() -> None:
    """Addresses of the process that is forked are no memory that an input took."""
    with mmap.mmap(-1, 6 * 2**30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ):
        assert _falls("files", 3) == []


@pytest.mark.skipif(
    os.geteuid() != 0, reason="the project is at a fixed place, which takes a mount of its own"
)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.turn(at % _OF, _OF)) for at, name in enumerate(_IN_TURNS)]
)
def test_a_project_that_runs_is_looked_at(name: str) -> None:
    assert _falls(name, 25) == []


def _falls(name: str, count: int) -> list[Fall]:
    return [item for item in throw(ENTRANCES[name], range(count), SEED) if isinstance(item, Fall)]
