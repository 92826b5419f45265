from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from examples.quickstart.verify import Expected, compare_delays, compare_flights

_HOUR = datetime(2013, 1, 1, 10, tzinfo=UTC)
_EXPECTED = Expected(
    {1: "UA", 2: "B6"},
    {"UA": "United", "B6": "JetBlue"},
    Counter({(_HOUR, "UA"): 1, (_HOUR, "B6"): 1}),
    {(_HOUR, "UA"): [3, 16]},
    1,
    0,
)
_FLIGHTS = [
    {"flight_id": 1, "carrier": "UA", "airline": "United", "cancelled": False},
    {"flight_id": 2, "carrier": "B6", "airline": "JetBlue", "cancelled": False},
]
_HOURS = [
    {"hour_start": _HOUR, "carrier": "UA", "flights": 1, "delayed": 1, "delay_minutes": 19},
    {"hour_start": _HOUR, "carrier": "B6", "flights": 1, "delayed": 0, "delay_minutes": None},
]


def _with(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]) -> None:
    monkeypatch.setattr("examples.quickstart.verify._read", lambda *_given: rows)


def test_what_is_as_in_the_source_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, _FLIGHTS)
    assert compare_flights(Path(), _EXPECTED) == []
    _with(monkeypatch, _HOURS)
    assert compare_delays(Path(), _EXPECTED, "sum") == []
    (wrong,) = compare_delays(Path(), _EXPECTED, "max")
    assert "1 hours have another max of delays, such as 2013-01-01 10:00 UA: 19 for 16" in wrong


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (_FLIGHTS[:1], "1 flights are missing, such as [2]"),
        ([*_FLIGHTS, _FLIGHTS[0]], "1 flights are there more than once, such as [1]"),
        ([*_FLIGHTS, {**_FLIGHTS[0], "flight_id": 0}], "1 rows are no flights of the source, such as [0]"),
        ([_FLIGHTS[0], {**_FLIGHTS[1], "airline": None}], "another carrier or airline, such as [2]"),
        ([_FLIGHTS[0], {**_FLIGHTS[1], "cancelled": True}], "1 flights are cancelled, in the source 0"),
    ],
)
def test_a_wrong_flight_is_found(
    monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]], says: str
) -> None:
    _with(monkeypatch, rows)
    (wrong,) = compare_flights(Path(), _EXPECTED)
    assert says in wrong


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (_HOURS[:1], "such as 2013-01-01 10:00 B6: 0 for 1"),
        ([*_HOURS, {**_HOURS[1], "flights": 0}], "1 hours are there more than once"),
        ([{**_HOURS[0], "delayed": 0}, _HOURS[1]], "0 flights are delayed, in the source 1"),
    ],
)
def test_a_wrong_hour_is_found(
    monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]], says: str
) -> None:
    _with(monkeypatch, rows)
    (wrong, *_) = compare_delays(Path(), _EXPECTED, "sum")
    assert says in wrong
