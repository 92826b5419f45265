"""The number that says which state manages a topic: a law over lineages, and what is never taken for one."""

import uuid
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac_kafka.broker.cluster import ConfigValue
from flareiac_kafka.topic.managed_by import (
    MARK_SETTING,
    another_state,
    can_be_marked,
    is_own_state,
    manager_of,
    mark_of,
)

NEVER: Final = str(2**63 - 1)
UUIDS: Final = st.uuids().map(str)


def config(value: str | None, *, own: bool) -> dict[str, ConfigValue]:
    return {MARK_SETTING: ConfigValue(value=value, is_own=own)}


@given(UUIDS, UUIDS)
def test_a_mark_names_its_state_and_no_other(lineage: str, other: str) -> None:
    mark = mark_of(lineage)
    assert mark is not None
    assert 2**62 <= int(mark) < 2**63 - 1, "a broker never flushes by it"
    manager = manager_of(config(mark, own=True))
    assert uuid.UUID(lineage).hex.startswith(manager)
    assert len(manager) == 12
    assert is_own_state(manager, lineage)
    assert another_state(manager, lineage) == ""
    expected = "" if uuid.UUID(other).hex.startswith(manager) else manager
    assert another_state(manager, other) == expected


@given(st.integers(min_value=0, max_value=2**62).map(str) | st.sampled_from([NEVER, "", "many", "-1"]))
def test_what_operators_write_is_no_mark(value: str) -> None:
    assert manager_of(config(value, own=True)) == ""


def test_a_default_of_the_broker_is_no_mark() -> None:
    assert manager_of(config(mark_of(str(uuid.uuid4())), own=False)) == ""


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (config(NEVER, own=False), True),
        (config("10000", own=False), False),
        (config("10000", own=True), False),
        (config(NEVER, own=True), False),
        ({}, False),
        (config(mark_of(str(uuid.uuid4())), own=True), True),
    ],
    ids=["default", "broker-flushes", "topic-flushes", "written-out", "no-such-setting", "marked"],
)
def test_only_a_default_that_never_flushes_is_replaced(found: dict[str, ConfigValue], expected: bool) -> None:
    assert can_be_marked(found) is expected


def test_a_state_whose_lineage_is_not_known_marks_nothing_and_knows_of_no_other() -> None:
    assert mark_of("") is None
    assert another_state("3f2a9c1e77b2", "") == ""
