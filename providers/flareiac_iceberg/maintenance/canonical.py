"""From the declared blocks to canonical settings: all numbers resolved, everything wrong reported before
Spark sees it. Pure.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from flareiac.kernel.codes import KNOWN_AFTER_APPLY
from flareiac.kernel.data import Attributes, Data, is_known
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Severity, did_you_mean
from flareiac.sdk.validators import parse_duration, parse_size
from flareiac_iceberg import codes
from flareiac_iceberg.format.spec import Column, is_inside
from flareiac_iceberg.format.transforms import sort_field
from flareiac_iceberg.maintenance.humanize import exact_duration, exact_size
from flareiac_iceberg.maintenance.schema import NAMES, parse_share
from flareiac_iceberg.maintenance.settings import (
    KINDS,
    Compaction,
    DeleteRewrite,
    SnapshotExpiry,
    data_of,
)
from flareiac_iceberg.maintenance.where_clause import named_columns, unknown

_DURATIONS: Final = frozenset({"every", "older_than", "hold_readers_for", "keep"})
_SIZES: Final = frozenset({"target_file_size", "min_file_size", "max_file_size", "max_file_group_size"})
_LONG: Final = 19
_TIMES: Final = ("timestamptz", "timestamp_ntz", "date")
_CURVED: Final = frozenset(
    {"boolean", "int", "long", "float", "double", "string", "binary", "fixed", "uuid", "date", "timestamptz"}
)
"""What Iceberg 1.11 can lay on a z-order curve."""
_NESTED: Final = frozenset({"struct", "list", "map"})

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
    "delete_rewrite": ("rewrite-job-order",),
}
"""The options of Iceberg 1.11 that no attribute stands for. It refuses other names, but only once a table has
rows (measured).
"""
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
"""What an option takes, in words and as a pattern; the others of them count something."""
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
class Around:
    """What the rest of the table's block says. ``columns`` None: not managed, so that names cannot be
    checked.

    ``identities``: the columns whose values are partitions.
    """

    columns: Mapping[str, Column] | None
    properties: Mapping[str, Data]
    sorted: bool | None
    identities: Container[str] = ()


def canonical_blocks(
    wanted: Attributes, around: Around, diagnostics: Diagnostics
) -> dict[str, Attributes | None]:
    """Each of the six blocks as data, None where it is not declared."""
    found: dict[str, Attributes | None] = {}
    for name in NAMES:
        body = wanted.get(name)
        found[name] = None if body is None else _block(name, dict(body), around, diagnostics)
    return found


def shown(block: Attributes) -> Attributes:
    """Settings as they would be declared, without those that are left to the table or to Iceberg."""
    return {name: _text(name, value) for name, value in block.items() if value is not None}


def _text(name: str, value: Data) -> Data:
    if name in _DURATIONS:
        return exact_duration(value)
    return exact_size(value) if name in _SIZES or name == "mean_size_under" else value


def _block(name: str, body: Attributes, around: Around, diagnostics: Diagnostics) -> Attributes:
    for key, value in body.items():
        if not is_known(value):
            _unknown((name, key), diagnostics)
            body[key] = None
    given = {key: _number(key, value) for key, value in body.items() if value is not None}
    if isinstance(given.get("run_if"), dict):
        given["run_if"] = _conditions(name, given["run_if"], diagnostics)
        if not given["run_if"]:
            del given["run_if"]
    if isinstance(given.get("partial_progress"), dict):
        given["partial_progress"] = {
            key: value for key, value in given["partial_progress"].items() if value is not None
        }
    if name == "compaction":
        given |= _order(given, around, diagnostics)
    if name == "retention":
        given = {"column": "", "keep": 1} | given
        _retained(given, around, diagnostics)
    settings = KINDS[name](**given)
    match settings:
        case Compaction() | DeleteRewrite():
            _rewrite(name, settings, around, diagnostics)
        case SnapshotExpiry():
            _expiry(around, diagnostics)
        case _:
            pass
    return data_of(settings)


def _unknown(path: tuple[str, str], diagnostics: Diagnostics) -> None:
    why = (
        f"{path[0]}.{path[1]} must be known when the plan is made. Write it out, or take it from a variable."
    )
    diagnostics.error(KNOWN_AFTER_APPLY, why, attribute=path)


def _number(key: str, value: Data) -> Data:
    if key in _DURATIONS:
        return parse_duration(value)
    return parse_size(value) if key in _SIZES else value


def _conditions(name: str, value: Mapping[str, Data], diagnostics: Diagnostics) -> Attributes:
    given = {key: item for key, item in value.items() if item is not None}
    if not given:
        why = f"{name}.run_if is empty. Give it a condition, or leave it out for the default."
        diagnostics.error(codes.EMPTY_CONDITIONS, why, attribute=(name, "run_if"))
    forms = {"small_file_share_over": parse_share, "mean_size_under": parse_size}
    return {key: forms[key](item) if key in forms else item for key, item in given.items()}


def _order(given: Attributes, around: Around, diagnostics: Diagnostics) -> Attributes:
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
    found: Attributes = {}
    if "sort_by" in given:
        found["sort_by"] = tuple(_terms(given["sort_by"], around, diagnostics)) or None
    if "zorder_by" in given:
        _curve(given["zorder_by"], around, diagnostics)
        found["zorder_by"] = tuple(dict.fromkeys(given["zorder_by"])) or None
    return found


def _curve(paths: Iterable[str], around: Around, diagnostics: Diagnostics) -> None:
    """Iceberg lays top-level columns on a curve, and leaves out those by whose values files are apart
    anyway.
    """
    where = ("compaction", "zorder_by")
    for path in paths:
        column = _fits(path, _CURVED, "be part of a z-order", where, around, diagnostics)
        if column is not None and any(
            other != path and is_inside(path, other) for other in around.columns or ()
        ):
            why = (
                f'"{path}" is inside another column, and a z-order takes top-level columns only. Name others.'
            )
            diagnostics.error(codes.UNFIT_MAINTENANCE_COLUMN, why, attribute=where)
    if paths and all(path in around.identities for path in paths):
        why = (
            f"The table is partitioned by the values of {' and '.join(paths)}, so all rows of a file have "
            "the same, and a z-order of them does nothing. Name other columns."
        )
        diagnostics.error(codes.UNFIT_MAINTENANCE_COLUMN, why, attribute=where)


def _terms(value: Data, around: Around, diagnostics: Diagnostics) -> Iterable[Attributes]:
    where = ("compaction", "sort_by")
    if not isinstance(value, list | tuple) or not value:
        why = 'compaction.sort_by is not a list. Write sort_by = [asc("ts")], also for a single field.'
        diagnostics.error(codes.NOT_A_LIST, why, attribute=where)
        return
    for item in value:
        term = sort_field("asc", item) if isinstance(item, str) else item
        if not isinstance(term, dict) or set(term) != {"transform", "column", "param", "direction", "nulls"}:
            why = (
                'An element of compaction.sort_by has another form. Write elements like asc("ts") or '
                'desc("amount").'
            )
            diagnostics.error(codes.NOT_A_TERM, why, attribute=where)
            continue
        _fits(term["column"], None, "be sorted by", where, around, diagnostics)
        yield term


def _fits(
    path: str,
    kinds: Iterable[str] | None,
    what: str,
    where: tuple[str, ...],
    around: Around,
    diagnostics: Diagnostics,
) -> Column | None:
    """The column at a path if it is there and of one of these types (None: any with one value); what is wrong
    is reported.
    """
    columns = around.columns
    if columns is None:
        return None
    if path not in columns:
        why = f'{".".join(where)} names "{path}".{did_you_mean(path, columns)}'
        diagnostics.error(codes.NO_SUCH_COLUMN, why, attribute=where)
        return None
    column, kind = columns[path], columns[path].type.partition("(")[0]
    repeated = [
        item
        for item in columns
        if item != path and is_inside(path, item) and columns[item].type in ("list", "map")
    ]
    if repeated or kind in _NESTED or (kinds is not None and kind not in kinds):
        takes = f"It must be {', '.join(sorted(kinds))}" if kinds else "It must hold one value"
        why = f"{takes}, and must not be inside a list or map." if repeated or not kinds else f"{takes}."
        diagnostics.error(
            codes.UNFIT_MAINTENANCE_COLUMN, f'"{path}" ({column.type}) cannot {what}. {why}', attribute=where
        )
    return column


def _retained(given: Attributes, around: Around, diagnostics: Diagnostics) -> None:
    if given["column"]:
        _fits(given["column"], _TIMES, "show how old a row is", ("retention", "column"), around, diagnostics)


def _rewrite(
    name: str, settings: Compaction | DeleteRewrite, around: Around, diagnostics: Diagnostics
) -> None:
    _sizes(name, settings, around, diagnostics)
    strategy = settings.strategy if isinstance(settings, Compaction) else "delete_rewrite"
    _options(name, strategy, settings.options, diagnostics)
    if isinstance(settings, DeleteRewrite):
        return
    if settings.rewrite_all and settings.every is None:
        why = (
            "Every file would be rewritten with every apply. Write how often that is wanted, such as "
            'every = "30d".'
        )
        diagnostics.error(codes.REWRITE_ALL_WITHOUT_EVERY, why, attribute=("compaction", "rewrite_all"))
    if settings.where is not None:
        _where(settings.where, around, diagnostics)
    declared = around.properties.get("write.target-file-size-bytes")
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


def _sizes(name: str, settings: Compaction | DeleteRewrite, around: Around, diagnostics: Diagnostics) -> None:
    """Iceberg wants least < wanted < most. Where no wanted size is declared, it is the table's own, which is
    judged once it is known.
    """
    low, wanted, high = settings.min_file_size, settings.target_file_size, settings.max_file_size
    target = wanted if wanted is not None else _declared(settings, around)
    named = [("min_file_size", low), ("target_file_size", target), ("max_file_size", high)]
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


def _declared(settings: Compaction | DeleteRewrite, around: Around) -> int | None:
    """The wanted size where the block names none: what the declared properties say."""
    data = isinstance(settings, Compaction)
    said = str(
        around.properties.get(
            "write.target-file-size-bytes" if data else "write.delete.target-file-size-bytes"
        )
    )
    return int(said) if said.isdecimal() and len(said) < _LONG else None


def _options(name: str, strategy: str, options: Mapping[str, str], diagnostics: Diagnostics) -> None:
    allowed = OPTIONS[strategy]
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
        what = f"strategy {strategy}" if name == "compaction" else name
        why = (
            f"Use the attribute {own}."
            if own
            else f"Those of {what} are {', '.join(allowed)}.{did_you_mean(key, allowed)}"
        )
        diagnostics.error(
            codes.INVALID_REWRITE_OPTION, f'"{key}" cannot be set. {why}', attribute=(name, "options")
        )


def misfits(settings: Compaction, columns: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """What a compaction names and a table has not, or not so, as warnings. ``columns``: the types of all that
    is there, by path.
    """
    there = {path: Column(type=kind) for path, kind in columns.items()}
    around, found = Around(columns=there, properties={}, sorted=None), Diagnostics()
    for term in settings.sort_by or ():
        _fits(term["column"], None, "be sorted by", ("compaction", "sort_by"), around, found)
    for path in settings.zorder_by or ():
        _fits(path, _CURVED, "be part of a z-order", ("compaction", "zorder_by"), around, found)
    if settings.where is not None:
        _where(settings.where, around, found)
    return tuple(
        replace(item, severity=Severity.WARNING, detail=f"{item.detail} Nothing is rewritten.")
        for item in found
    )


def _where(text: str, around: Around, diagnostics: Diagnostics) -> None:
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


def _expiry(around: Around, diagnostics: Diagnostics) -> None:
    for name in around.properties:
        if name in ("history.expire.max-snapshot-age-ms", "history.expire.min-snapshots-to-keep"):
            diagnostics.warning(
                codes.PROPERTY_NOT_FOLLOWED,
                f"snapshot_expiry follows its own older_than and retain_last; {name} counts for other tools "
                "only. Remove it, or give both the same value.",
                attribute=("properties",),
            )
