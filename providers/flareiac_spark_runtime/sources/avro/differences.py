"""Compares declared columns with the schema of a writer. Pure.

A column takes what Spark reads of a field, or what fits into it without loss. What is lost or misread
silently (``long`` as ``double``, bytes as text) does not fit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final, TypeAlias

from flareiac.kernel.column_types import (
    ColumnType,
    DecimalOf,
    ListOf,
    MapOf,
    Plain,
    StructOf,
    render,
    type_of,
)
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.columns import NoColumn, natural_type, read_as
from flareiac_spark_runtime.sources.avro.types import (
    NULL,
    Array,
    AvroType,
    Decimal,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
)
from flareiac_spark_runtime.sources.resolved import SpecColumn

_FITS: Final[Mapping[str, tuple[str, ...]]] = {
    "int": ("long", "double"),
    "float": ("double",),
    "string": ("uuid", "binary"),
}
"""Wider types, by the one that Spark reads."""
_DIGITS: Final[Mapping[str, int]] = {"int": 10, "long": 19}
"""The most digits of a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewField:
    """A field that no column takes. ``type``: of the column that would; None where no column can, for
    ``why``. ``path`` of a field in a struct, which is ``within``: ``address.zip``. ``similar``: the column,
    or the part of one, that is called so but for upper and lower case.
    """

    path: str
    type: str | None
    why: str = ""
    similar: str | None = None
    within: str = ""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.removeprefix(f"{self.within}.") if self.within else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingField:
    """A column, or a part of one, that is no field of the schema. ``similar``: a field that may be meant."""

    path: str
    required: bool
    similar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeDiffers:
    """A column whose type does not take what is written. ``written``: the type that would; ``declared``: the
    one that is declared.
    """

    path: str
    written: str
    declared: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReadable:
    """A column whose field no column can hold. ``why`` goes on after "it"."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotARecord:
    """Values are no records, so that they have no columns. ``kind``: what they are."""

    kind: str


Difference: TypeAlias = NewField | MissingField | TypeDiffers | NotReadable | NotARecord


def differences(schema: AvroType, columns: Sequence[SpecColumn]) -> list[Difference]:
    """The differences between declared columns and a writer's schema, in the order of the columns, new fields
    last.
    """
    if not isinstance(schema, Record):
        return [NotARecord(kind=type(schema).__name__.lower())]
    of_columns: list[Difference] = []
    for column in columns:
        of_columns += _member(schema, column.name, type_of(column.type), column.required, column.name)
    return [*of_columns, *_new_fields(schema, {column.name for column in columns}, "")]


def blocks(difference: Difference) -> bool:
    """Returns True if a record with this difference cannot be read into the columns."""
    match difference:
        case NewField():
            return False
        case MissingField(required=required):
            return required
        case TypeDiffers() | NotReadable() | NotARecord():
            return True


def _member(record: Record, name: str, kind: ColumnType, required: bool, path: str) -> Iterator[Difference]:
    field = record.field(name)
    if field is None:
        yield MissingField(path=path, required=required, similar=_similar(record, name))
    else:
        yield from _fit(field.type, kind, path)


def _fit(schema: AvroType, kind: ColumnType, path: str) -> Iterator[Difference]:
    read = read_as(schema)
    match read, kind:
        case Primitive(), _ if read == NULL:
            return
        case Record() as record, StructOf(members=members) if record.fields:
            for member in members:
                yield from _member(record, member.name, member.type, member.required, f"{path}.{member.name}")
            yield from _new_fields(record, {member.name for member in members}, f"{path}.")
        case Array(items=items), ListOf(element=element):
            yield from _fit(items, element, f"{path}.element")
        case Map(values=values), MapOf(key=Plain(name="string"), value=value):
            yield from _fit(values, value, f"{path}.value")
        case _:
            yield from _leaf(read, kind, path)


def _leaf(read: AvroType, kind: ColumnType, path: str) -> Iterator[Difference]:
    try:
        written = natural_type(read)
    except NoColumn as reason:
        yield NotReadable(path=path, why=str(reason))
        return
    if not _takes(read, written, kind):
        yield TypeDiffers(path=path, written=written, declared=render(kind, nullable=True))


def _takes(read: AvroType, written: str, kind: ColumnType) -> bool:
    match read, kind:
        case Decimal(precision=precision, scale=scale), DecimalOf():
            return kind.scale >= scale and kind.precision - kind.scale >= precision - scale
        case Primitive(), DecimalOf(precision=precision, scale=scale):
            return precision - scale >= _DIGITS.get(written, precision + 1)
        case Fixed(size=size), Plain(name=name):
            return name in ("binary", f"fixed({size})")
        case Enum(), Plain(name=name):
            return name == "string"
        case Primitive(logical=logical), Plain(name=name):
            return name == written or (logical in (None, "uuid") and name in _FITS.get(written, ()))
        case _:
            return False


def _new_fields(record: Record, known: set[str], prefix: str) -> Iterator[Difference]:
    by_case = {name.lower(): name for name in known}
    for field in record.fields:
        if field.name in known:
            continue
        new_field = NewField(
            path=f"{prefix}{field.name}",
            type=None,
            similar=by_case.get(field.name.lower()),
            within=prefix.removesuffix("."),
        )
        try:
            yield replace(new_field, type=natural_type(field.type))
        except NoColumn as reason:
            yield replace(new_field, why=str(reason))


def _similar(record: Record, name: str) -> str | None:
    """A field whose name differs in case, or in a letter or two."""
    by_case = {field.name.lower(): field.name for field in record.fields}
    close = get_close_matches(name.lower(), by_case, 1, 0.8)
    return by_case[close[0]] if close else None
