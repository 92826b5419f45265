"""The parts that rewrites of data files and of delete files have in common: settings, limits and Iceberg's
options. Pure.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise
from typing import Any, Final, Protocol

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, did_you_mean, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, encode
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.columns import Surroundings
from flareiac_iceberg.maintenance.figures import number
from flareiac_iceberg.maintenance.humanize import exact_size
from flareiac_iceberg.maintenance.rewrite_groups import Groups, Sizing, sizing

DEFAULT_GROUP: Final = 100 * 1024**3
"""Iceberg's default of ``max-file-group-size-bytes``."""
_LONG: Final = 19
_VALUES: Final = {
    "rewrite-job-order": (
        "none, bytes-asc, bytes-desc, files-asc or files-desc",
        r"none|(bytes|files)-(asc|desc)",
    ),
    "use-starting-sequence-number": ("true or false", "true|false"),
    "remove-dangling-deletes": ("true or false", "true|false"),
    "output-spec-id": ("the number of a partition spec of the table", "[0-9]{1,9}"),
    "compression-factor": ("a number above 0", r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,9})?"),
}
_COUNT: Final = ("a whole number from 1 to 2147483647", "0*[1-9][0-9]{0,9}")
"""The values that an option takes, in words and as a pattern; the others of them count something."""
_MOST: Final = 2**31 - 1
OWN_OPTIONS: Final = {
    "target-file-size-bytes": "target_file_size",
    "min-file-size-bytes": "min_file_size",
    "max-file-size-bytes": "max_file_size",
    "min-input-files": "min_input_files",
    "rewrite-all": "rewrite_all",
    "max-file-group-size-bytes": "max_file_group_size",
    "max-concurrent-file-group-rewrites": "max_concurrent_groups",
    "delete-file-threshold": "delete_file_threshold",
    "delete-ratio-threshold": "delete_ratio",
    "partial-progress.enabled": "partial_progress",
    "partial-progress.max-commits": "partial_progress",
    "partial-progress.max-failed-commits": "partial_progress",
}
"""Options by Iceberg's name that are attributes here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialProgress:
    """Groups of files are committed when they are ready; None: as many as Iceberg takes by default."""

    max_commits: int | None = field(default=None, metadata=OPTIONAL)
    max_failed_commits: int | None = field(default=None, metadata=OPTIONAL)


class FileRewrite(Protocol):
    """The settings that both have. Sizes in bytes; None: left to the table or to Iceberg. ``options`` are
    Iceberg's, by its names.
    """

    @property
    def target_file_size(self) -> int | None: ...
    @property
    def min_file_size(self) -> int | None: ...
    @property
    def max_file_size(self) -> int | None: ...
    @property
    def min_input_files(self) -> int: ...
    @property
    def max_file_group_size(self) -> int: ...
    @property
    def max_concurrent_groups(self) -> int: ...
    @property
    def partial_progress(self) -> PartialProgress | None: ...
    @property
    def options(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSize:
    """The property and the default for the wanted size of files that a block leaves out."""

    property: str
    default: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroups:
    """Files that Iceberg would take for a rewrite, and the files that it would make of them. ``sizes``: less
    than the first is small, the second is wanted, more than the third is large.

    ``few``: so many files are too few for anything, so none was looked at.
    """

    files: int = 0
    small: int = 0
    partitions: int = 0
    min_input_files: int = 0
    sizes: tuple[int, ...] = ()
    groups: int = 0
    rewritten_files: int = 0
    rewritten_bytes: int = 0
    added_files: int = 0
    few: int | None = None


def group_figures(limits: Sizing, total: Groups, partitions: int) -> dict[str, Any]:
    """The part of the figures of both about the groups that Iceberg would make."""
    return {
        "partitions": partitions,
        "min_input_files": limits.min_input_files,
        "sizes": tuple(limits.sizes),
        "groups": total.groups,
        "rewritten_files": total.files,
        "rewritten_bytes": total.bytes,
        "added_files": total.outputs,
    }


def partial_progress(value: Data) -> PartialProgress | None:
    """As declared; None where it is not, or is something else."""
    return PartialProgress(**value) if isinstance(value, dict) else None


def limits_of(
    settings: FileRewrite, properties: Mapping[str, str], target: TargetSize, *, everything: bool = False
) -> Sizing:
    """The limits of a rewrite of this table."""
    return sizing(
        target=settings.target_file_size or number(properties, target.property) or target.default,
        least=settings.min_file_size,
        most=settings.max_file_size,
        min_input_files=settings.min_input_files,
        max_group=settings.max_file_group_size,
        everything=everything,
    )


def check_sizes(
    name: str, settings: FileRewrite, target: TargetSize, around: Surroundings, diagnostics: Diagnostics
) -> None:
    """Iceberg wants least < wanted < most. Where no wanted size is declared, it is the table's own, which is
    judged once it is known.
    """
    low, wanted, high = settings.min_file_size, settings.target_file_size, settings.max_file_size
    assumed = wanted if wanted is not None else _declared(around.properties.get(target.property))
    named = [("min_file_size", low), ("target_file_size", assumed), ("max_file_size", high)]
    given = [(key, value) for key, value in named if value is not None]
    for (small, less), (large, more) in pairwise(given):
        if less >= more:
            blamed = large if getattr(settings, large) is not None else small
            rest = (
                ""
                if wanted is not None
                else " target_file_size is left out, so it is what the table's properties say."
            )
            why = (
                f"In {name}, {small} is {exact_size(less)} and {large} is {exact_size(more)}: the first "
                f"must be less.{rest}"
            )
            diagnostics.error(codes.SIZES_CONTRADICT, why, attribute=(name, blamed))


def _declared(value: Data) -> int | None:
    """The wanted size that a declared property says."""
    said = str(value)
    return int(said) if said.isdecimal() and len(said) < _LONG else None


def check_options(
    name: str, what: str, options: Mapping[str, str], allowed: tuple[str, ...], diagnostics: Diagnostics
) -> None:
    """Only the options of Iceberg that no attribute stands for; it refuses other names, but only once a table
    has rows (measured).
    """
    for key, value in options.items():
        if key in allowed:
            takes, pattern = _VALUES.get(key, _COUNT)
            if not re.fullmatch(pattern, value, re.IGNORECASE) or (
                pattern is _COUNT[1] and int(value) > _MOST
            ):
                why = f'The value of "{key}" is "{value}". Write {takes}.'
                diagnostics.error(codes.INVALID_REWRITE_OPTION, why, attribute=(name, "options", key))
            continue
        own = OWN_OPTIONS.get(key)
        why = (
            f"Use the attribute {own}."
            if own
            else f"Those of {what} are {', '.join(allowed)}.{did_you_mean(key, allowed)}"
        )
        diagnostics.error(
            codes.INVALID_REWRITE_OPTION, f'"{key}" cannot be set. {why}', attribute=(name, "options")
        )


def iceberg_options(settings: FileRewrite) -> dict[str, str]:
    """Iceberg's options, by its names, without those of ``options``: only what was declared or differs from
    its defaults stands there.
    """
    options = {
        "min-input-files": settings.min_input_files,
        "max-file-group-size-bytes": settings.max_file_group_size,
        "max-concurrent-file-group-rewrites": settings.max_concurrent_groups,
        "target-file-size-bytes": settings.target_file_size,
        "min-file-size-bytes": settings.min_file_size,
        "max-file-size-bytes": settings.max_file_size,
    }
    texts = {name: str(value) for name, value in options.items() if value is not None}
    return texts | _partial(settings.partial_progress)


def _partial(progress: PartialProgress | None) -> dict[str, str]:
    if progress is None:
        return {}
    bounds: Attributes = encode(progress)
    return {"partial-progress.enabled": "true"} | {
        f"partial-progress.{name.replace('_', '-')}": str(value) for name, value in bounds.items()
    }


def contradictions(name: str, file_groups: FileGroups) -> tuple[Diagnostic, ...]:
    """With the wanted size that the table has, where the block declares none."""
    least, wanted, most = file_groups.sizes
    if least < wanted < most:
        return ()
    why = (
        f"In {name} the wanted size is {exact_size(wanted)}, as the table's properties or Iceberg's default "
        f"say; less than {exact_size(least)} is small, larger than {exact_size(most)} is large. Write "
        f"{name}.target_file_size, or other limits."
    )
    return (warning(codes.SIZES_CONTRADICT, why, attribute=(name,)),)
