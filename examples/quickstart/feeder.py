"""Lands the airlines, then the flights as one file of JSON lines for each day, oldest day first, one after
the other.

    python feeder.py ARCHIVE LANDING [--pace SECONDS]

A file appears under its name all at once. The last one holds a single row far in the future that no result
counts: it only says that nothing older will come. Started again, the feeder goes on with the first day that
is not there.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from datetime import date
from pathlib import Path

from examples.quickstart.source import Flight, read_airlines, read_flights

MARKER = "9999-end-of-data.json"
_NUMBERS = ("flight", "dep_time", "dep_delay", "arr_delay", "distance")
_TEXTS = ("carrier", "tailnum", "origin", "dest")


def main() -> None:
    """Lands everything and ends."""
    parser = argparse.ArgumentParser(description="Lands flights as files.")
    parser.add_argument("archive", type=Path)
    parser.add_argument("landing", type=Path)
    parser.add_argument("--pace", type=float, default=0.4, help="seconds between two days")
    parser.add_argument(
        "--days", type=int, default=None, help="stop after so many days, without the last file"
    )
    options = parser.parse_args()
    feed(options.archive, options.landing, pace=options.pace, days=options.days)


def feed(archive: Path, landing: Path, *, pace: float, days: int | None = None) -> None:
    """Lands the airlines and then a day every ``pace`` seconds."""
    land(landing / "airlines" / "airlines.json", [json.dumps(row) for row in read_airlines(archive)])
    by_day: dict[date, list[str]] = defaultdict(list)
    for flight in read_flights(archive):
        by_day[flight.day].append(as_json(flight))
    for day in sorted(by_day)[:days]:
        target = landing / "flights" / f"{day}.json"
        if not target.exists():
            land(target, by_day[day])
            time.sleep(pace)
    if days is None:
        land(
            landing / "flights" / MARKER,
            [json.dumps({"flight_id": 0, "scheduled_departure": "2200-01-01T00:00:00Z"})],
        )


def as_json(flight: Flight) -> str:
    """One line: numbers as numbers, "NA" as null."""
    row = flight.row
    texts = {name: None if row[name] in ("NA", "") else row[name] for name in _TEXTS}
    numbers = {name: None if row[name] in ("NA", "") else int(row[name]) for name in _NUMBERS}
    moment = flight.scheduled_departure.strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps({"flight_id": flight.flight_id, "scheduled_departure": moment, **texts, **numbers})


def land(target: Path, lines: list[str]) -> None:
    """Writes a file out of sight and moves it to its name: a reader sees all of it or nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    arriving = target.with_name(f".{target.name}.{os.getpid()}")
    arriving.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    arriving.replace(target)


if __name__ == "__main__":
    main()
