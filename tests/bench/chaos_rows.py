"""The files that land while things are killed. A row's values follow from the seed and its number alone."""

import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

Row = Mapping[str, Any]

COLUMNS: Final = {
    "id": "long",
    "k": "long",
    "n": "long",
    "part": "string",
    "city": "string",
    "gone": "boolean",
    "ts": "timestamptz",
}
BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
STEP: Final = timedelta(minutes=1)
"""Between the first moments of two files; the rows of a file lie within one and a half of it, so that no row
is ever late.
"""
_KEYS, _CITIES = 30, ("Rome", "Oslo", "Bern")
_TURNS: Final = 6
"""After so many files the parts come again. Spark may put two files into a batch of one after it was
interrupted: it writes down that a file was seen before it writes down the batch. So neighbouring files share
no part.
"""
_APART: Final = 0.06
"""Seconds between two files: Spark sorts them by the time of their last change, and lists them while they
come.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file that landed at once. ``k`` is unique within a file; the rows lie in one or two parts."""

    number: int
    rows: Sequence[Row]


def file_of(seed: int | str, number: int, first_id: int) -> File:
    """The file of this number."""
    chance = random.Random(f"{seed}/file/{number}")
    parts = chance.sample([f"{number % _TURNS}{side}" for side in "ab"], chance.randint(1, 2))
    keys = chance.sample(range(_KEYS), chance.randint(4, 12))
    since = BEGIN + number * STEP
    rows = [
        {
            "id": first_id + at,
            "k": key,
            "n": chance.randint(1, 100),
            "part": parts[0] if at == 0 else chance.choice(parts),
            "city": chance.choice(_CITIES),
            "gone": chance.random() < 0.15,
            "ts": since + timedelta(seconds=chance.randint(0, 89)),
        }
        for at, key in enumerate(keys)
    ]
    return File(number=number, rows=rows)


class Feed(Protocol):
    """The source of the rows, and the number of them to read in the end."""

    @property
    def declared(self) -> str:
        """Blocks that a project needs to read it."""

    @property
    def figures(self) -> dict[str, object]:
        """The number of rows, for the report."""

    def land(self, count: int) -> None:
        """So much more."""

    def resume(self) -> None:
        """From now on rows may come at any time."""

    def rest(self) -> None:
        """No more rows come until they are asked for. Raises ``RuntimeError`` where some were lost."""

    def files(self, name: str) -> Sequence[File]:
        """All that the scenario of this name has to read, at rest."""

    def close(self) -> None:
        """Ends what runs."""


class Landing:
    """A folder that files land in, each at once and whole."""

    declared = ""

    def __init__(self, root: Path, seed: int) -> None:
        self.folder, self.scratch, self.seed = root / "landing", root / ".landing", seed
        self.folder.mkdir()
        self.landed: list[File] = []
        self.rows = 0

    @property
    def figures(self) -> dict[str, object]:
        return {"files": len(self.landed), "rows landed": self.rows}

    def land(self, count: int) -> None:
        """So many more files."""
        for _ in range(count):
            file = file_of(self.seed, len(self.landed), self.rows)
            self.scratch.write_text(
                "".join(json.dumps({**row, "ts": row["ts"].isoformat()}) + "\n" for row in file.rows)
            )
            self.scratch.replace(self.folder / f"{file.number:05}.json")
            self.landed.append(file)
            self.rows += len(file.rows)
            time.sleep(_APART)

    def resume(self) -> None:
        """Files land where they are asked for only."""

    def rest(self) -> None:
        """It always rests."""

    def files(self, name: str) -> Sequence[File]:
        """All scenarios read the same files."""
        del name
        return self.landed

    def close(self) -> None:
        """Nothing runs."""
