"""Refuses to replace partitions of a table where rows of them lie in files of an earlier partitioning. Reads
the table.

Iceberg replaces the files of the present partitioning only. After ``day(ts)`` has become ``month(ts)``, files
by day stay beside the month that replaces them, and each of their rows is there twice. Whether a row of such
a file is in a partition that is replaced is computed from the row: a file of another layout does not say it.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import TableOutput
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.sources.decoding import ONCE, STAYS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EARLIER_LAYOUT: Final = "ROWS_OF_EARLIER_PARTITIONING"
_DAY: Final = 24 * 60 * 60 * 1_000_000
"""In microseconds."""
_WIDTH: Final = {"identity": 0, "hour": _DAY, "day": _DAY, "month": 31 * _DAY, "year": 366 * _DAY}
"""The maximum distance between two times of one partition, by transform."""
_SHIFT: Final = 2 * _DAY
"""More than any time zone moves a time without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """A field of the present partitioning. ``value`` computes its partition of a row as SQL: a constant where
    only Iceberg can compute it, so that all rows are in one. ``timed``: the type of its column is a time.
    """

    column: str
    transform: str
    value: str
    timed: bool


def has_earlier_files(table: Any, branch: str | None) -> bool:
    """Returns True where the newest snapshot of a branch holds data files of another partitioning than the
    present one, which has fields. ``table`` is Iceberg's own object, as it is now.
    """
    spec, snapshot = table.spec(), table.snapshot(branch or "main")
    if snapshot is None or not spec.fields().size():
        return False
    return any(
        manifest.partitionSpecId() != spec.specId()
        and (manifest.hasAddedFiles() or manifest.hasExistingFiles())
        for manifest in snapshot.dataManifests(table.io())
    )


def refuse_rows_left(frame: "DataFrame", output: TableOutput) -> None:
    """Raises ``Refusal`` where a row of an earlier partitioning is in a partition that these rows replace."""
    session = frame.sparkSession
    table = tables.target(session, output)
    if not has_earlier_files(table, output.branch):
        return
    fields = list(_fields(table, output.identifier[0]))
    names = [f"__flareiac_part{number}" for number in range(len(fields))]
    values = [f"{field.value} AS {name}" for field, name in zip(fields, names, strict=True)]
    old = session.table(tables.quoted_target(output)).where(f"_spec_id <> {int(table.spec().specId())}")
    for near in filter(None, (_near(frame, field) for field in fields)):
        old = old.where(near)
    # Iceberg leaves out files by a condition on truncate(note, 1) although their rows fulfil it (measured
    # with files that are partitioned by note). Spark passes it no condition across such a column.
    rows = old.selectExpr(*values, f"{STAYS} AS {ONCE}").where(ONCE).alias("o")
    new = frame.selectExpr(*values).distinct().alias("n")
    meets = " AND ".join(f"n.{name} <=> o.{name}" for name in names)
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it

    if not rows.join(new, F.expr(meets), "left_semi").isEmpty():
        raise _left(output, fields)


def _fields(table: Any, catalog: str) -> Iterator[_Field]:
    schema, functions = table.schema(), f"{quote(catalog)}.system"
    for field in table.spec().fields():
        path, kind = _path(schema, field.sourceId()), str(schema.findType(field.sourceId()).typeId().name())
        column, transform = ".".join(map(quote, path)), str(field.transform().toString())
        word, _, argument = transform.rstrip("]").partition("[")
        match word:
            case "identity":
                value = column
            case "year" | "month" | "day" | "hour":
                value = f"{functions}.{word}s({column})"
            case "bucket" | "truncate" if kind != "UUID":
                value = f"{functions}.{word}({int(argument)}, {column})"
            case _:
                value = "0"
        yield _Field(column=column, transform=word, value=value, timed=kind in ("DATE", "TIMESTAMP"))


def _path(schema: Any, field_id: int) -> Sequence[str]:
    """The names that lead to a field."""
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    parents = jvm.org.apache.iceberg.types.TypeUtil.indexParents(schema.asStruct())
    path, at = list[str](), field_id
    while at is not None:
        path.insert(0, str(schema.findField(at).name()))
        at = parents.get(at)
    return path


def _near(frame: "DataFrame", field: _Field) -> str | None:
    """A condition that each row of a partition fulfils which the frame has, and by which Iceberg leaves out
    files; None where there is none.
    """
    if not field.timed or field.transform not in _WIDTH:
        return None
    times = f"unix_micros(CAST({field.column} AS TIMESTAMP))"
    extent: Any = frame.selectExpr(f"min({times})", f"max({times})")
    row = extent._jdf.head()
    if row.isNullAt(0):
        return f"{field.column} IS NULL"
    first, last = row.getLong(0), row.getLong(1)
    width, greatest = _WIDTH[field.transform] + _SHIFT, 2**63 - 1
    bounds = (max(first - width, -greatest), min(last + width, greatest))
    least, most = (f"CAST(timestamp_micros({at}) AS TIMESTAMP_NTZ)" for at in bounds)
    return f"({field.column} IS NULL OR {field.column} BETWEEN {least} AND {most})"


def _left(output: TableOutput, fields: Sequence[_Field]) -> Refusal:
    by = ", ".join(f"{field.transform}({field.column})" for field in fields)
    why = (
        f"The output {output.name!r} replaces partitions of {'.'.join(output.identifier)}, and rows of these "
        f"partitions lie in files of an earlier partitioning. Iceberg replaces files of the present one "
        f"({by}) only, and those rows would stay beside the new ones. Nothing was written. Rewrite the "
        "table's files once: in the compaction block of its table write rewrite_all = true and every = "
        '"1d", apply, and remove rewrite_all again; or replace by keys (mode = "merge"), or all rows (mode = '
        '"overwrite").'
    )
    return Refusal(EARLIER_LAYOUT, why)
