"""The rest of a table's block as maintenance needs it, and the check that the columns which maintenance names
fit. Pure.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg import codes
from flareiac_iceberg.format.spec import Column, is_inside

_NESTED: Final = frozenset({"struct", "list", "map"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The rest of the table's block. ``columns`` None: not managed, so that names cannot be checked.

    ``identities``: the columns whose values are partitions.
    """

    columns: Mapping[str, Column] | None
    properties: Mapping[str, Data]
    sorted: bool | None
    identities: Container[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The need of an attribute (``where``) for a column: a type (None: any with one value) ``to`` do
    something.
    """

    where: tuple[str, ...]
    to: str
    types: Iterable[str] | None = None


def fitting(path: str, need: Need, around: Surroundings, diagnostics: Diagnostics) -> Column | None:
    """The column at a path if it is there; what is wrong is reported."""
    columns = around.columns
    if columns is None:
        return None
    if path not in columns:
        why = f'{".".join(need.where)} names "{path}".{did_you_mean(path, columns)}'
        diagnostics.error(codes.NO_SUCH_COLUMN, why, attribute=need.where)
        return None
    column = columns[path]
    if why := _misfit(path, need, columns):
        detail = f'"{path}" ({column.type}) cannot {need.to}. {why}'
        diagnostics.error(codes.UNFIT_MAINTENANCE_COLUMN, detail, attribute=need.where)
    return column


def _misfit(path: str, need: Need, columns: Mapping[str, Column]) -> str:
    kind = columns[path].type.partition("(")[0]
    repeated = any(
        column != path and is_inside(path, column) and columns[column].type in ("list", "map")
        for column in columns
    )
    fits = kind not in _NESTED and (need.types is None or kind in need.types)
    if fits and not repeated:
        return ""
    takes = f"It must be {', '.join(sorted(need.types))}" if need.types else "It must hold one value"
    return f"{takes}, and must not be inside a list or map." if repeated or not need.types else f"{takes}."
