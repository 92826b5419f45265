"""Rules of Iceberg about types: what a table may hold, and how one type may become another. Pure."""

from typing import Final

from flareiac.kernel.column_types import ColumnType, DecimalOf, StructOf, TypeTextError, build, parse, parts

NOT_IN_SPARK: Final = frozenset({"time"})
"""Types that Iceberg and this provider know, and that keep Spark from loading a table."""


def table_type(text: str) -> tuple[ColumnType, bool]:
    """The type of a table's column, and whether the text says ``not null``. Raises ``TypeTextError``, also
    for names of fields that a table cannot have.
    """
    kind, required = parse(text)
    _check_names(kind)
    return kind, required


def can_become(old: str, new: str) -> bool:
    """Returns True if Iceberg reads old files of a primitive type as the new one without rewriting them
    (format versions 1 and 2).
    """
    match build(old, ()), build(new, ()):
        case DecimalOf() as was, DecimalOf() as now:
            return was.scale == now.scale and was.precision <= now.precision
        case _:
            return (old, new) in {("int", "long"), ("float", "double")}


def _check_names(kind: ColumnType) -> None:
    names: dict[str, str] = {}
    for part in parts(kind):
        name = part.name
        if isinstance(kind, StructOf):
            if "." in name:
                raise TypeTextError(
                    f'The field name "{name}" has a dot. Dots separate the levels of nested columns.'
                )
            twin = names.get(name.lower())
            if twin is not None:
                raise TypeTextError(
                    f'The struct has two fields "{name}".'
                    if twin == name
                    else f'The struct has the fields "{twin}" and "{name}", which differ in case only. Spark '
                    "does not tell them apart."
                )
            names[name.lower()] = name
        _check_names(part.type)
