"""Which queries keep their checkpoints below a location, and in which layout? Touches the disk, by reading only."""

from dataclasses import dataclass
from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac_spark.checkpoint.disk import CheckpointOnDisk, Damaged, read_checkpoint
from flareiac_spark.checkpoint.spec import GENERATIONS, SINGLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """``queries`` by folder, of every generation."""

    layout: str
    queries: dict[Path, CheckpointOnDisk]


def contents(location: Path) -> Contents | None:
    """What a location holds; None if there is no folder. Raises ``Damaged``."""
    try:
        if not location.is_dir():
            return None
        single = read_checkpoint(location)
        if single is not None:
            return Contents(layout=SINGLE, queries={location: single})
        found = {folder: item for folder in sorted(location.glob("*/g[0-9]*")) if (item := read_checkpoint(folder)) is not None}
    except OSError as trouble:
        raise Damaged(location, f"it can not be read: {trouble.strerror or trouble}") from None
    return Contents(layout=GENERATIONS, queries=found)


def damage(address: str, trouble: Damaged) -> Diagnostic:
    """A damaged checkpoint as a complaint."""
    return error(
        "FIK027",
        f"A file of the checkpoint can not be understood: {trouble.path}",
        f"{trouble.path}: {trouble.why}. What the query has read is uncertain, so nothing about it is planned. Restore the file from a "
        "backup; or move the query's folder away and raise the generation to start anew.",
        address=address,
    )
