"""Turns typed changes into the updates of one Iceberg commit (their JSON form), from the metadata that they
apply to. Pure.
"""

import copy
from collections.abc import Collection, Iterable, Mapping

from flareiac.kernel.column_types import ColumnType, ListOf, MapOf, StructOf, head, type_of
from flareiac.kernel.data import Attributes, Data
from flareiac_iceberg.format import name_mapping
from flareiac_iceberg.format.column_ids import last_column_id
from flareiac_iceberg.format.metadata import (
    FIRST_PARTITION_ID,
    id_at,
    nodes,
    partition_spec_of,
    partition_specs_of,
    schema_of,
    sort_order_of,
)
from flareiac_iceberg.format.spec import (
    COLUMN_TAGS_PREFIX,
    COMMENT_PROPERTY,
    DISTRIBUTION_PROPERTY,
    MANAGED_BY_PROPERTY,
    TAGS_PREFIX,
    PartitionField,
    SortField,
    is_inside,
    leaf,
    parent_of,
)
from flareiac_iceberg.table import branches
from flareiac_iceberg.table.changes import (
    AddPartitionField,
    Change,
    RemovePartitionField,
    RemoveProperty,
    RenamePartitionField,
    SetDistribution,
    SetProperty,
    SetSortOrder,
    SetTableComment,
    SetTag,
    TakeOver,
    UpgradeFormat,
)
from flareiac_iceberg.table.column_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    SetColumnComment,
    SetColumnTags,
    SetDefault,
    SetIdentifier,
    SetNullability,
    WidenType,
)
from flareiac_iceberg.table.rename import path_after


class SchemaDraft:
    """A schema's JSON while changes are made to it, with fresh field ids for what is added."""

    def __init__(self, schema: Attributes, last_id: int) -> None:
        self.fields: list[Attributes] = copy.deepcopy(schema["fields"])
        self.last_id = last_id

    def ids(self) -> dict[str, int]:
        """The field ids by path."""
        return {node.path: node.id for node in nodes({"fields": self.fields})}

    def siblings(self, parent: str) -> list[Attributes]:
        """The fields of a struct (or of the table), to be changed in place."""
        if not parent:
            return self.fields
        fields: list[Attributes] = self._holder(parent)[self._slot(parent)]["fields"]
        return fields

    def _holder(self, path: str) -> Attributes:
        """The JSON object that holds the type at a path: a struct's field, or the list or map around a
        part.
        """
        parent: Data = {"type": {"type": "struct", "fields": self.fields}}
        slot = "type"
        for name in path.split("."):
            kind = parent[slot]
            if kind["type"] == "struct":
                parent, slot = next(field for field in kind["fields"] if field["name"] == name), "type"
            else:
                parent, slot = kind, name
        holder: Attributes = parent
        return holder

    def _slot(self, path: str) -> str:
        holder = self._holder(path)
        return "type" if "name" in holder else leaf(path)

    def field(self, path: str) -> Attributes:
        """A named field."""
        return next(sibling for sibling in self.siblings(parent_of(path)) if sibling["name"] == leaf(path))

    def require(self, path: str, required: bool) -> None:
        holder, slot = self._holder(path), self._slot(path)
        holder["required" if slot == "type" else f"{slot}-required"] = required

    def retype(self, path: str, kind: str) -> None:
        self._holder(path)[self._slot(path)] = self.json_type(type_of(kind))

    def add(self, change: AddColumn) -> None:
        line = self.siblings(parent_of(change.path))
        field = self.field_of(self._fresh(), change)
        line.insert(len(line) if change.after is None else self._position(line, change.after), field)

    def field_of(self, field_id: int, change: AddColumn) -> Attributes:
        """A column's JSON; what is in it gets fresh ids."""
        field: Attributes = {"id": field_id, "name": leaf(change.path), "required": change.required}
        field["type"] = self.json_type(type_of(change.type))
        if change.comment:
            field["doc"] = change.comment
        if change.default is not None:
            # No initial default: where Spark (Iceberg before 1.12) filters by a column that files lack, it
            # takes it for null and leaves out the rows that read as the default (measured). So rows that are
            # there read null, whatever the filter, with every release that a lock file may name.
            field["write-default"] = change.default
        return field

    def move(self, change: MoveColumn) -> None:
        line = self.siblings(parent_of(change.path))
        field = self.field(change.path)
        line.remove(field)
        line.insert(self._position(line, change.after), field)

    def drop(self, path: str) -> None:
        self.siblings(parent_of(path)).remove(self.field(path))

    @staticmethod
    def _position(line: list[Attributes], after: str) -> int:
        return (
            next(index for index, column in enumerate(line) if column["name"] == leaf(after)) + 1
            if after
            else 0
        )

    def json_type(self, kind: ColumnType) -> Data:
        """A type's JSON; every part gets a fresh id."""
        match kind:
            case StructOf(members=fields):
                ids = [self._fresh() for _ in fields]
                inner = [
                    {
                        "id": field_id,
                        "name": field.name,
                        "required": field.required,
                        "type": self.json_type(field.type),
                    }
                    for field_id, field in zip(ids, fields, strict=True)
                ]
                return {"type": "struct", "fields": inner}
            case ListOf(element=element, required=required):
                field_id = self._fresh()
                return {
                    "type": "list",
                    "element-id": field_id,
                    "element": self.json_type(element),
                    "element-required": required,
                }
            case MapOf(key=key, value=value, required=required):
                ids = [self._fresh(), self._fresh()]
                return {
                    "type": "map",
                    "key-id": ids[0],
                    "key": self.json_type(key),
                    "value-id": ids[1],
                    "value": self.json_type(value),
                    "value-required": required,
                }
            case _:
                return iceberg_name(head(kind))

    def _fresh(self) -> int:
        self.last_id += 1
        return self.last_id


def iceberg_name(name: str) -> str:
    """A primitive's name in metadata files."""
    if name == "timestamp_ntz":
        return "timestamp"
    return name.replace("(", "[").replace(")", "]") if name.startswith("fixed") else name.replace(",", ", ")


def new_schema(fields: Iterable[tuple[str, str, bool, str | None]], identifier: Iterable[str]) -> Attributes:
    """A schema for a new table: name, type text, whether it is required, comment. The columns have the first
    ids and what is in them the later ones, as every writer of Iceberg gives them.
    """
    columns = [
        AddColumn(path=name, type=kind, required=required, comment=comment, after=None)
        for name, kind, required, comment in fields
    ]
    draft = SchemaDraft({"fields": []}, len(columns))
    draft.fields = [draft.field_of(number, column) for number, column in enumerate(columns, start=1)]
    return _schema(draft, draft.ids(), identifier, 0)


def new_spec(fields: Iterable[PartitionField], ids: dict[str, int]) -> Attributes:
    """A partition spec for a new table."""
    rows = [_partition(field, ids, FIRST_PARTITION_ID + index) for index, field in enumerate(fields)]
    return {"spec-id": 0, "fields": rows}


def new_order(fields: Iterable[SortField], ids: dict[str, int], order_id: int = 1) -> Attributes:
    """A sort order; the one without fields has the id 0."""
    rows = [
        {
            "source-id": ids[field.column],
            "transform": transform_text(field.transform, field.param),
            "direction": field.direction,
            "null-order": f"nulls-{field.nulls}",
        }
        for field in fields
    ]
    return {"order-id": order_id if rows else 0, "fields": rows}


def updates(
    metadata: Attributes,
    changes: Iterable[Change],
    start: Attributes | None = None,
    declared: Collection[str] = (),
) -> list[Attributes]:
    """The updates that carry out these changes, in the order that Iceberg needs: format, schema, layout,
    properties, branches and tags.

    ``start``: an empty snapshot for branches of a table without rows. ``declared``: the properties that are
    as someone wrote them.
    """
    steps = tuple(changes)
    draft = SchemaDraft(schema_of(metadata), last_column_id(metadata))
    version = version_after(metadata, steps)
    table_updates: list[Attributes] = []
    if version != metadata["format-version"]:
        table_updates.append({"action": "upgrade-format-version", "format-version": version})
    for change in steps:
        _evolve(draft, change)
    ids = draft.ids()
    table_updates += _schema_updates(metadata, draft, _identifier(metadata, ids, steps))
    table_updates += _spec_updates(metadata, steps, ids, version)
    table_updates += _order_updates(metadata, steps, ids)
    mapping = {} if name_mapping.PROPERTY in declared else _mapping(metadata, draft)
    table_updates += _property_updates(metadata.get("properties") or {}, steps, mapping)
    table_updates += branches.updates(metadata, steps, start)
    return table_updates


def _mapping(metadata: Attributes, draft: SchemaDraft) -> dict[str, str]:
    """The table's name mapping as a property, where it has one and its columns change."""
    mapping = (metadata.get("properties") or {}).get(name_mapping.PROPERTY)
    old = schema_of(metadata)
    if mapping is None or old["fields"] == draft.fields:
        return {}
    return {name_mapping.PROPERTY: name_mapping.followed(mapping, old["fields"], draft.fields)}


def version_after(metadata: Attributes, changes: Iterable[Change]) -> int:
    """The format version that the table has once these changes are made."""
    version: int = max(
        [metadata["format-version"], *(change.new for change in changes if isinstance(change, UpgradeFormat))]
    )
    return version


def _evolve(draft: SchemaDraft, change: Change) -> None:
    match change:
        case RenameColumn(path=path, new=new):
            draft.field(path)["name"] = leaf(new)
        case DropColumn(path=path):
            draft.drop(path)
        case AddColumn():
            draft.add(change)
        case MoveColumn():
            draft.move(change)
        case WidenType(path=path, new=kind):
            draft.retype(path, kind)
        case SetNullability(path=path, required=required):
            draft.require(path, required)
        case SetDefault(path=path, new=value):
            draft.field(path)["write-default"] = value
        case SetColumnComment(path=path, new=text):
            field = draft.field(path)
            field.pop("doc", None)
            if text:
                field["doc"] = text
        case _:
            pass


def _identifier(metadata: Attributes, ids: dict[str, int], steps: tuple[Change, ...]) -> list[int]:
    for change in steps:
        if isinstance(change, SetIdentifier):
            return [ids[path] for path in change.new]
    kept = set(ids.values())
    return [
        field_id for field_id in schema_of(metadata).get("identifier-field-ids") or () if field_id in kept
    ]


def _schema(draft: SchemaDraft, ids: dict[str, int], identifier: Iterable[str], schema_id: int) -> Attributes:
    return {
        "type": "struct",
        "schema-id": schema_id,
        "fields": draft.fields,
        "identifier-field-ids": [ids[path] for path in identifier],
    }


def _schema_updates(metadata: Attributes, draft: SchemaDraft, identifier: list[int]) -> list[Attributes]:
    current = schema_of(metadata)
    if _same_schema(current, draft.fields, identifier):
        return []
    known = metadata.get("schemas") or [current]
    for schema in known:
        if _same_schema(schema, draft.fields, identifier):
            return [{"action": "set-current-schema", "schema-id": schema.get("schema-id", 0)}]
    schema_id = max(past_schema.get("schema-id", 0) for past_schema in known) + 1
    schema = {
        "type": "struct",
        "schema-id": schema_id,
        "fields": draft.fields,
        "identifier-field-ids": identifier,
    }
    return [
        {"action": "add-schema", "schema": schema, "last-column-id": draft.last_id},
        {"action": "set-current-schema", "schema-id": schema_id},
    ]


def _same_schema(schema: Attributes, fields: list[Attributes], identifier: list[int]) -> bool:
    return schema["fields"] == fields and sorted(schema.get("identifier-field-ids") or ()) == sorted(
        identifier
    )


def transform_text(transform: str, param: int | None) -> str:
    """``bucket[16]``: a transform as metadata files have it."""
    return transform if param is None else f"{transform}[{param}]"


def _partition(partition_field: PartitionField, ids: dict[str, int], field_id: int) -> Attributes:
    return {
        "source-id": ids[partition_field.column],
        "field-id": field_id,
        "transform": transform_text(partition_field.transform, partition_field.param),
        "name": partition_field.field_name,
    }


def _spec_updates(
    metadata: Attributes, steps: tuple[Change, ...], ids: dict[str, int], version: int
) -> list[Attributes]:
    relevant = [
        step
        for step in steps
        if isinstance(step, AddPartitionField | RemovePartitionField | RenamePartitionField)
    ]
    if not relevant:
        return []
    specs = partition_specs_of(metadata)
    past = [partition_field for spec in specs for partition_field in spec["fields"]]
    last = max(
        [
            metadata.get("last-partition-id") or 0,
            FIRST_PARTITION_ID - 1,
            *(partition_field["field-id"] for partition_field in past),
        ]
    )
    rows = copy.deepcopy(partition_spec_of(metadata)["fields"])
    old_ids = {node.path: node.id for node in nodes(schema_of(metadata))}
    renames = [step for step in steps if isinstance(step, RenameColumn)]
    # A field that goes may belong to a column that goes too, so its id is looked up by its path before the
    # drop.
    known = {path_after(path, renames): field_id for path, field_id in old_ids.items()} | ids
    for change in relevant:
        source, transform = (
            id_at(change.field.column, known),
            transform_text(change.field.transform, change.field.param),
        )
        row = next(
            (
                partition_field
                for partition_field in rows
                if partition_field["source-id"] == source and partition_field["transform"] == transform
            ),
            None,
        )
        match change:
            case RemovePartitionField():
                assert row is not None, "only a field of the spec is removed"
                _remove(rows, row, version)
            case RenamePartitionField(new=new):
                assert row is not None, "only a field of the spec is renamed"
                row["name"] = new
            case AddPartitionField(field=field):
                used = [
                    partition_field["field-id"]
                    for partition_field in past
                    if partition_field["source-id"] == source and partition_field["transform"] == transform
                ]
                places = [partition_field for partition_field in rows if partition_field["field-id"] in used]
                if places:
                    # Version 1 keeps the place of a field that went: the same field comes back to it, and to
                    # its own name if that is there.
                    place = next(
                        (
                            partition_field
                            for partition_field in places
                            if partition_field["name"] == field.field_name
                        ),
                        places[0],
                    )
                    place |= _partition(field, known, place["field-id"])
                else:
                    # As Iceberg's BaseUpdatePartitionSpec: a field of one source and transform takes the id
                    # of an earlier spec again, so that old files keep their partition values.
                    last = last if used else last + 1
                    rows.append(_partition(field, known, used[0] if used else last))
    return _default_spec(specs, rows)


def _remove(rows: list[Attributes], row: Attributes, version: int) -> None:
    if version > 1:
        rows.remove(row)
        return
    # Version 1 finds partition values by position: the place stays, with nothing in it.
    row["transform"] = "void"
    row["name"] = f"{row['name']}_{row['field-id']}"


def _default_spec(specs: list[Attributes], rows: list[Attributes]) -> list[Attributes]:
    for spec in specs:
        if spec["fields"] == rows:
            return [{"action": "set-default-spec", "spec-id": spec["spec-id"]}]
    spec_id = max(spec["spec-id"] for spec in specs) + 1
    return [
        {"action": "add-spec", "spec": {"spec-id": spec_id, "fields": rows}},
        {"action": "set-default-spec", "spec-id": spec_id},
    ]


def _order_updates(metadata: Attributes, steps: tuple[Change, ...], ids: dict[str, int]) -> list[Attributes]:
    fields = next((step.fields for step in steps if isinstance(step, SetSortOrder)), None)
    if fields is None:
        return []
    orders = metadata.get("sort-orders") or [sort_order_of(metadata)]
    order_id = max(past_order["order-id"] for past_order in orders) + 1
    order = new_order(fields, ids, order_id)
    for known in orders:
        if known["fields"] == order["fields"]:
            return [{"action": "set-default-sort-order", "sort-order-id": known["order-id"]}]
    add = {"action": "add-sort-order", "sort-order": order}
    return [add, {"action": "set-default-sort-order", "sort-order-id": order["order-id"]}]


def _property_updates(
    properties: Attributes, steps: tuple[Change, ...], mapping: Mapping[str, str]
) -> list[Attributes]:
    after = {**properties, **mapping}
    for change in steps:
        _set_properties(after, change)
    written = {name: value for name, value in after.items() if properties.get(name) != value}
    removed = [name for name in properties if name not in after]
    table_updates: list[Attributes] = []
    if written:
        table_updates.append({"action": "set-properties", "updates": written})
    if removed:
        table_updates.append({"action": "remove-properties", "removals": removed})
    return table_updates


def _set_properties(properties: Attributes, change: Change) -> None:
    match change:
        case SetProperty(name=name, new=value):
            properties[name] = str(value)
        case RemoveProperty(name=name):
            properties.pop(name, None)
        case SetDistribution(new=mode):
            properties[DISTRIBUTION_PROPERTY] = mode
        case TakeOver(new=lineage):
            properties[MANAGED_BY_PROPERTY] = lineage
        case SetTableComment(new=text):
            _put(properties, COMMENT_PROPERTY, text)
        case SetTag(name=name, new=value):
            properties.pop(TAGS_PREFIX + name, None)
            if value is not None:
                properties[TAGS_PREFIX + name] = str(value)
        case SetColumnTags(path=path, tags=tags):
            _put(properties, COLUMN_TAGS_PREFIX + path, ",".join(tags))
        case DropColumn() | RenameColumn():
            _follow_column(properties, change)
        case _:
            pass


def _follow_column(properties: Attributes, change: DropColumn | RenameColumn) -> None:
    """The tags of a column, and of those inside it, go with it."""
    tagged = [name for name in properties if name.startswith(COLUMN_TAGS_PREFIX)]
    for name in tagged:
        path = name.removeprefix(COLUMN_TAGS_PREFIX)
        if is_inside(path, change.path):
            tags = properties.pop(name)
            if isinstance(change, RenameColumn):
                properties[COLUMN_TAGS_PREFIX + path_after(path, (change,))] = tags


def _put(properties: Attributes, name: str, value: Data) -> None:
    """Sets a property, or removes it where there is nothing to say."""
    properties.pop(name, None)
    if value:
        properties[name] = str(value)


def new_properties(changes: Iterable[Change]) -> dict[str, str]:
    """The properties of a new table."""
    properties: Attributes = {}
    for change in changes:
        _set_properties(properties, change)
    return properties
