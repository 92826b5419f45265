from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.lock_file import LOCK_FILE, parse_lock, read_lock, render_lock, write_lock
from tests.lang.oracle import of_library

_PART = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,10}", fullmatch=True)
_HASH = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
_LOCKS = st.dictionaries(st.builds(Coordinate, _PART, _PART, _PART), _HASH, max_size=5)


@given(_LOCKS)
def test_gives_back_what_was_written(hashes: dict[Coordinate, str]) -> None:
    assert parse_lock(render_lock(hashes)) == hashes
    _, blocks = of_library(render_lock(hashes))
    read = {labels: dict(pair[1:] for pair in body[0]) for _, _, labels, body in blocks}
    assert read == {(str(name),): {"sha256": ("literal", value)} for name, value in hashes.items()}


@given(_LOCKS)
def test_the_text_does_not_depend_on_the_order(hashes: dict[Coordinate, str]) -> None:
    assert render_lock(hashes) == render_lock(dict(reversed(hashes.items())))


@given(st.text())
def test_any_text_is_read_or_refused_with_a_diagnostic(text: str) -> None:
    failure: Failure | None = None
    try:
        parse_lock(text)
    except Failure as caught:
        failure = caught
    if failure is not None:
        assert failure.diagnostics[0].code == "FIK907"
        assert failure.diagnostics[0].subject is not None


def test_points_at_the_damaged_block() -> None:
    text = render_lock({Coordinate("g", "a", "1"): "0" * 64, Coordinate("g", "b", "1"): "1" * 64}).replace(
        "1" * 64, "tooshort"
    )
    with pytest.raises(Failure) as caught:
        parse_lock(text)
    place = caught.value.diagnostics[0].subject
    assert place is not None
    assert str(place) == f"{LOCK_FILE}:7:1"


def test_writes_only_what_changed(tmp_path: Path) -> None:
    hashes = {Coordinate("g", "a", "1"): "0" * 64}
    assert read_lock(tmp_path) is None
    assert write_lock(tmp_path, hashes)
    assert not write_lock(tmp_path, hashes)
    assert read_lock(tmp_path) == hashes
