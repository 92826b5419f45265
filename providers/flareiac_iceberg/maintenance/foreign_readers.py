"""Readers of a table that this project does not own: where they stand, and what an expiry keeps for them.

Touches the world by reading checkpoints only; ``holds`` is pure. A reader's checkpoint is Spark's:
``commits/N`` says that batch N was done, ``offsets/N`` what it read, one line for each source. Iceberg's line
names a snapshot of the table.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, decode, encode
from flareiac.sdk.maintenance import Hold
from flareiac.sdk.validators import parse_duration
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import names_in, read_file
from flareiac_iceberg.format.locations import absolute_location, local_path
from flareiac_iceberg.maintenance.figures import ReaderPosition

_HEADER: Final = 2
"""Lines of an offsets file before those of its sources: the version, and what was in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderBlock:
    """As written: the folder of a checkpoint, or an age; valid with exactly one."""

    checkpoint: str | None = field(default=None, metadata=OPTIONAL)
    hold: str | None = field(default=None, metadata=OPTIONAL)


def canonical_readers(declared: Data, diagnostics: Diagnostics) -> Attributes | None:
    """The blocks by name; None where no block is written."""
    blocks = {name: ReaderBlock(**block) for name, block in (declared or {}).items()}
    for name, block in blocks.items():
        if (block.checkpoint is None) == (block.hold is None):
            diagnostics.error(
                codes.READER_WITHOUT_POSITION,
                f'The reader "{name}" has {"neither" if block.hold is None else "both"}. Write exactly one: '
                'checkpoint = "..." (the folder of its streaming query, which shows its position) or hold '
                '= "10d" (how long snapshots are kept for it).',
                attribute=("reader", name),
            )
        elif block.hold is not None and not parse_duration(str(block.hold)):
            diagnostics.error(
                codes.INVALID_DURATION,
                f"{block.hold!r} is not an age. Write how old a snapshot may become before it can expire, "
                'such as "10d".',
                attribute=("reader", name, "hold"),
            )
    return {name: encode(block) for name, block in blocks.items()} or None


def _readers(attributes: Attributes) -> Mapping[str, ReaderBlock]:
    """The blocks of canonical attributes."""
    return {name: decode(ReaderBlock, block) for name, block in (attributes.get("reader") or {}).items()}


def positions(attributes: Attributes, catalog: CatalogSpec, root: Path) -> dict[str, ReaderPosition]:
    """By the name of each reader with a checkpoint."""
    return {
        name: _read(block.checkpoint, catalog, root)
        for name, block in _readers(attributes).items()
        if block.checkpoint
    }


def holds(
    address: str,
    attributes: Attributes,
    known: Mapping[str, ReaderPosition],
    there: Collection[int],
    now_ms: int,
) -> Iterator[Hold]:
    """The snapshots that each declared reader keeps, by the readers' positions and the snapshots that
    exist.
    """
    for name, block in _readers(attributes).items():
        holder = f'reader "{name}"'
        hold = Hold(
            subject=address,
            holder=holder,
            reason=f"snapshots are kept for {block.hold}",
            release=f"remove the block of {holder} if it reads no more",
        )
        if block.hold is not None:
            yield replace(hold, since_ms=now_ms - (parse_duration(block.hold) or 0), fixed=True)
        else:
            position = known.get(name) or _nothing("its checkpoint was not looked at")
            ids = tuple(each for each in position.ids if each in there)
            yield _of_checkpoint(hold, str(block.checkpoint), position, ids)


def _of_checkpoint(hold: Hold, checkpoint: str, position: ReaderPosition, ids: tuple[int, ...]) -> Hold:
    problem = position.trouble
    if not problem and not ids:
        problem = (
            "it stands at no snapshot that this table has: what it needs has expired, or it reads "
            "another table"
        )
    if problem:
        return replace(hold, moved_ms=position.moved_ms, reason=f"{checkpoint}: {problem}", unknown=True)
    reason = f"its stream goes on where the last batch in {checkpoint} ended"
    return replace(hold, moved_ms=position.moved_ms, reason=reason, snapshots=ids)


def _read(checkpoint: str, catalog: CatalogSpec, root: Path) -> ReaderPosition:
    location = absolute_location(checkpoint, root)
    if location is None:
        return _nothing("its checkpoint is neither in a local folder nor in S3, and cannot be read here")
    try:
        queries = [_query(folder, catalog) for folder in _queries(location.rstrip("/"))]
    except FileNotFoundError:
        return _nothing("there is no checkpoint of a streaming query")
    except Failure as failure:
        return _nothing(f"it cannot be read: {failure.diagnostics[0].line.rstrip('.')}")
    except OSError as error:
        return _nothing(f"it cannot be read: {error.strerror or error}")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return _nothing(f"it cannot be understood: {error}")
    if not queries or any(ids is None for ids, _moved in queries):
        return _nothing(
            "no batch of it is committed yet" if queries else "there is no checkpoint of a streaming query"
        )
    moved = [at for _ids, at in queries if at is not None]
    every = dict.fromkeys(each for ids, _moved in queries for each in ids or ())
    return ReaderPosition(ids=tuple(every), moved_ms=min(moved) if len(moved) == len(queries) else None)


def _nothing(why: str) -> ReaderPosition:
    return ReaderPosition(trouble=why)


def _queries(location: str) -> list[str]:
    """The folder of one query; or those of a FlareIaC checkpoint, which keeps one for each output and
    generation.
    """
    path = local_path(location)
    if path is None or (path / "offsets").is_dir():
        return [location]
    newest: dict[str, Path] = {}
    for folder in sorted(path.glob("*/g[0-9]*"), key=lambda generation: int(generation.name[1:])):
        if (folder / "offsets").is_dir():
            newest[folder.parent.name] = folder
    for folder in sorted(path.glob("g[0-9]*"), key=lambda generation: int(generation.name[1:])):
        if (folder / "offsets").is_dir():
            newest[""] = folder
    return [str(folder) for folder in newest.values()]


def _query(folder: str, catalog: CatalogSpec) -> tuple[list[int] | None, int | None]:
    """The snapshots that a query goes on from, also those of a batch that is not committed; and when it last
    committed one.
    """
    committed = _newest(f"{folder}/commits", catalog)
    if committed is None:
        return None, None
    header, ids = _offsets(f"{folder}/offsets/{committed}", catalog)
    begun = _newest(f"{folder}/offsets", catalog)
    if begun is not None and begun > committed:
        ids = [*ids, *_offsets(f"{folder}/offsets/{begun}", catalog)[1]]
    moved = header.get("batchTimestampMs")
    return ids, moved if isinstance(moved, int) else None


def _newest(log: str, catalog: CatalogSpec) -> int | None:
    return max((int(name) for name in names_in(log, catalog) if name.isdigit()), default=None)


def _offsets(location: str, catalog: CatalogSpec) -> tuple[dict[str, Any], list[int]]:
    lines = read_file(location, catalog).decode().splitlines()
    sources = [json.loads(line) for line in lines[_HEADER:] if line != "-"]
    return json.loads(lines[1]), [
        source["snapshot_id"] for source in sources if isinstance(source, dict) and "snapshot_id" in source
    ]
