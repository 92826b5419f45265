"""The inputs that all pairs read: their columns, and random rows for them."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Final

STREAMS: Final = ("ev", "more", "late", "dbl")
WATERMARKED: Final = {"ev": "ts", "more": "ts", "dbl": "ts"}
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "ev": {
        "id": "long",
        "k": "string",
        "k2": "string",
        "js": "string",
        "v": "long",
        "v2": "long",
        "d": "double",
        "ok": "boolean",
        "ts": "timestamptz",
        "st": "struct<a: long, b: string>",
        "arr": "list<long>",
        "m": "map<string, long>",
    },
    "more": {"id": "long", "k": "string", "w": "long", "ts": "timestamptz"},
    "lookup": {"k": "string", "factor": "long", "name": "string"},
    "dim": {"k": "string", "k2": "string", "rank": "long", "name": "string"},
}
SAME_PLACE: Final[Mapping[str, str]] = {"late": "ev", "dbl": "ev"}
"""Streams that read the folder of another one: without its watermark, and with another type."""
OTHERS: Final[Mapping[str, Mapping[str, str]]] = {
    "late": {"id": "long", "k": "string", "k2": "string", "v": "long", "v2": "long", "ts": "timestamptz"},
    "dbl": {"id": "long", "k": "string", "k2": "string", "v": "double", "v2": "long", "ts": "timestamptz"},
}
INPUTS: Final[Mapping[str, Mapping[str, str]]] = {**COLUMNS, **OTHERS}
GAINS: Final[Mapping[str, str]] = {
    "amount": "long",
    "fee": "long",
    "net": "long",
    "gross": "long",
    "total": "long",
    "n": "long",
    "x": "long",
    "rank": "long",
    "factor": "long",
    "v": "long",
    "zone": "string",
    "area": "string",
    "name": "string",
    "k2": "string",
    "tag": "string",
}
"""Columns that an input may gain. They are in the data from the beginning, and come into sight with the
declaration.
"""
_SPARK: Final = {
    "long": "BIGINT",
    "string": "STRING",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamptz": "TIMESTAMP",
}


def gains(name: str) -> dict[str, str]:
    """The columns that an input may gain: those that it does not have."""
    return {column: kind for column, kind in GAINS.items() if column not in INPUTS[name]}


def place(name: str) -> str:
    """The folder of an input."""
    return SAME_PLACE.get(name, name)


def ddl(name: str) -> str:
    """All columns of an input's data as Spark spells them."""
    return ", ".join(f"`{column}` {_spark(kind)}" for column, kind in {**INPUTS[name], **gains(name)}.items())


def _spark(kind: str) -> str:
    other = {
        "struct<a: long, b: string>": "STRUCT<a: BIGINT, b: STRING>",
        "list<long>": "ARRAY<BIGINT>",
        "map<string, long>": "MAP<STRING, BIGINT>",
    }
    return _SPARK.get(kind) or other[kind]


def frame(seed: int, part: int = 0) -> dict[str, list[dict[str, object]]]:
    """Rows for every input, with nulls, duplicates and values that differ by letter case alone.

    Another ``part`` has other rows of the streams: of later moments, and a few of those in which the part
    before it ended.
    """
    dice = random.Random(f"frame {seed}")
    rows = {name: [_row(dice, name, number, 0) for number in range(6)] for name in ("lookup", "dim")}
    dice = random.Random(f"frame {seed} {part}")
    for name, count in (("ev", 22), ("more", 14)):
        found = [_row(dice, name, number, part) for number in range(count)]
        rows[name] = [*found, *dice.sample(found, 3)]
    return rows


def land(folder: Path, rows: Mapping[str, list[dict[str, object]]], number: int = 0) -> None:
    """One JSON file for each input, in a folder of its name."""
    for name, found in rows.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row) + "\n" for row in found)
        (folder / name / f"{number:04}.json").write_text(text, encoding="utf-8")


def _row(dice: random.Random, name: str, number: int, part: int) -> dict[str, object]:
    columns = {**COLUMNS[name], **gains(name)}
    row = {column: _value(dice, column, kind, part) for column, kind in columns.items()}
    if "id" in row:
        row["id"] = number + 100 * part
    if name in ("lookup", "dim"):
        row["k"] = ["a", "A", "b", "c", "c", None][number]
    return row


def _value(dice: random.Random, column: str, kind: str, part: int) -> object:
    if column not in ("id", "ts") and dice.random() < 0.12:
        return None
    match kind:
        case "long":
            return dice.randrange(-3, 12) + (100 if column in GAINS else 0)
        case "double":
            return dice.choice([0.0, 0.5, 1.0, 2.25, -1.5])
        case "boolean":
            return dice.random() < 0.5
        case "timestamptz":
            hour, first, last = (
                ((part - 1) * 2, 45, 60) if part and dice.random() < 0.4 else (part * 2, 0, 50)
            )
            return f"2026-01-01T{hour:02}:{dice.randrange(first, last):02}:{dice.randrange(0, 60):02}Z"
        case "string" if column == "js":
            return json.dumps(
                {
                    "a": dice.randrange(4),
                    "A": dice.randrange(4, 8),
                    "b": dice.choice("xyz"),
                    "B": "Q",
                    "c": [1, dice.randrange(3)],
                }
            )
        case "string":
            return dice.choice(
                ["a", "A", "b", "c", "B "] if column in ("k", "k2") else ["a", "b", "k2", "z", "Z"]
            )
        case "list<long>":
            return [dice.randrange(5) for _ in range(dice.randrange(4))]
        case "map<string, long>":
            return {"a": dice.randrange(5), "A": dice.randrange(5, 9), "b": 1}
        case _:
            return {"a": dice.randrange(5), "b": dice.choice(["x", "X", "y"])}
