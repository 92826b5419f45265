"""Iceberg's table metadata as JSON: loaded from a file, and taken apart without any Iceberg library."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.default_value import same_form
from flareiac_iceberg.format.identity import PartitionName, TableIdentity
from flareiac_iceberg.format.locations import places_in
from flareiac_iceberg.format.recent_writers import writers
from flareiac_iceberg.format.refs import branches_of, tags_of
from flareiac_iceberg.format.snapshots import written
from flareiac_iceberg.format.spec import (
    COLUMN_TAGS_PREFIX,
    COMMENT_PROPERTY,
    CREATED_BY_PROPERTY,
    DEFAULT_PROPERTIES,
    DISTRIBUTION_MODES,
    DISTRIBUTION_PROPERTY,
    MANAGED_BY_PROPERTY,
    TAGS_PREFIX,
    Column,
    PartitionField,
    SortField,
    TableSpec,
)

FIRST_PARTITION_ID: Final = 1000
"""Iceberg's libraries number the fields of partition specs from here on."""
_TRANSFORM: Final = re.compile(r"(\w+)(?:\[(\d+)\])?")
_TRANSFORMS: Final = frozenset(
    {"identity", "bucket", "truncate", "year", "month", "day", "hour", "void"},
)


class TableFile(NamedTuple):
    """A metadata file of a table, and what is in it."""

    location: str
    metadata: Attributes

    @property
    def uuid(self) -> str:
        """Says which table it is, whatever its name."""
        return str(self.metadata["table-uuid"])

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties of the table."""
        return properties_of(self.metadata)

    def read(self) -> tuple[TableSpec, TableIdentity]:
        """The table as a record, and its identity."""
        return parse_metadata(self.metadata, self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One level of a column as the metadata has it: path, field id, head of the type, comment (``""`` when
    there is none).

    ``sayable``: whether the path says it; a dot in a name, or no name, cannot be determined from the levels
    of other columns.
    """

    path: str
    id: int
    type: str
    required: bool
    doc: str
    default: Data = None
    sayable: bool = True


def properties_of(metadata: Attributes) -> Mapping[str, str]:
    """The properties of the table."""
    properties: Mapping[str, str] = metadata.get("properties") or {}
    return properties


def schema_of(metadata: Attributes) -> Attributes:
    """The current schema."""
    if "schemas" not in metadata:
        return dict(metadata["schema"])
    return next(
        dict(schema)
        for schema in metadata["schemas"]
        if schema.get("schema-id", 0) == metadata["current-schema-id"]
    )


def partition_spec_of(metadata: Attributes) -> Attributes:
    """The default partition spec."""
    return next(
        spec for spec in partition_specs_of(metadata) if spec["spec-id"] == metadata.get("default-spec-id", 0)
    )


def partition_specs_of(metadata: Attributes) -> list[Attributes]:
    """All partition specs that the table has had. Their fields have no ids in old metadata: Iceberg counts
    them.
    """
    specs = metadata.get("partition-specs") or [{"spec-id": 0, "fields": metadata["partition-spec"]}]
    return [{**spec, "fields": _counted(spec["fields"])} for spec in specs]


def _counted(fields: list[Attributes]) -> list[Attributes]:
    return [
        {**field, "field-id": field.get("field-id") or FIRST_PARTITION_ID + index}
        for index, field in enumerate(fields)
    ]


def sort_order_of(metadata: Attributes) -> Attributes:
    """The default sort order."""
    orders = metadata.get("sort-orders") or [{"order-id": 0, "fields": []}]
    return next(
        dict(order) for order in orders if order["order-id"] == metadata.get("default-sort-order-id", 0)
    )


def nodes(schema: Attributes) -> tuple[Node, ...]:
    """Every level of every column, in order, but for those that no path can say, with all that is inside
    them.
    """
    return tuple(node for node in _fields(schema["fields"], "") if node.sayable)


def unrepresentable(schema: Attributes) -> tuple[str, ...]:
    """The columns that no path can say, each with its name in back-quotes."""
    return tuple(node.path for node in _fields(schema["fields"], "") if not node.sayable)


def _fields(fields: list[Attributes], parent: str) -> Iterator[Node]:
    for field in fields:
        name, doc, default = field["name"], field.get("doc") or "", field.get("write-default")
        if "." in name or not name.strip():
            yield Node(
                path=f"{parent}`{name}`",
                id=field["id"],
                type="",
                required=field["required"],
                doc=doc,
                sayable=False,
            )
            continue
        yield from _node(f"{parent}{name}", field["id"], field["type"], field["required"], doc, default)


def _node(
    path: str, field_id: int, kind: Data, required: bool, doc: str, default: Data = None
) -> Iterator[Node]:
    head = _head(kind)
    form = None if default is None else same_form(head, default)
    yield Node(path=path, id=field_id, type=head, required=required, doc=doc, default=form)
    if not isinstance(kind, dict):
        return
    match kind["type"]:
        case "struct":
            yield from _fields(kind["fields"], f"{path}.")
        case "list":
            yield from _node(
                f"{path}.element", kind["element-id"], kind["element"], kind["element-required"], ""
            )
        case "map":
            yield from _node(f"{path}.key", kind["key-id"], kind["key"], True, "")
            yield from _node(f"{path}.value", kind["value-id"], kind["value"], kind["value-required"], "")
        case other:
            raise ValueError(f"unknown type {other!r}")


def _head(kind: Data) -> str:
    if isinstance(kind, dict):
        return str(kind["type"])
    text = str(kind).replace(" ", "").replace("[", "(").replace("]", ")")
    return "timestamp_ntz" if text == "timestamp" else text


def parse_metadata(metadata: Attributes, location: str) -> tuple[TableSpec, TableIdentity]:
    """A table as it is, and its identity."""
    schema = schema_of(metadata)
    levels = nodes(schema)
    paths = {node.id: node.path for node in levels}
    properties = properties_of(metadata)
    spec = TableSpec(
        columns={
            node.path: Column(
                type=node.type,
                required=node.required,
                comment=node.doc,
                tags=_tags(properties.get(COLUMN_TAGS_PREFIX + node.path, "")),
                default=node.default,
            )
            for node in levels
        },
        identifier=tuple(_path(field_id, paths) for field_id in schema.get("identifier-field-ids") or ()),
        partition_by=tuple(
            _partition(field, paths)
            for field in partition_spec_of(metadata)["fields"]
            if _transform(field["transform"])[0] != "void"
        ),
        sort_by=tuple(_sort(field, paths) for field in sort_order_of(metadata)["fields"]),
        distribution=_distribution(properties.get(DISTRIBUTION_PROPERTY)),
        properties={name: value for name, value in properties.items() if not is_own(name)},
        comment=properties.get(COMMENT_PROPERTY, ""),
        format_version=metadata["format-version"],
        location=metadata["location"],
        tags={
            name.removeprefix(TAGS_PREFIX): value
            for name, value in properties.items()
            if name.startswith(TAGS_PREFIX)
        },
        branches=branches_of(metadata),
        snapshot_tags=tags_of(metadata),
    )
    return spec, _identity(metadata, location, {node.path: node.id for node in levels})


def is_own(name: str) -> bool:
    """Returns True if a property is expressed by an attribute of its own, or is FlareIaC's mark."""
    return name in (COMMENT_PROPERTY, DISTRIBUTION_PROPERTY) or name.startswith("flareiac.")


def created_by(metadata: Attributes) -> str | None:
    """The key of the operation that created the table, if FlareIaC did."""
    return properties_of(metadata).get(CREATED_BY_PROPERTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """The state that manages a table, by its lineage: that which ``marked`` it when it was adopted, else that
    which ``created`` it. Both empty: none is known.
    """

    marked: str = ""
    created: str = ""

    @property
    def lineage(self) -> str:
        return self.marked or self.created


def managed_by(properties: Mapping[str, str]) -> Manager:
    """The state that manages a table with these properties."""
    # The key of an operation begins with the lineage of its state.
    created = properties.get(CREATED_BY_PROPERTY, "").partition("/")[0]
    return Manager(marked=properties.get(MANAGED_BY_PROPERTY, ""), created=created)


def _identity(metadata: Attributes, location: str, field_ids: dict[str, int]) -> TableIdentity:
    snapshot = metadata.get("current-snapshot-id")
    properties = properties_of(metadata)
    return TableIdentity(
        uuid=metadata["table-uuid"],
        location=metadata["location"],
        places=places_in(metadata, location),
        metadata_location=location,
        snapshot_id=None if snapshot in (None, -1) else snapshot,
        schema_id=schema_of(metadata).get("schema-id", 0),
        spec_id=partition_spec_of(metadata)["spec-id"],
        sort_id=sort_order_of(metadata)["order-id"],
        field_ids=field_ids,
        sorted_ids=tuple(
            sorted(
                {
                    field["source-id"]
                    for order in metadata.get("sort-orders") or ()
                    for field in order["fields"]
                }
            )
        ),
        partition_names=tuple(
            PartitionName(*names)
            for names in sorted(
                {
                    (field["name"], field["source-id"], field["transform"])
                    for spec in partition_specs_of(metadata)
                    for field in spec["fields"]
                }
            )
        ),
        written=written(metadata),
        defaults={name: properties[name] for name in DEFAULT_PROPERTIES if name in properties},
        tags={
            name: tag.snapshot_id for name, tag in tags_of(metadata).items() if tag.snapshot_id is not None
        },
        branches=tuple(sorted(branches_of(metadata))),
        properties=tuple(sorted(name for name in properties if not is_own(name))),
        unsayable=unrepresentable(schema_of(metadata)),
        writers=writers(metadata),
    )


def _tags(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _partition(field: Attributes, paths: dict[int, str]) -> PartitionField:
    transform, param = _transform(field["transform"])
    return PartitionField(
        transform=transform, column=_path(field["source-id"], paths), param=param, name=field["name"]
    )


def _distribution(mode: str | None) -> str | None:
    """The mode in the letters in which it is declared; Iceberg reads any."""
    return mode.lower() if mode is not None and mode.lower() in DISTRIBUTION_MODES else mode


def _sort(field: Attributes, paths: dict[int, str]) -> SortField:
    transform, param = _transform(field["transform"])
    nulls = "first" if field["null-order"].lower() == "nulls-first" else "last"
    return SortField(
        transform=transform,
        column=_path(field["source-id"], paths),
        param=param,
        direction=field["direction"].lower(),
        nulls=nulls,
    )


def _path(field_id: int, paths: dict[int, str]) -> str:
    """``#7`` for a column that no path can say."""
    return paths.get(field_id, f"#{field_id}")


def id_at(path: str, ids: Mapping[str, int]) -> int:
    """The field id of a column by its path, or by what stands for one that no path can say."""
    return ids[path] if path in ids else int(path.removeprefix("#"))


def _transform(text: str) -> tuple[str, int | None]:
    match = _TRANSFORM.fullmatch(text)
    if match is None:
        raise ValueError(f"unknown transform {text!r}")
    # Iceberg writes them in lower case, and reads them in any.
    name = match[1].lower()
    return name if name in _TRANSFORMS else match[1], int(match[2]) if match[2] else None
