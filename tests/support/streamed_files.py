"""Random files of a streamed folder, and what must become of each of their records: read by Python's own
modules, never by Spark.
"""

import csv
import gzip
import io
import json
import math
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from types import NoneType
from typing import Any, Final
from urllib.parse import unquote

COLUMNS: Final = {
    "json": {
        "id": "long!",
        "name": "string",
        "amount": "decimal(12,2)",
        "flag": "boolean",
        "dt": "string",
        "place": "struct<city: string, parts: list<struct<k: long>>>",
        "ratio": "double",
    },
    "csv": {"id": "long!", "name": "string", "amount": "decimal(12,2)", "note": "string"},
    "parquet": {"id": "long!", "name": "string", "dt": "string"},
    "text": {"value": "string"},
}
"""By format; a "!" ends the type of what is required."""
Row = tuple[Any, ...]
_STEMS: Final = (
    "plain",
    "a b",
    " blank first",
    "export (2)[final]",
    "x[1]",
    "[ab]",
    "{a,b}",
    "a{b}",
    "star*",
    "*",
    "what?",
    "back\\slash",
    "h%20x",
    "100%",
    "%",
    "a+b",
    "a#b",
    "a&b=c",
    "quote'quote",
    'double"double',
    "grüße",
    "日本",
    "semi;colon,comma",
    "-dash",
    "dollar${x}",
    "tilde~",
    "e\u0301",
    "a.b.c",
    "line\nbreak",
)
_HIDDEN: Final = ("_hidden", ".hidden", "_", "._x")
_FOLDERS: Final = (
    "",
    "",
    "",
    "sub",
    "2026/11",
    "x [1]/y{2}",
    "dt=2026-01-02",
    "dt=a b",
    "dt=a%2Fb",
    "dt=1+1",
    "dt=[x]",
    "dt=__HIVE_DEFAULT_PARTITION__",
    "n=1/dt=z",
    "_temporary",
    ".snapshots",
    "_tmp/inner",
)
_DAY: Final = 86_400
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")


@dataclass
class Expected:
    """Rows that a table must hold, and how many bad records of each file are kept."""

    rows: Counter[Row] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=Counter)
    files: int = 0


class Landing:
    """A folder in which random files land. ``now`` in seconds since 1970."""

    def __init__(self, folder: Path, file_format: str, chance: random.Random, now: float) -> None:
        self.folder, self.format, self._chance, self._now = folder, file_format, chance, now
        self.expected = Expected()
        self.options = {"header": "true"} if file_format == "csv" and chance.random() < 0.5 else {}
        self._ids = iter(range(1, 1 << 30))
        folder.mkdir(parents=True, exist_ok=True)

    def land(self, files: int) -> None:
        """That many new files."""
        for _ in range(files):
            self._file()

    def _file(self) -> None:
        chance = self._chance
        below = chance.choice(_FOLDERS)
        stem = chance.choice(_HIDDEN) if chance.random() < 0.05 else chance.choice(_STEMS)
        content = {"json": self._json, "csv": self._csv, "parquet": self._parquet, "text": self._text}[
            self.format
        ]()
        packed = self.format != "parquet" and chance.random() < 0.15
        name = f"{stem}{chance.randrange(1 << 30)}.{self.format}{'.gz' if packed else ''}"
        path = self.folder / below / name
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = self.folder.parent / f"{self.folder.name}.staged"
        staged.write_bytes(gzip.compress(content) if packed else content)
        age = chance.choice((0, 0, 3600, _DAY, 8 * _DAY, 400 * _DAY, 9_000 * _DAY, -2 * _DAY))
        os.utime(staged, (self._now - age, self._now - age))
        staged.rename(path)
        self.expected.files += 1
        parts = path.relative_to(self.folder).parts
        if not any(part.startswith(("_", ".")) for part in parts):
            self._expect(path, content, _folder_value(parts[:-1]))

    def _expect(self, path: Path, content: bytes, dt: str | None) -> None:
        read: dict[str, Callable[[bytes], Iterator[Row | None]]] = {
            "json": lambda data: _json_rows(data, dt),
            "csv": lambda data: _csv_rows(data, header="header" in self.options),
            "parquet": lambda data: _parquet_rows(data, dt),
            "text": _text_rows,
        }
        for row in read[self.format](content):
            if row is None:
                self.expected.bad[str(path)] += 1
            else:
                self.expected.rows[row] += 1

    # Content

    def _json(self) -> bytes:
        chance = self._chance
        lines = [self._json_line() for _ in range(chance.randrange(0, 5))]
        end = chance.choice((b"\n", b"\r\n"))
        mark = b"\xef\xbb\xbf" if chance.random() < 0.1 else b""
        return mark + end.join(lines) + (end if chance.random() < 0.7 else b"")

    def _json_line(self) -> bytes:
        chance, number = self._chance, next(self._ids)
        good = {
            "id": number,
            "name": chance.choice(("Ada", "Größe", 'say "hi"', "a,b", "", None)),
            "amount": chance.choice((12.5, 3, "12.50", "-7", None)),
            "flag": chance.choice((True, False, None)),
        }
        kinds: dict[str, Callable[[], Any]] = {
            "good": lambda: good,
            "sparse": lambda: {"id": number},
            "own dt": lambda: {**good, "dt": "own"},
            "new field": lambda: {**good, "other": [1, {"x": 2}]},
            "other case": lambda: {"ID": number, "Name": "x"},
            "one in other case": lambda: {"id": number, "NAME": "x"},
            "renamed": lambda: {"orderId": number, "total": 3},
            "empty": dict,
            "comma": lambda: {**good, "amount": "12,50"},
            "thousands": lambda: {**good, "amount": "1,000.50"},
            "misfit": lambda: {**good, "id": "x"},
            "text for flag": lambda: {**good, "flag": "maybe"},
            "no id": lambda: {**good, "id": None},
            "list": lambda: [1, 2],
            "ratio": lambda: {**good, "ratio": chance.choice((1e300, 0.5, -3))},
            "infinite": lambda: {**good, "ratio": float("inf")},
            "too large": lambda: {**good, "ratio": "too large"},
            "place": lambda: {**good, "place": {"city": "x", "parts": [{"k": 1}, {"k": None, "n": 2}, None]}},
            "empty place": lambda: {**good, "place": {}},
            "place in other case": lambda: {**good, "place": {"City": "x", "parts": []}},
            "part in other case": lambda: {**good, "place": {"city": "x", "parts": [{"k": 1}, {"K": 2}]}},
            "misfit in a part": lambda: {**good, "place": {"parts": [{"k": "x"}]}},
        }
        if chance.random() < 0.6:
            kind = "good"
        else:
            kind = chance.choice((*kinds, "two", "cut", "latin", "blank", "nonsense"))
        match kind:
            case "two":
                return json.dumps(good).encode() + b" " + json.dumps({"id": next(self._ids)}).encode()
            case "cut":
                return json.dumps(good).encode()[:-3]
            case "latin":
                return json.dumps({**good, "name": "Größe"}, ensure_ascii=False).encode("latin-1")
            case "blank":
                return b"  "
            case "nonsense":
                return b"nonsense"
            case _:
                pass
        text = json.dumps(kinds[kind](), ensure_ascii=chance.random() < 0.5)
        return text.replace('"too large"', "1e400").encode()

    def _csv(self) -> bytes:
        chance, out = self._chance, io.StringIO()
        writer = csv.writer(
            out,
            lineterminator=chance.choice(("\n", "\r\n")),
            quoting=chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC)),
        )
        names = list(COLUMNS["csv"])
        if "header" in self.options:
            writer.writerow([name.upper() if chance.random() < 0.2 else name for name in names])
        for at in range(chance.randrange(1, 5)):
            row = self._csv_row(names)
            if at == 0:  # the first line shows how lines end
                row = [item.replace("\n", " ") if isinstance(item, str) else item for item in row]
            writer.writerow(row)
        text = out.getvalue()
        mark = "\ufeff" if "header" in self.options and chance.random() < 0.1 else ""
        if chance.random() < 0.1:
            return text.encode("latin-1", errors="ignore")
        return (mark + text).encode()

    def _csv_row(self, names: list[str]) -> list[Any]:
        chance, number = self._chance, next(self._ids)
        texts = ("Ada", "Größe", 'the "first"', '"all"', "a,b", 'a "b", c', "two\nlines", '5" pipe', "'x'")
        good = [number, chance.choice(texts), chance.choice(("12.50", "3", "-7.1")), chance.choice(texts)]
        if chance.random() < 0.7:
            return good
        return chance.choice(
            (
                [number, good[1], "12,50", "x"],
                [number, good[1], "x", "x"],
                ["x", good[1], "1", "x"],
                good[:3],
                [*good, "more"],
                names,
                ["nine", "bad", "1.0", 'q""'],
            )
        )

    def _parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = self._chance.randrange(0, 4)
        columns = {
            "id": pa.array([next(self._ids) for _ in range(count)], pa.int64()),
            "name": pa.array(["x"] * count, pa.string()),
        }
        if self._chance.random() < 0.3:
            columns["dt"] = pa.array(["own"] * count, pa.string())
        if self._chance.random() < 0.2:
            columns["more"] = pa.array([1] * count, pa.int32())
        out = io.BytesIO()
        pq.write_table(pa.table(columns), out)
        return out.getvalue()

    def _text(self) -> bytes:
        lines = [
            self._chance.choice(("one", "größe", "", "  x ", f"n {next(self._ids)}"))
            for _ in range(self._chance.randrange(0, 4))
        ]
        return "".join(f"{line}\n" for line in lines).encode()


def _folder_value(folders: tuple[str, ...]) -> str | None:
    found = next((part.removeprefix("dt=") for part in folders if part.startswith("dt=")), None)
    return None if found in (None, "__HIVE_DEFAULT_PARTITION__") else unquote(str(found))


def _json_rows(data: bytes, dt: str | None) -> Iterator[Row | None]:
    for line in data.replace(b"\r\n", b"\n").split(b"\n"):
        bare = line.removeprefix(b"\xef\xbb\xbf")
        if bare.strip(b" \t\r"):
            yield _json_row(bare, dt)


def _json_row(line: bytes, dt: str | None) -> Row | None:
    try:
        record = json.loads(line.decode("utf-8"), parse_float=Decimal)
    except ValueError:
        return None
    names = list(COLUMNS["json"])
    if not isinstance(record, dict):
        return None
    values = [record.get(name) for name in names]
    place = record.get("place")
    if (None in values or _lacks(place)) and (_other_case(record, names) or _place_in_other_case(place)):
        return None
    if all(value is None for value in values) and not set(names) & set(record):
        return None
    number, name, amount, flag, own, place, ratio = values
    if isinstance(ratio, Decimal) and math.isinf(float(ratio)):
        return None
    if type(number) is not int or not isinstance(flag, bool | None):
        return None
    if isinstance(amount, str) and not _NUMBER.fullmatch(amount):
        return None
    if any(type(k) not in (int, NoneType) for k in (part.get("k") for part in _parts(place))):
        return None
    return (
        number,
        name,
        _decimal(amount),
        flag,
        dt if own is None else own,
        flat(_as_read(place)),
        _double(ratio),
    )


def _double(ratio: Any) -> float | None:
    return None if ratio is None else float(ratio)


def flat(value: Any) -> Any:
    """A value that can be counted: nested ones as text."""
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def _parts(place: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [part for part in (place or {}).get("parts") or () if part is not None]


def _lacks(place: dict[str, Any] | None) -> bool:
    fields = (place or {}).get("city"), (place or {}).get("parts")
    return place is not None and (None in fields or any(part.get("k") is None for part in _parts(place)))


def _other_case(record: dict[str, Any], names: list[str]) -> bool:
    return any(key not in names and key.lower() in names for key in record)


def _place_in_other_case(place: dict[str, Any] | None) -> bool:
    parts = any(_other_case(part, ["k"]) for part in _parts(place))
    return parts or _other_case(place or {}, ["city", "parts"])


def _as_read(place: dict[str, Any] | None) -> dict[str, Any] | None:
    if place is None:
        return None
    parts = place.get("parts")
    read = None if parts is None else [None if part is None else {"k": part.get("k")} for part in parts]
    return {"city": place.get("city"), "parts": read}


def _csv_rows(data: bytes, *, header: bool) -> Iterator[Row | None]:
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    for at, fields in enumerate(csv.reader(io.StringIO(text, newline=""), strict=True)):
        if fields and not (header and at == 0):
            yield _csv_row(fields)


def _csv_row(fields: list[str]) -> Row | None:
    if len(fields) != len(COLUMNS["csv"]) or "\ufffd" in "".join(fields):
        return None
    number, name, amount, note = fields
    if not re.fullmatch(r"\d+", number) or not _NUMBER.fullmatch(amount):
        return None
    return (int(number), name, _decimal(amount), note)


def _parquet_rows(data: bytes, dt: str | None) -> Iterator[Row | None]:
    import pyarrow.parquet as pq

    for record in pq.read_table(io.BytesIO(data)).to_pylist():
        own = record.get("dt")
        yield (record["id"], record["name"], dt if own is None else own)


def _text_rows(data: bytes) -> Iterator[Row | None]:
    for line in data.decode().splitlines():
        yield (line,)


def _decimal(value: Any) -> Decimal | None:
    if value is None:
        return None
    return Decimal(str(value)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
