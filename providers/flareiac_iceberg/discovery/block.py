"""The ``table`` block of a table that is there: everything that someone chose, nothing that a catalog or an
engine fills in. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.sdk.importing import Written, WrittenBlock
from flareiac_iceberg.format.locations import plain_text
from flareiac_iceberg.format.spec import (
    DEFAULT_PROPERTIES,
    DISTRIBUTION_MODES,
    PartitionField,
    SortField,
    TableDefinition,
    children,
)
from flareiac_iceberg.format.transforms import partition, sort_field
from flareiac_iceberg.table.canonical import RESERVED_PROPERTIES
from flareiac_iceberg.table.read import SERVER_DEFAULTS
from flareiac_iceberg.table.written_block import column_block, partition_call, sort_call

_ENGINE_VALUES: Final = {"write.parquet.compression-codec": "zstd", **DEFAULT_PROPERTIES}
"""Properties that are worth a line only with another value than engines (and FlareIaC) write by
themselves.
"""
_LABEL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def label_of(name: str) -> str:
    """A table's name as a block label."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    return plain if _LABEL.fullmatch(plain) else f"table_{plain}"


def chosen(spec: TableDefinition, warehouse: str) -> Attributes:
    """The decoded body of a block that says what is observed: attributes that are not chosen are left out."""
    body: Attributes = {
        "catalog": spec.catalog,
        "namespace": spec.namespace,
        "name": spec.name,
        "comment": spec.comment or None,
        "format_version": spec.format_version,
        "location": spec.location if _is_elsewhere(spec, warehouse) else None,
        "column": {path: column_block(spec, path) for path in children(spec.columns or {}, "")},
        "identifier": list(spec.identifier or ()),
        "partition_by": [_partition(partition_field) for partition_field in spec.partition_by or ()],
        "sort_by": [
            sort_field(
                ordering.direction,
                partition(ordering.transform, ordering.column, ordering.param),
                ordering.nulls,
            )
            for ordering in spec.sort_by or ()
        ],
        "distribution": spec.distribution if spec.distribution in DISTRIBUTION_MODES else None,
        "properties": _properties(spec.properties or {}),
        "tags": dict(sorted((spec.tags or {}).items())),
    }
    return {name: value for name, value in body.items() if value not in (None, [], {})}


def _partition(partition_field: PartitionField) -> Data:
    """The name is left out where it is one that Iceberg or Spark gives: names make no difference."""
    usual = PartitionField(
        transform=partition_field.transform, column=partition_field.column, param=partition_field.param
    ).field_name
    known = {usual, usual.removesuffix(f"_{partition_field.param}")}
    return partition(
        partition_field.transform,
        partition_field.column,
        partition_field.param,
        None if partition_field.name in known else partition_field.name,
    )


def _properties(properties: Mapping[str, Data]) -> Attributes:
    return {name: value for name, value in sorted(properties.items()) if _is_chosen(name, value)}


def _is_chosen(name: str, value: Data) -> bool:
    if name in _ENGINE_VALUES:
        return str(value) != _ENGINE_VALUES[name]
    return name not in SERVER_DEFAULTS and name not in RESERVED_PROPERTIES


def _is_elsewhere(table: TableDefinition, warehouse: str) -> bool:
    """Returns True if a table lies where no catalog would have put it: below its namespace in the warehouse,
    in a folder of its name.
    """
    if table.location is None:
        return False
    place, namespace, name = plain_text(table.location).rstrip("/"), table.namespace, table.name
    base = plain_text(warehouse).rstrip("/")
    if "/" not in base:  # the warehouse of a server that chooses places itself
        return not re.search(rf"/{re.escape(name)}([-_][0-9a-f-]{{8,}})?$", place)
    usual = (namespace, namespace.replace(".", "/"), f"{namespace}.db")
    return not any(
        re.fullmatch(rf"{re.escape(f'{base}/{folder}/{name}')}([-_][0-9a-f-]{{8,}})?", place)
        for folder in usual
    )


def written(
    body: Attributes, label: str, *, catalog: Reference | None, notes: Iterable[str] = ()
) -> WrittenBlock:
    """The block of a decoded body. ``catalog`` None: it goes without saying."""
    columns: Mapping[str, Attributes] = body.get("column") or {}
    attributes: dict[str, Written] = {} if catalog is None else {"catalog": catalog}
    for name, value in body.items():
        match name:
            case "catalog" | "column":
                continue
            case "name" if value == label:
                continue
            case "partition_by":
                attributes[name] = [
                    partition_call(PartitionField(**partition_field)) for partition_field in value
                ]
            case "sort_by":
                attributes[name] = [sort_call(SortField(**ordering)) for ordering in value]
            case _:
                attributes[name] = value
    blocks = tuple(
        WrittenBlock(type="column", label=path, attributes=column) for path, column in columns.items()
    )
    return WrittenBlock(type="table", label=label, attributes=attributes, blocks=blocks, notes=tuple(notes))
