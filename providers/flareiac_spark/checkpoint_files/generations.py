"""The generations below a location, and what is in each. Touches the disk, by reading only."""

import re
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.checkpoint_files.layout import GENERATIONS, SINGLE, CheckpointLayout
from flareiac_spark.checkpoint_files.reader import CheckpointOnDisk, is_begun, read_checkpoint
from flareiac_spark_runtime.checkpoint_log import Damaged, TooNew, Unreachable, names_in, unreadable
from flareiac_spark_runtime.storage import Place

_GENERATION: Final = re.compile(r"g([0-9]{4,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One folder. ``output`` is the name of its query ("" for an imported folder, which is the location
    itself, with number 0).

    ``checkpoint`` is what a query left in it; ``damage`` why that cannot be determined.
    """

    output: str
    number: int
    folder: Place
    standing: FolderState
    checkpoint: CheckpointOnDisk | None = None
    damage: Damaged | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """``generations`` by output and number."""

    layout: str
    generations: tuple[Generation, ...]

    @property
    def used(self) -> bool:
        """Returns True if any query has ever run here."""
        return any(generation.standing is FolderState.USED for generation in self.generations)


def contents(location: Place) -> Contents | None:
    """The generations at a location; None if there is no folder. Raises ``Damaged`` if the location itself
    cannot be read.
    """
    try:
        if not location.is_dir():
            return None
        folders = [
            (location / output / name, int(match[1]))
            for output in sorted(names_in(location))
            for name in sorted(names_in(location / output))
            if (match := _GENERATION.fullmatch(name)) and (location / output / name).is_dir()
        ]
        single = (location / "metadata").exists()
        if not single and not folders:
            _refuse_half_a_copy(location)
    except OSError as failure:
        raise unreadable(location, failure) from None
    generations = [_generation(folder.parent.name, number, folder) for folder, number in folders]
    if single:
        generations.insert(0, _generation("", 0, location))
    return Contents(layout=SINGLE if single else GENERATIONS, generations=tuple(generations))


def layout_of(location: Place, generation: int, recorded: CheckpointLayout) -> CheckpointLayout:
    """The layout as it is recorded, or as it will be when the checkpoint is recorded first. Raises
    ``Damaged``.
    """
    if recorded.layout is not None or not is_begun(location):
        return recorded
    return CheckpointLayout(layout="single", layout_generation=generation)


def _refuse_half_a_copy(location: Place) -> None:
    """A folder that was to be imported, and of which a part is missing."""
    read_checkpoint(location)


def _generation(output: str, number: int, folder: Place) -> Generation:
    try:
        state = folder_state(folder)
        checkpoint = read_checkpoint(folder) if state is FolderState.USED else None
    except Damaged as failure:
        return Generation(
            output=output, number=number, folder=folder, standing=FolderState.USED, damage=failure
        )
    return Generation(output=output, number=number, folder=folder, standing=state, checkpoint=checkpoint)


def damage(address: str, failure: Damaged) -> Diagnostic:
    """A damaged checkpoint as a complaint."""
    if isinstance(failure, TooNew):
        return error(
            codes.CHECKPOINT_TOO_NEW,
            f"{failure.path}: {failure.why}. Spark 4.1 would refuse it or misread it. Run the query with "
            "the Spark that wrote it; or move the query's folder away and raise the generation to start "
            "again.",
            address=address,
        )
    if isinstance(failure, Unreachable):
        # What a bucket answers names its own way out.
        way_out = " Let this user read there." if isinstance(failure.path, Path) else ""
        return error(
            codes.CHECKPOINT_UNREACHABLE,
            f"{failure.path}: {failure.why}. Where its queries stand is not known, so nothing about it is "
            f"planned.{way_out}",
            address=address,
        )
    return error(
        codes.CHECKPOINT_DAMAGED,
        f"{failure.path}: {failure.why}. What the query has read is uncertain, so nothing about it is "
        "planned. Restore the file from a backup; or move the query's folder away and raise the generation "
        "to start again.",
        address=address,
    )
