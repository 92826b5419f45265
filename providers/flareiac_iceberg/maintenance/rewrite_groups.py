"""Groups the files that a rewrite takes, by the rules of Iceberg 1.12's planner for rewrites by size. Pure.

Files of one partition are looked at together; those of older partition specs count as one partition. A file
is taken when its size is out of range or too much of it is deleted; a group when it has enough files or
bytes, or such a file in it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from flareiac.kernel.lazy_dataclass import dataclass


class Candidate(NamedTuple):
    """One file: its size in bytes, and whether deleted rows alone are a reason to rewrite it.

    ``about``: the data file whose deletes it holds, where what is written holds those of one data file only.
    """

    size: int
    worn: bool = False
    about: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The limits of a rewrite, sizes in bytes. ``everything``: of whatever size the files are."""

    target: int
    least: int
    most: int
    min_input_files: int
    max_group: int
    everything: bool = False

    @property
    def sizes(self) -> list[int]:
        """Least, wanted and most."""
        return [self.least, self.target, self.most]

    @property
    def longest_written(self) -> int:
        """A written file may be so large: half of the way from the wanted size to the most."""
        return int(self.target + (self.most - self.target) * 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The groups of files that would be rewritten, and the number of new files."""

    groups: int = 0
    files: int = 0
    bytes: int = 0
    outputs: int = 0

    def __add__(self, other: "Groups") -> "Groups":
        return Groups(
            groups=self.groups + other.groups,
            files=self.files + other.files,
            bytes=self.bytes + other.bytes,
            outputs=self.outputs + other.outputs,
        )


def sizing(
    *,
    target: int,
    least: int | None,
    most: int | None,
    min_input_files: int,
    max_group: int,
    everything: bool = False,
) -> Sizing:
    """Limits with Iceberg's defaults: 75% and 180% of the wanted size."""
    return Sizing(
        target=target,
        least=int(target * 0.75) if least is None else least,
        most=int(target * 1.8) if most is None else most,
        min_input_files=min_input_files,
        max_group=max_group,
        everything=everything,
    )


def grouped(files: Iterable[Candidate], limits: Sizing) -> Groups:
    """The groups of one partition that are worth a rewrite."""
    taken = (
        file
        for file in files
        if limits.everything or file.worn or not limits.least <= file.size <= limits.most
    )
    groups = Groups()
    for group in _packed(taken, limits):
        if limits.everything or _worth(group, limits):
            size = sum(candidate.size for candidate in group)
            written = max(
                outputs(size, limits),
                len({candidate.about for candidate in group if candidate.about is not None}),
            )
            groups += Groups(groups=1, files=len(group), bytes=size, outputs=written)
    return groups


def _packed(files: Iterable[Candidate], limits: Sizing) -> Iterator[list[Candidate]]:
    """One group after the other, each filled as long as the next file fits."""
    group: list[Candidate] = []
    size = 0
    for file in files:
        if group and size + file.size > limits.max_group:
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


def _worth(group: list[Candidate], limits: Sizing) -> bool:
    size = sum(candidate.size for candidate in group)
    several = len(group) > 1
    enough = several and (len(group) >= limits.min_input_files or size > limits.target)
    return enough or size > limits.most or any(candidate.worn for candidate in group)


def outputs(size: int, limits: Sizing) -> int:
    """The number of files that so many bytes become: a small rest is spread over the others."""
    if size < limits.target:
        return 1
    without, rest = divmod(size, limits.target)
    if rest == 0:
        return without
    if rest > limits.least:
        return without + 1
    return without if size // without < min(1.1 * limits.target, limits.longest_written) else without + 1
