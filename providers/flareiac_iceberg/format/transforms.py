"""The functions of the language that this provider offers: partition transforms and sort directions, as plain
data.
"""

from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.types import ANY, NUMBER, STRING
from flareiac.sdk.provider import Function


def partition(transform: str, column: str, param: int | None = None, name: str | None = None) -> Data:
    """One partition field: what ``day("ts")`` evaluates to."""
    return {"transform": transform, "column": column, "param": param, "name": name}


def sort_field(direction: str, term: Data, nulls: str | None = None) -> Data:
    """One sort field: what ``asc("ts")`` evaluates to. Nulls are first when ascending and last when
    descending, as in Iceberg.
    """
    if nulls not in (None, "first", "last"):
        raise ValueError('Nulls stand "first" or "last".')
    inner = term if isinstance(term, dict) else partition("identity", term)
    if not isinstance(inner.get("column"), str) or "transform" not in inner:
        raise ValueError(f"{direction}() takes a column's name or a transform such as day(...).")
    default = "first" if direction == "asc" else "last"
    return {
        "transform": inner["transform"],
        "column": inner["column"],
        "param": inner["param"],
        "direction": direction,
        "nulls": nulls or default,
    }


def _by_column(transform: str, description: str) -> Function:
    def call(column: str, name: str | None = None) -> Data:
        return partition(transform, column, None, name)

    return Function(
        name=transform,
        parameters=(("column", STRING),),
        optional=(("field_name", STRING),),
        returns=ANY,
        call=call,
        description=description,
    )


def _by_width(transform: str, width: str, description: str) -> Function:
    def call(number: float, column: str, name: str | None = None) -> Data:
        if number != int(number) or not 1 <= number <= 2**31 - 1:
            raise ValueError(f"The {width} of {transform}() is a whole number from 1.")
        return partition(transform, column, int(number), name)

    return Function(
        name=transform,
        parameters=((width, NUMBER), ("column", STRING)),
        optional=(("field_name", STRING),),
        returns=ANY,
        call=call,
        description=description,
    )


def _direction(direction: str, description: str) -> Function:
    def call(term: Data, nulls: str | None = None) -> Data:
        return sort_field(direction, term, nulls)

    return Function(
        name=direction,
        parameters=(("column", ANY),),
        optional=(("nulls", STRING),),
        returns=ANY,
        call=call,
        description=description,
    )


FUNCTIONS: Final = (
    _by_column("identity", "Partition by the value of a column itself."),
    _by_column("year", "Partition by the year of a date or timestamp (UTC)."),
    _by_column("month", "Partition by the month of a date or timestamp (UTC)."),
    _by_column("day", "Partition by the day of a date or timestamp (UTC)."),
    _by_column("hour", "Partition by the hour of a timestamp (UTC)."),
    _by_width("bucket", "buckets", "Partition by a hash of a column into a number of buckets."),
    _by_width(
        "truncate",
        "width",
        "Partition by a text's first characters, or a number rounded down to a multiple of the width.",
    ),
    _direction(
        "asc", "Sort ascending by a column or transform; nulls first unless the second argument says last."
    ),
    _direction(
        "desc", "Sort descending by a column or transform; nulls last unless the second argument says first."
    ),
)
