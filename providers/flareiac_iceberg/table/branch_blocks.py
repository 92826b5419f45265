"""``branch`` and ``tag`` blocks: from what is written to canonical attributes, and which of them differ.
Pure.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final

from flareiac.kernel.articles import with_article
from flareiac.kernel.data import ABSENT, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import encode
from flareiac.sdk.changes import AttributeChange, Effect, Origin
from flareiac.sdk.validators import parse_duration
from flareiac_iceberg import codes
from flareiac_iceberg.format.snapshots import MAIN
from flareiac_iceberg.format.spec import FOREVER, TableSpec, duration_text
from flareiac_iceberg.table.branches import OWN_TAGS

_NAME: Final = re.compile(r"[^\x00-\x1f`]+")
_PARTS: Final = {
    "branch": ("retain", "min_snapshots_to_keep", "max_snapshot_age"),
    "tag": ("snapshot_id", "retain"),
}
_LONGEST: Final = 2**63 - 1


def branches_and_tags(wanted: Attributes, diagnostics: Diagnostics) -> Attributes:
    """The canonical ``branch`` and ``tag``, by name; None where no block is written."""
    blocks = {
        kind: {
            name: _parts(kind, name, block, diagnostics) for name, block in (wanted.get(kind) or {}).items()
        }
        for kind in _PARTS
    }
    for name in blocks["tag"]:
        if name in blocks["branch"]:
            why = (
                f'There is a branch and a tag "{name}". Branches and tags of a table share their names. '
                "Give one of them another."
            )
            diagnostics.error(codes.NAME_SHARED, why, attribute=("tag", name))
    return {kind: items or None for kind, items in blocks.items()}


def _parts(kind: str, name: str, block: Attributes, diagnostics: Diagnostics) -> Attributes:
    if (error := _bad_name(kind, name)) is not None:
        diagnostics.error(
            codes.INVALID_BRANCH_NAME,
            f'"{name}" cannot be {with_article(kind)}. {error}',
            attribute=(kind, name),
        )
    return {part: _part(block.get(part), (kind, name, part), diagnostics) for part in _PARTS[kind]}


def _bad_name(kind: str, name: str) -> str | None:
    if name == MAIN:
        return f"It is the branch that every table has; it is not declared, and no {kind} can have its name."
    if not name.strip() or not _NAME.fullmatch(name):
        return "A name is not empty and has no back-quote or control character."
    if name.startswith(OWN_TAGS):
        return f'FlareIaC keeps names that begin with "{OWN_TAGS}" for what it sets aside before a rollback.'
    return None


def _part(value: Data, path: tuple[str, str, str], diagnostics: Diagnostics) -> Data:
    if value is None:
        return None
    if path[-1] in ("retain", "max_snapshot_age"):
        if value == FOREVER:
            return FOREVER
        length = parse_duration(value) if isinstance(value, str) else None
        if not length or length > _LONGEST:
            why = f'{path[-1]} must be longer than nothing. Write a duration such as "7d", or "forever".'
            diagnostics.error(codes.INVALID_DURATION, why, attribute=path)
            return None
        return duration_text(length)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1 or value > _LONGEST:
        diagnostics.error(codes.INVALID_NUMBER_KEPT, f"{path[-1]} is {value!r}.", attribute=path)
        return None
    return value


def named_changes(
    desired: TableSpec, recorded: TableSpec | None, live: TableSpec, ended: Collection[str] = ()
) -> Iterator[AttributeChange]:
    """Every declared branch and tag that is not the same in all three records: as a whole where it comes or
    goes, else part by part.

    ``ended``: tags whose time ran out.
    """
    for kind, parts in _PARTS.items():
        new, old, there = (_blocks(kind, spec) for spec in (desired, recorded, live))
        for name in dict.fromkeys([*new, *old]):
            if name in new and name in there:
                yield from _part_changes((kind, name), parts, new[name], old.get(name), there[name])
            elif name not in ended:
                yield _whole((kind, name), *(_shown(blocks.get(name)) for blocks in (new, old, there)))


def _blocks(kind: str, spec: TableSpec | None) -> dict[str, Attributes]:
    if spec is None:
        return {}
    blocks = spec.branches if kind == "branch" else spec.snapshot_tags
    return {name: encode(block) for name, block in blocks.items()}


def _shown(block: Attributes | None) -> Data:
    return ABSENT if block is None else {name: value for name, value in block.items() if value is not None}


def _whole(path: tuple[str, str], new: Data, old: Data, live: Data) -> AttributeChange:
    drifted = old is not ABSENT and live is ABSENT
    origin = Origin.CONFIG if not drifted else Origin.DRIFT if new is not ABSENT else Origin.BOTH
    note = Effect.LOSES_DATA if new is ABSENT and path[0] == "branch" else Effect.METADATA
    return AttributeChange(path=path, origin=origin, old=old, new=new, live=live, note=note)


def _part_changes(
    path: tuple[str, str], parts: tuple[str, ...], new: Attributes, old: Attributes | None, live: Attributes
) -> Iterator[AttributeChange]:
    for part in parts:
        value, was, now = new[part], None if old is None else old[part], live[part]
        if value is None or (value == now and (old is None or value == was)):
            continue
        config, drift = old is None or value != was, old is not None and was is not None and now != was
        origin = Origin.BOTH if config and drift else Origin.CONFIG if config else Origin.DRIFT
        shown = [
            ABSENT if part_value is None else part_value
            for part_value in (was if old is not None else now, value, now)
        ]
        yield AttributeChange(
            path=(*path, part), origin=origin, old=shown[0], new=shown[1], live=shown[2], note=Effect.METADATA
        )
