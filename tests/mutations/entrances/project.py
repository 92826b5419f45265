"""The entrances of a project that runs: each file of it is damaged, and commands look at it.

The project is the recorded one of ``tests.compatibility``, with tables, checkpoints and an application that
this process stands in for. It needs its own place, which only a contained process has for itself.
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.compatibility.recording import ARCHIVES, PLACE, RUNNING, unpack
from tests.mutations.documents import damage_document
from tests.mutations.entrances.entrance import Bug, Entrance, Gate
from tests.mutations.hostile import JSON, TEXTS
from tests.mutations.mutate import ANY_TEXT, damaged
from tests.mutations.verdict import perform, wrong

Command = tuple[str, ...]
_LOOKS: Final[tuple[Command, ...]] = (("plan",), ("plan", "-refresh=full", "-json"), ("drift",), ("status",))
_STATUS: Final[tuple[Command, ...]] = (("status",), ("status", "-json"), ("status",), ("logs", "job.rides"))
_CHECKPOINTS: Final[tuple[Command, ...]] = (
    ("checkpoint", "show", "checkpoint.rides"),
    ("checkpoint", "show", "-json", "checkpoint.cities"),
    ("checkpoint", "gc", "-dry-run"),
)
_TABLES: Final[tuple[Command, ...]] = (
    ("show",),
    ("table", "snapshots", "table.rides"),
    ("table", "snapshots", "-json", "table.cities"),
    ("import", "-from-catalog=lake.demo.*"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """The damage of one input: files of the project with other contents (None: a folder is there instead), a
    row of the catalog with another value; and the command that looks.
    """

    command: Command
    files: Mapping[str, bytes | None]
    row: tuple[str, str, Any] | None = None


def _entrance(
    name: str, share: int, wanted: Callable[[str], bool], commands: Sequence[Command], **more: Any
) -> Entrance:
    def opened(_folder: Path) -> Gate:
        return _gate(wanted, commands, **more)

    return Entrance(name=name, share=share, open=opened, memory=PLACE.parent)


def _gate(
    wanted: Callable[[str], bool], commands: Sequence[Command], *, rows: bool = False, caches: bool = False
) -> Gate:
    (archive,) = ARCHIVES.glob(f"*-{RUNNING}.tar.xz")
    unpack(archive)
    os.environ["XDG_CACHE_HOME"] = str(PLACE / "cache")
    for command in commands:  # what they keep is there, and they are imported, before anything is damaged
        perform(PLACE, command)
    known = {
        str(path.relative_to(PLACE)): path.read_bytes() for path in sorted(PLACE.rglob("*")) if path.is_file()
    }
    names = [name for name in known if wanted(name) and ".crc" not in name]
    assert names, "there is nothing to damage"

    def make(choose: random.Random) -> Damage:
        command = choose.choice(commands)
        if rows and choose.random() < 0.6:
            return Damage(command=command, files={}, row=_row(choose, known))
        name = choose.choice(names)
        others = [known[other] for other in choose.sample(names, min(2, len(names)))]
        return Damage(command=command, files={name: _content(known[name], choose, others)})

    def enter(given: Damage) -> None:
        try:
            for name, content in given.files.items():
                _put(PLACE / name, content)
            if given.row is not None:
                _set_row(*given.row)
            ending = perform(PLACE, given.command)
        finally:
            again = [name for name in known if name.startswith("lake/catalog.db")] if rows else given.files
            for name in again:
                _put(PLACE / name, known[name])
        found = [item for item in wrong(ending, given.command, []) if "slow" not in item]
        if found:
            raise Bug(
                f"{', '.join(found)}: {given.command} {_short(given)}\n{(ending.out + ending.err)[-1500:]}"
            )
        if caches and ending != expected[given.command]:
            raise Bug("a damaged cache changes what a command says")

    expected = {command: perform(PLACE, command) for command in commands} if caches else {}
    return Gate(make=make, enter=enter)


def _content(content: bytes, choose: random.Random, others: Sequence[bytes]) -> bytes | None:
    """Damage that fits a format: parts of JSON, of lines of JSON, bits; and an empty file or a folder."""
    kind = choose.random()
    if kind < 0.02:
        return choose.choice((b"", None, b"\x00" * len(content)))
    if kind < 0.6:
        try:
            return _in_json(content, choose, others)
        except (ValueError, UnicodeDecodeError, RecursionError):
            pass
    if content.startswith(b"Obj\x01") or b"SQLite" in content[:16]:
        return _in_bytes(content, choose)
    return damaged(content, choose, list(others), ANY_TEXT)[1]


def _in_json(content: bytes, choose: random.Random, others: Sequence[bytes]) -> bytes:
    """Damage to the JSON of a file, or of one line of it, as in the logs of Spark."""
    lines = content.split(b"\n")
    whole = content[:1] in (b"{", b"[") and len(lines) < 3
    at = 0 if whole else choose.choice([at for at, line in enumerate(lines) if line[:1] == b"{"] or [0])
    document = json.loads(content if whole else lines[at])
    damage_document(document, choose, [document])
    changed = json.dumps(document).encode(errors="surrogatepass")
    return changed if whole else b"\n".join([*lines[:at], changed, *lines[at + 1 :]])


def _in_bytes(content: bytes, choose: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(choose.choice((1, 1, 3, 20))):
        found[choose.randrange(len(found))] = choose.randrange(256)
    cut = choose.randrange(len(found)) if choose.random() < 0.2 else len(found)
    return bytes(found[:cut])


_COLUMNS: Final = (
    "catalog_name",
    "table_namespace",
    "table_name",
    "metadata_location",
    "previous_metadata_location",
    "iceberg_type",
)


def _row(choose: random.Random, known: Mapping[str, bytes]) -> tuple[str, str, Any]:
    """A column of the row of a table, and a value for it."""
    places = [f"file://{PLACE}/{name}" for name in known if name.endswith((".json", ".avro", ".parquet"))]
    value = choose.choice(
        (
            choose.choice(places),
            choose.choice(TEXTS).decode(errors="replace"),
            choose.choice([item for item in JSON if isinstance(item, str | float | int | None)]),
            choose.choice(TEXTS),
        )
    )
    return choose.choice(_COLUMNS), choose.choice(("rides", "cities", "seed", "names")), value


def _set_row(column: str, table: str, value: Any) -> None:
    # Where it is refused, no catalog can have such a row
    with (
        closing(sqlite3.connect(PLACE / "lake/catalog.db")) as database,
        suppress(sqlite3.Error, OverflowError, UnicodeEncodeError),
        database,
    ):
        database.execute(f"UPDATE iceberg_tables SET {column} = ? WHERE table_name = ?", (value, table))


def _put(path: Path, content: bytes | None) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)


def _short(given: Damage) -> str:
    return " ".join([*given.files, str(given.row or "")])[:200]


def _begins(*starts: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(starts)


def _is_metadata(name: str) -> bool:
    return name.endswith(".metadata.json")


def _is_manifest(name: str) -> bool:
    return name.endswith(".avro")


ENTRANCES: Final = (
    _entrance("control", 5_000, _begins("runtime/"), (*_LOOKS, *_STATUS, *_STATUS)),
    _entrance(
        "checkpoints", 5_000, _begins(".flareiac/checkpoints"), (*_LOOKS, *_CHECKPOINTS, *_CHECKPOINTS)
    ),
    _entrance("metadata", 5_000, _is_metadata, (*_LOOKS, *_TABLES)),
    _entrance("manifests", 5_000, _is_manifest, (*_LOOKS, *_TABLES)),
    _entrance("catalog", 5_000, _begins("lake/catalog.db"), (*_LOOKS, *_TABLES), rows=True),
    _entrance("landing", 5_000, _begins("landing/"), _LOOKS[:3]),
    _entrance("caches", 5_000, _begins("cache/"), (("plan",), ("validate",), ("show",), ("status",))),
)
