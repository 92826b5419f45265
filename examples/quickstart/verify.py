"""Compares the tables with the source: every flight exactly once, every hour complete. Reads with pyiceberg,
needs no Spark.

    python verify.py ARCHIVE PROJECT [--wait SECONDS] [--delay sum|max]

Prints what it counted; exits with 1 and says what differs when something does.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from examples.lake import Lake
from examples.quickstart.source import Flight, read_airlines, read_flights

_DELAY: dict[str, Callable[[list[int]], int]] = {"sum": sum, "max": max}


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected rows, by the source. Hours are UTC and start at the full hour; ``hours`` counts flights,
    ``delayed`` those over 15 minutes late.

    ``minutes`` are the departure delays of each hour, without those of cancelled flights.
    """

    carriers: dict[int, str]
    names: dict[str, str]
    hours: Counter[tuple[datetime, str]]
    minutes: dict[tuple[datetime, str], list[int]]
    delayed: int
    cancelled: int


def main() -> None:
    """Waits, compares, prints; the exit code is the answer."""
    parser = argparse.ArgumentParser(description="Compares the tables with the source.")
    parser.add_argument("archive", type=Path)
    parser.add_argument("project", type=Path)
    parser.add_argument(
        "--wait", type=float, default=0.0, help="how long to wait for the last rows, in seconds"
    )
    parser.add_argument(
        "--delay", choices=list(_DELAY), default="sum", help="what delay_minutes is of an hour's delays"
    )
    options = parser.parse_args()
    expected = expect(options.archive)
    wait_for(options.project, expected, time.monotonic() + options.wait)
    wrong = [
        *compare_flights(options.project, expected),
        *compare_delays(options.project, expected, options.delay),
    ]
    for line in wrong:
        print(f"WRONG: {line}")
    print("Not as in the source." if wrong else "Every flight is there exactly once.")
    sys.exit(1 if wrong else 0)


def expect(archive: Path) -> Expected:
    """Reads the source."""
    carriers: dict[int, str] = {}
    hours: Counter[tuple[datetime, str]] = Counter()
    minutes: dict[tuple[datetime, str], list[int]] = defaultdict(list)
    delayed = cancelled = 0
    for flight in read_flights(archive):
        carriers[flight.flight_id] = flight.row["carrier"]
        hour = (_hour(flight), flight.row["carrier"])
        hours[hour] += 1
        cancelled += flight.row["dep_time"] == "NA"
        if flight.row["dep_delay"] != "NA":
            minutes[hour].append(int(flight.row["dep_delay"]))
            delayed += minutes[hour][-1] > 15
    names = {row["carrier"]: row["name"].strip() for row in read_airlines(archive)}
    return Expected(carriers, names, hours, minutes, delayed, cancelled)


def wait_for(project: Path, expected: Expected, deadline: float) -> None:
    """Returns when both tables hold as many rows as they should (or more), or when the time is over."""
    wanted = {"flights": len(expected.carriers), "delays_per_hour": len(expected.hours)}
    while (
        any(row_count(project, name) < count for name, count in wanted.items())
        and time.monotonic() < deadline
    ):
        time.sleep(2)


def row_count(project: Path, name: str) -> int:
    """The rows of a table that only grows, as its last snapshot counts them; 0 before the first one."""
    snapshot = Lake(project).load_table(f"demo.{name}").current_snapshot()
    return int(snapshot.summary["total-records"] or 0) if snapshot and snapshot.summary else 0


def compare_flights(project: Path, expected: Expected) -> list[str]:
    """The differences of the table ``flights`` from the source."""
    rows = _read(project, "flights", "flight_id", "carrier", "airline", "cancelled")
    seen = Counter(row["flight_id"] for row in rows)
    found = {row["flight_id"]: row for row in rows}
    print(f"source:          {len(expected.carriers):>8,} flights, {len(expected.names)} airlines")
    print(f"flights:         {len(rows):>8,} rows, {len(seen):,} distinct flights")
    wrong = []
    if missing := expected.carriers.keys() - seen.keys():
        wrong.append(f"{len(missing)} flights are missing, such as {sorted(missing)[:5]}")
    if extra := seen.keys() - expected.carriers.keys():
        wrong.append(f"{len(extra)} rows are no flights of the source, such as {sorted(extra)[:5]}")
    if twice := [flight for flight, count in seen.items() if count > 1]:
        wrong.append(f"{len(twice)} flights are there more than once, such as {sorted(twice)[:5]}")
    mixed = [
        key
        for key, row in found.items()
        if key in expected.carriers and not _same(row, expected.carriers[key], expected.names)
    ]
    if mixed:
        wrong.append(f"{len(mixed)} flights have another carrier or airline, such as {sorted(mixed)[:5]}")
    if (cancelled := sum(row["cancelled"] for row in found.values())) != expected.cancelled:
        wrong.append(f"{cancelled:,} flights are cancelled, in the source {expected.cancelled:,}")
    return wrong


def compare_delays(project: Path, expected: Expected, delay: str) -> list[str]:
    """The differences of the table ``delays_per_hour`` from the source."""
    rows = _read(project, "delays_per_hour", "hour_start", "carrier", "flights", "delayed", "delay_minutes")
    counted: Counter[tuple[datetime, str]] = Counter()
    for row in rows:
        counted[row["hour_start"], row["carrier"]] += row["flights"]
    delayed = sum(row["delayed"] for row in rows)
    print(
        f"delays_per_hour: {len(rows):>8,} rows, {counted.total():,} flights in them, {delayed:,} of them "
        "delayed"
    )
    wrong = []
    if len(rows) != len(counted):
        wrong.append(f"{len(rows) - len(counted)} hours are there more than once")
    if differ := [
        key for key in counted.keys() | expected.hours.keys() if counted[key] != expected.hours[key]
    ]:
        hour, carrier = min(differ)
        numbers = f"{counted[hour, carrier]} for {expected.hours[hour, carrier]}"
        wrong.append(
            f"{len(differ)} hours count other flights than the source, such as {hour:%Y-%m-%d %H:%M} "
            f"{carrier}: {numbers}"
        )
    minutes = {(row["hour_start"], row["carrier"]): row["delay_minutes"] for row in rows}
    if other := [
        hour for hour in expected.hours if minutes.get(hour) != _delay(delay, expected.minutes.get(hour))
    ]:
        hour, carrier = min(other)
        numbers = f"{minutes.get((hour, carrier))} for {_delay(delay, expected.minutes.get((hour, carrier)))}"
        wrong.append(
            f"{len(other)} hours have another {delay} of delays, such as {hour:%Y-%m-%d %H:%M} {carrier}: "
            f"{numbers}"
        )
    if delayed != expected.delayed:
        wrong.append(f"{delayed:,} flights are delayed, in the source {expected.delayed:,}")
    return wrong


def _delay(kind: str, minutes: list[int] | None) -> int | None:
    """As SQL does it: null of nothing."""
    return _DELAY[kind](minutes) if minutes else None


def _same(row: dict[str, Any], carrier: str, names: dict[str, str]) -> bool:
    return bool(row["carrier"] == carrier and row["airline"] == names[carrier])


def _hour(flight: Flight) -> datetime:
    return flight.scheduled_departure.replace(minute=0)


def _read(project: Path, name: str, *columns: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        Lake(project).load_table(f"demo.{name}").scan(selected_fields=columns).to_arrow().to_pylist()
    )
    return rows


if __name__ == "__main__":
    main()
