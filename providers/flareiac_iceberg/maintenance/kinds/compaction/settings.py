"""The settings of compaction: sizes in bytes, durations in ms, shares as fractions. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Final, Literal

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Severity, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL
from flareiac_iceberg import codes
from flareiac_iceberg.format.spec import Column, SortField, is_inside
from flareiac_iceberg.format.transforms import sort_field
from flareiac_iceberg.maintenance.columns import Need, Surroundings, fitting
from flareiac_iceberg.maintenance.conditions import conditions
from flareiac_iceberg.maintenance.file_rewrite import (
    DEFAULT_GROUP,
    PartialProgress,
    TargetSize,
    check_options,
    check_sizes,
    partial_progress,
)
from flareiac_iceberg.maintenance.kinds.compaction.where_clause import named_columns, unknown
from flareiac_iceberg.maintenance.schema_parts import parse_share

TARGET: Final = TargetSize(property="write.target-file-size-bytes", default=512 * 1024**2)
_CURVED: Final = frozenset(
    {"boolean", "int", "long", "float", "double", "string", "binary", "fixed", "uuid", "date", "timestamptz"}
)
"""The types that Iceberg 1.12 can lay on a z-order curve."""
_DATA_OPTIONS: Final = (
    "max-files-to-rewrite",
    "rewrite-job-order",
    "use-starting-sequence-number",
    "remove-dangling-deletes",
    "output-spec-id",
)
_SORT_OPTIONS: Final = ("compression-factor", "shuffle-partitions-per-file")
OPTIONS: Final = {
    "binpack": _DATA_OPTIONS,
    "sort": (*_DATA_OPTIONS, *_SORT_OPTIONS),
    "zorder": (*_DATA_OPTIONS, *_SORT_OPTIONS, "var-length-contribution", "max-output-size"),
}
"""The options of Iceberg 1.12 that no attribute stands for. It refuses other names, but only once a table has
rows (measured).
"""


_SORTED: Final = Need(where=("compaction", "sort_by"), to="be sorted by")
_Z_ORDER: Final = Need(where=("compaction", "zorder_by"), to="be part of a z-order", types=_CURVED)
_TERM: Final = frozenset({"transform", "column", "param", "direction", "nulls"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIf:
    """Thresholds, of which one must be passed; None: not declared."""

    small_files_over: int | None = field(default=None, metadata=OPTIONAL)
    small_file_share_over: float | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    enabled: bool = True
    every: int | None = None
    strategy: Literal["binpack", "sort", "zorder"] = "binpack"
    sort_by: tuple[SortField, ...] | None = None
    zorder_by: tuple[str, ...] | None = None
    target_file_size: int | None = None
    min_file_size: int | None = None
    max_file_size: int | None = None
    min_input_files: int = 5
    where: str | None = None
    delete_ratio: float = 0.3
    delete_file_threshold: int | None = None
    max_file_group_size: int = DEFAULT_GROUP
    max_concurrent_groups: int = 5
    partial_progress: PartialProgress | None = None
    rewrite_all: bool = False
    run_if: RunIf = field(default_factory=lambda: RunIf(small_files_over=20))
    options: Mapping[str, str] = field(default_factory=dict)


def canonical(given: Attributes, around: Surroundings, diagnostics: Diagnostics) -> Compaction:
    """The settings; reports what contradicts itself, the table or Iceberg."""
    declared = {**given, **_order(given, around, diagnostics)}
    declared["partial_progress"] = partial_progress(given.get("partial_progress"))
    run_if = conditions(
        "compaction", declared.pop("run_if", None), diagnostics, small_file_share_over=parse_share
    )
    if run_if:
        declared["run_if"] = RunIf(**run_if)
    settings = Compaction(**declared)
    check_sizes("compaction", settings, TARGET, around, diagnostics)
    what = f"strategy {settings.strategy}"
    check_options("compaction", what, settings.options, OPTIONS[settings.strategy], diagnostics)
    _check(settings, around, diagnostics)
    return settings


def _check(settings: Compaction, around: Surroundings, diagnostics: Diagnostics) -> None:
    if settings.rewrite_all and settings.every is None:
        why = (
            "Every file would be rewritten with every apply. Write how often that is wanted, such as "
            'every = "30d".'
        )
        diagnostics.error(codes.REWRITE_ALL_WITHOUT_EVERY, why, attribute=("compaction", "rewrite_all"))
    if settings.where is not None:
        _where(settings.where, around, diagnostics)
    declared = around.properties.get(TARGET.property)
    if (
        settings.target_file_size is not None
        and isinstance(declared, str)
        and declared != str(settings.target_file_size)
    ):
        diagnostics.warning(
            codes.TARGETS_DIFFER,
            f"Writers follow the property write.target-file-size-bytes ({declared}), compaction its own "
            f"target_file_size ({settings.target_file_size}). Leave target_file_size out to follow the "
            "property.",
            attribute=("compaction", "target_file_size"),
        )


def _order(given: Attributes, around: Surroundings, diagnostics: Diagnostics) -> Attributes:
    """``sort_by`` and ``zorder_by`` as the records take them, and whether they fit the strategy."""
    strategy = given.get("strategy", "binpack")
    for key, fits in (("sort_by", "sort"), ("zorder_by", "zorder")):
        if key in given and strategy != fits:
            diagnostics.error(
                codes.ORDER_WITHOUT_STRATEGY,
                f'{key} has no meaning with strategy "{strategy}". Write strategy = "{fits}", or remove '
                f"{key}.",
                attribute=("compaction", key),
            )
    if strategy == "zorder" and not given.get("zorder_by"):
        why = (
            'The strategy "zorder" needs zorder_by. Write it with the columns whose values should lie '
            "close together."
        )
        diagnostics.error(codes.ORDER_WITHOUT_STRATEGY, why, attribute=("compaction", "strategy"))
    if strategy == "sort" and "sort_by" not in given and around.sorted is False:
        why = (
            'The strategy is "sort", and the table is declared with no order of its own. Write '
            "compaction.sort_by."
        )
        diagnostics.error(codes.NO_SORT_ORDER, why, attribute=("compaction", "strategy"))
    order: Attributes = {}
    if "sort_by" in given:
        order["sort_by"] = tuple(_terms(given["sort_by"], around, diagnostics)) or None
    if "zorder_by" in given:
        _curve(given["zorder_by"], around, diagnostics)
        order["zorder_by"] = tuple(dict.fromkeys(given["zorder_by"])) or None
    return order


def _curve(paths: Iterable[str], around: Surroundings, diagnostics: Diagnostics) -> None:
    """Iceberg lays top-level columns on a curve, and leaves out those by whose values files are apart
    anyway.
    """
    for path in paths:
        column = fitting(path, _Z_ORDER, around, diagnostics)
        if column is not None and any(
            other != path and is_inside(path, other) for other in around.columns or ()
        ):
            why = (
                f'"{path}" is inside another column, and a z-order takes top-level columns only. Name others.'
            )
            diagnostics.error(codes.UNFIT_MAINTENANCE_COLUMN, why, attribute=_Z_ORDER.where)
    if paths and all(path in around.identities for path in paths):
        why = (
            f"The table is partitioned by the values of {' and '.join(paths)}, so all rows of a file have "
            "the same, and a z-order of them does nothing. Name other columns."
        )
        diagnostics.error(codes.UNFIT_MAINTENANCE_COLUMN, why, attribute=_Z_ORDER.where)


def _terms(value: Data, around: Surroundings, diagnostics: Diagnostics) -> Iterator[SortField]:
    if not isinstance(value, list | tuple) or not value:
        why = 'compaction.sort_by is not a list. Write sort_by = [asc("ts")], also for a single field.'
        diagnostics.error(codes.NOT_A_LIST, why, attribute=_SORTED.where)
        return
    for entry in value:
        term = sort_field("asc", entry) if isinstance(entry, str) else entry
        if not isinstance(term, dict) or set(term) != _TERM:
            why = (
                'An element of compaction.sort_by has another form. Write elements like asc("ts") or '
                'desc("amount").'
            )
            diagnostics.error(codes.NOT_A_TERM, why, attribute=_SORTED.where)
            continue
        field_ = SortField(**term)
        fitting(field_.column, _SORTED, around, diagnostics)
        yield field_


def misfits(settings: Compaction, columns: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """The columns that a compaction names and a table does not have, or has with another type, as warnings.
    ``columns``: the types of all columns that exist, by path.
    """
    there = {path: Column(type=kind) for path, kind in columns.items()}
    around, diagnostics = Surroundings(columns=there, properties={}, sorted=None), Diagnostics()
    for term in settings.sort_by or ():
        fitting(term.column, _SORTED, around, diagnostics)
    for path in settings.zorder_by or ():
        fitting(path, _Z_ORDER, around, diagnostics)
    if settings.where is not None:
        _where(settings.where, around, diagnostics)
    return tuple(
        replace(diagnostic, severity=Severity.WARNING, detail=f"{diagnostic.detail} Nothing is rewritten.")
        for diagnostic in diagnostics
    )


def _where(text: str, around: Surroundings, diagnostics: Diagnostics) -> None:
    where = ("compaction", "where")
    paths = named_columns(text)
    if paths is None:
        why = (
            f'compaction.where is "{text}". Write a condition on rows, as after WHERE in the SQL of Spark, '
            'such as where = "ts >= date_sub(current_date(), 7)".'
        )
        diagnostics.error(codes.NOT_A_CONDITION, why, attribute=where)
        return
    for name in unknown(paths, around.columns) if around.columns is not None else ():
        why = f'compaction.where names "{name}".{did_you_mean(name, around.columns or {})}'
        diagnostics.error(codes.NO_SUCH_COLUMN, why, attribute=where)
