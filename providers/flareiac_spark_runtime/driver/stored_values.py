"""Gives the values of a batch the spelling in which the table returns them, so that the rows of a batch and
those of the table meet by value; touches no table.

Spark has no type for a uuid: it reads one as text in lower case, and passes any other spelling to Iceberg,
which stores the same value. Compared as text, ``3F25...`` and ``3f25...`` are two keys of one value. Values
of each other type are cast to the column's own before they reach a table, and Spark compares them by value.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from flareiac_spark_runtime.control import TableOutput
from flareiac_spark_runtime.driver.column_types import quote, spark_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_UUID_TYPE: Final = "VARCHAR(36)"
"""Marks a uuid in a schema. No type of Iceberg's becomes a VARCHAR."""
_CANONICAL: Final = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_EXAMPLE: Final = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
MALFORMED_UUID: Final = "MALFORMED_UUID"
"""The error class of a text that a merge takes for a uuid and that is none."""


def as_stored(frame: "DataFrame", output: TableOutput) -> Any:
    """The frame with each uuid of the output's columns in lower case, at any depth.

    A merge fails on a text that is no uuid of 36 characters: Iceberg also reads ``1-1-1-1-1`` and cuts groups
    that are too long, so that two such texts may be one key.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it
    from pyspark.sql.types import StructType

    columns = [column for column in output.columns if "uuid" in column.type.lower()]
    if not columns:
        return frame
    schema = cast("StructType", StructType.fromDDL(spark_columns(columns, uuid=_UUID_TYPE)))
    kinds = {field.name.lower(): field.dataType for field in schema if _holds_uuid(field.dataType)}
    otherwise = _refusing(output) if output.mode == "merge" else None
    return frame.select(
        *(
            _stored(F.col(quote(name)), kinds[name.lower()], otherwise).alias(name)
            if name.lower() in kinds
            else F.col(quote(name))
            for name in frame.columns
        )
    )


def _refusing(output: TableOutput) -> Callable[[Any], Any]:
    """Raises an error in place of a text that is no uuid."""
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it

    table = ".".join(output.identifier)
    return lambda text: F.raise_error(
        F.concat(
            F.lit(f"[{MALFORMED_UUID}] the table {table} takes a uuid, and a row gives '"),
            text,
            F.lit(f"'. A merge compares uuids of 36 characters, such as {_EXAMPLE}: correct it in a step"),
        )
    ).cast("string")


def _stored(value: Any, kind: Any, otherwise: Callable[[Any], Any] | None) -> Any:
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it
    from pyspark.sql import types

    if not _holds_uuid(kind):
        return value
    match kind:
        case types.StructType():
            fields = [
                _stored(value.getField(field.name), field.dataType, otherwise).alias(field.name)
                for field in kind
            ]
            return F.when(value.isNotNull(), F.struct(*fields))
        case types.ArrayType():
            return F.transform(value, lambda element: _stored(element, kind.elementType, otherwise))
        case types.MapType():
            keyed = F.transform_keys(value, lambda key, _: _stored(key, kind.keyType, otherwise))
            return F.transform_values(
                keyed, lambda _, map_value: _stored(map_value, kind.valueType, otherwise)
            )
        case _:
            canonical = F.when(value.isNull() | value.rlike(_CANONICAL), F.lower(value))
            return canonical.otherwise(value if otherwise is None else otherwise(value))


def _holds_uuid(kind: Any) -> bool:
    from pyspark.sql import types

    match kind:
        case types.StructType():
            return any(_holds_uuid(field.dataType) for field in kind)
        case types.ArrayType():
            return _holds_uuid(kind.elementType)
        case types.MapType():
            return _holds_uuid(kind.keyType) or _holds_uuid(kind.valueType)
        case _:
            return isinstance(kind, types.VarcharType)
