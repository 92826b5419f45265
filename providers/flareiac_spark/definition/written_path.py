"""The places of changed attributes of a job as their author writes them, for plans. Pure."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.paths import Path, Step

_QUARANTINE, _TOMBSTONES = "bad_records.", "tombstones."
"""Prefixes of outputs that follow from a stream, or from ``tombstones`` of another output."""
_BLOCKS: Final = {"application": "engine", "inputs": "input", "outputs": "output", "steps": "step"}


def written_path(path: Path) -> Path | None:
    """The place in the block of the job, or in one that it refers to; None for what no author writes."""
    match path:
        case ("step_order",) | ("application", "catalogs" | "runtime_location", *_):
            return None
        case ("inputs", _, "column_order") | ("outputs", _, "kind"):
            return None
        case ("checkpoint_location",):
            return "checkpoint", "location"
        case ("generation",):
            return "checkpoint", "generation"
        case ("inputs", name, "source", *rest) if rest and rest != ["kind"]:
            return "input", name, *rest
        case ("outputs", str(name), *rest) if name.startswith((_QUARANTINE, _TOMBSTONES)):
            return _of_following_output(name, rest)
        case (str(part), *rest) if part in _BLOCKS:
            return _BLOCKS[part], *rest
        case _:
            return path


def _of_following_output(name: str, rest: Sequence[Step]) -> Path | None:
    """The attribute from which an output follows, which names its table alone."""
    if rest and rest != ["table"]:
        return None
    if name.startswith(_QUARANTINE):
        return "input", name.removeprefix(_QUARANTINE), "quarantine"
    return "output", name.removeprefix(_TOMBSTONES), "tombstones"
