"""Checks which columns may identify, partition and order rows. Iceberg loads no table whose layout breaks
these rules. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.sdk.changes import Blocker, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.format.spec import Column, TableSpec, is_inside

_TIMES: Final = frozenset({"timestamptz", "timestamp_ntz", "timestamptz_ns", "timestamp_ns"})
TIME_TRANSFORMS: Final = frozenset({"year", "month", "day", "hour"})
_BUCKETED: Final = _TIMES | {"int", "long", "decimal", "date", "time", "string", "uuid", "fixed", "binary"}
_MANY_VALUED: Final = frozenset({"struct", "list", "map", "variant", "geometry", "geography"})
_TAKES: Final = {
    "year": _TIMES | {"date"},
    "month": _TIMES | {"date"},
    "day": _TIMES | {"date"},
    "hour": _TIMES,
    "bucket": _BUCKETED,
    "truncate": frozenset({"int", "long", "decimal", "string", "binary"}),
}
TRANSFORMS: Final = ("identity", *_TAKES)
"""All that Iceberg has; identity takes every column with one value."""


def misfit(transform: str, path: str, columns: Mapping[str, Column]) -> tuple[str, str] | None:
    """The reason that a transform does not take a column that exists: the type of the column, and the types
    that would fit. None where it does.
    """
    kind = columns[path].type.partition("(")[0]
    around = [level for level in _around(path, columns) if columns[level].type in ("list", "map")]
    if kind not in _MANY_VALUED and not around and kind in _TAKES.get(transform, {kind}):
        return None
    is_now = columns[path].type + (f" inside {around[0]}" if around else "")
    if transform not in _TAKES:
        return is_now, "only columns with one value can be used"
    # The finer times cannot be declared, so no one is advised to use them.
    return (
        is_now,
        (
            f"{transform} takes "
            f"{', '.join(sorted(name for name in _TAKES[transform] if not name.endswith('_ns')))}"
        ),
    )


def can_identify(path: str, columns: Mapping[str, Column]) -> bool:
    """Returns True if the type of a column that exists lets it identify rows, null or not."""
    nested = any(columns[level].type in ("list", "map") for level in _around(path, columns))
    return not nested and columns[path].type not in _MANY_VALUED | {"float", "double"}


def may_be_null(path: str, columns: Mapping[str, Column]) -> list[str]:
    """The levels of a column, itself among them, that may be null."""
    return [level for level in (*_around(path, columns), path) if not columns[level].required]


def _around(path: str, columns: Mapping[str, Column]) -> list[str]:
    return [column for column in columns if column != path and is_inside(path, column)]


def layout_errors(table: TableSpec) -> Iterator[Blocker]:
    """One blocker for each part of a table's layout that its columns do not allow."""
    columns = table.columns or {}
    terms = [
        ("partition_by", partition_field.transform, partition_field.column)
        for partition_field in table.partition_by or ()
    ]
    terms += [("sort_by", sort_field.transform, sort_field.column) for sort_field in table.sort_by or ()]
    for attribute, transform, path in terms:
        if path not in columns:
            yield _missing(attribute, path)
        elif (mismatch := misfit(transform, path, columns)) is not None:
            yield _unfit_term(attribute, transform, path, *mismatch)
    for path in table.identifier or ():
        if path not in columns:
            yield _missing("identifier", path)
        elif not can_identify(path, columns):
            yield _unfit_identifier(path, columns[path].type)
        elif levels := may_be_null(path, columns):
            yield _nullable_identifier(path, levels)


def _missing(attribute: str, path: str) -> Blocker:
    return blocker(
        codes.LAYOUT_WITHOUT_COLUMN,
        f"{attribute} uses the column {path}, which the table would not have.",
        (f"declare {attribute} without {path}; both change in one commit", f"keep the column {path}"),
    )


def _unfit_term(attribute: str, transform: str, path: str, is_now: str, fitting: str) -> Blocker:
    return blocker(
        codes.UNFIT_TRANSFORM,
        f"{attribute} uses {transform} of {path}, which is {is_now}: {fitting}; with anything else the "
        "table cannot be read.",
        (f"declare {attribute} without {path}, or with a transform that takes {is_now}",),
    )


def _unfit_identifier(path: str, kind: str) -> Blocker:
    return blocker(
        codes.UNFIT_IDENTIFIER,
        f"{path} is {kind}: identifier columns are not float or double, hold one value, and are not inside "
        "a list or map.",
        (f"declare identifier without {path}",),
    )


def _nullable_identifier(path: str, levels: list[str]) -> Blocker:
    named = " and ".join(levels)
    may_be = "it may be null" if levels == [path] else f"{named} may be null"
    return blocker(
        codes.NULLABLE_IDENTIFIER,
        f"{path} cannot identify rows: {may_be}, and Iceberg takes only columns that are not null as "
        "identifier, in structs that are not null.",
        (f"declare identifier without {path}", f'declare {named} as "not null" (on an empty table)'),
    )
