"""The rule that decides if a checkpoint is still the one that a job ran on, and its texts, for the planner
and for the driver. Pure.
"""

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LostCheckpoint:
    """A fault of a checkpoint, and the effect that a start on it would have."""

    what: str
    why: str


def lost_checkpoint(place: str, output: str, *, known: str, id_on_disk: str | None) -> LostCheckpoint | None:
    """``known`` is the query that ran there, ``id_on_disk`` the one that the folder names (None: no query).
    None if they are the same.
    """
    if known == id_on_disk:
        return None
    what = "is gone" if id_on_disk is None else f"belongs to another query ({id_on_disk})"
    return LostCheckpoint(
        what=f"The checkpoint in {place} (output {output}) {what}",
        why=(
            f"Its query {known} kept its offsets there. Without them the job would read all again and "
            "repeat its rows."
        ),
    )
