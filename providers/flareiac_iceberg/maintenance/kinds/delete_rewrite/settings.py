"""The settings of delete rewrites: sizes in bytes, durations in ms. Pure."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.maintenance.columns import Surroundings
from flareiac_iceberg.maintenance.file_rewrite import (
    DEFAULT_GROUP,
    PartialProgress,
    TargetSize,
    check_options,
    check_sizes,
    partial_progress,
)

TARGET: Final = TargetSize(property="write.delete.target-file-size-bytes", default=64 * 1024**2)
OPTIONS: Final = ("rewrite-job-order",)
"""Iceberg's options that no attribute stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRewrite:
    enabled: bool = True
    every: int | None = None
    target_file_size: int | None = None
    min_file_size: int | None = None
    max_file_size: int | None = None
    min_input_files: int = 5
    max_file_group_size: int = DEFAULT_GROUP
    max_concurrent_groups: int = 5
    partial_progress: PartialProgress | None = None
    options: Mapping[str, str] = field(default_factory=dict)


def canonical(given: Attributes, around: Surroundings, diagnostics: Diagnostics) -> DeleteRewrite:
    """The settings; reports sizes that contradict each other, and options that Iceberg does not know."""
    settings = DeleteRewrite(**{**given, "partial_progress": partial_progress(given.get("partial_progress"))})
    check_sizes("delete_rewrite", settings, TARGET, around, diagnostics)
    check_options("delete_rewrite", "delete_rewrite", settings.options, OPTIONS, diagnostics)
    return settings
