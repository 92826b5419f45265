"""A table's canonical attributes as the block that declares them: units of the file, no defaults. Pure."""

from collections.abc import Iterator
from typing import Final

from flareiac.kernel.column_types import render
from flareiac.kernel.data import Attributes
from flareiac.sdk.importing import Call, Written, WrittenBlock
from flareiac_iceberg.format.spec import (
    PartitionField,
    SortField,
    TableDefinition,
    TableSpec,
    children,
    type_at,
)
from flareiac_iceberg.maintenance.canonical import shown
from flareiac_iceberg.maintenance.schema import BLOCKS

_PLAIN: Final = ("comment", "format_version", "location")
_AFTER_LAYOUT: Final = ("distribution", "identifier", "properties", "tags", "renamed", "engine")
_NAMED_BLOCKS: Final = ("branch", "tag", "reader")


def written_block(label: str, attributes: Attributes) -> WrittenBlock:
    """The block of a table. Values that are not shown may be replaced by marks."""
    table = TableDefinition.of(attributes)
    writtens: dict[str, Written] = {
        "catalog": table.catalog,
        "namespace": table.namespace,
        "name": None if table.name == label else table.name,
        **{name: attributes.get(name) for name in _PLAIN},
        "partition_by": [partition_call(field) for field in table.partition_by or ()],
        "sort_by": [sort_call(field) for field in table.sort_by or ()],
        **{name: attributes.get(name) for name in _AFTER_LAYOUT},
        "on_destroy": None if table.on_destroy == "retain" else table.on_destroy,
    }
    columns = [
        WrittenBlock(type="column", label=path, attributes=column_block(table, path))
        for path in children(table.columns or {}, "")
    ]
    return WrittenBlock(
        type="table",
        label=label,
        attributes={name: value for name, value in writtens.items() if value not in (None, [], {})},
        blocks=(*columns, *_named(attributes), *_maintenance(attributes)),
    )


def _named(attributes: Attributes) -> Iterator[WrittenBlock]:
    for kind in _NAMED_BLOCKS:
        for name, body in (attributes.get(kind) or {}).items():
            given = {key: value for key, value in body.items() if value is not None}
            yield WrittenBlock(type=kind, label=name, attributes=given)


def _maintenance(attributes: Attributes) -> Iterator[WrittenBlock]:
    for name, nested in BLOCKS.items():
        body = attributes.get(name)
        if body is None:
            continue
        defaults = {key: attribute.default for key, attribute in nested.block.attributes.items()}
        given = {
            key: value
            for key, value in shown(body).items()
            if value != defaults.get(key) and value not in ({}, [])
        }
        yield WrittenBlock(type=name, attributes=given)


def column_block(spec: TableSpec, path: str) -> Attributes:
    """The body of the block of a column that is no field of another one."""
    columns = spec.columns or {}
    column = columns[path]
    return {
        "type": render(type_at(columns, path)) + (" not null" if column.required else ""),
        **({"comment": column.comment} if column.comment else {}),
        **({"tags": list(column.tags)} if column.tags else {}),
        **({"default": column.default} if column.default is not None else {}),
    }


def partition_call(partition_field: PartitionField) -> Written:
    """A partition field as an element of ``partition_by``."""
    name = () if partition_field.name is None else (partition_field.name,)
    if partition_field.transform == "identity" and not name:
        return partition_field.column
    width = () if partition_field.param is None else (partition_field.param,)
    return Call(partition_field.transform, (*width, partition_field.column, *name))


def sort_call(sort_field: SortField) -> Written:
    """A sort field as an element of ``sort_by``."""
    width = () if sort_field.param is None else (sort_field.param,)
    term: Written = (
        sort_field.column
        if sort_field.transform == "identity"
        else Call(sort_field.transform, (*width, sort_field.column))
    )
    usual = (sort_field.direction == "asc") == (sort_field.nulls == "first")
    return Call(sort_field.direction, (term,) if usual else (term, sort_field.nulls))
