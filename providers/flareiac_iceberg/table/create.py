"""The first metadata of a table from its planned attributes, in JSON form. Pure."""

from flareiac.kernel.column_types import render
from flareiac_iceberg.catalogs.requests import Definition
from flareiac_iceberg.format.metadata import nodes
from flareiac_iceberg.format.spec import CREATED_BY_PROPERTY, DEFAULT_PROPERTIES, TableSpec, children, type_at
from flareiac_iceberg.table.changes import Change, SetDistribution, SetProperty, SetTableComment, SetTag
from flareiac_iceberg.table.column_changes import SetColumnTags
from flareiac_iceberg.table.schema_updates import new_order, new_properties, new_schema, new_spec


def definition(spec: TableSpec, key: str) -> Definition:
    """The definition of a new table. ``key`` marks who created it, so that a create whose answer was lost is
    recognised.
    """
    columns = spec.columns or {}
    top = [
        (path, render(type_at(columns, path)), columns[path].required, columns[path].comment)
        for path in children(columns, "")
    ]
    schema = new_schema(top, spec.identifier or ())
    ids = {node.path: node.id for node in nodes(schema)}
    properties = new_properties(_settings(spec))
    return Definition(
        schema=schema,
        spec=new_spec(spec.partition_by or (), ids),
        order=new_order(spec.sort_by or (), ids),
        properties=DEFAULT_PROPERTIES | properties | {CREATED_BY_PROPERTY: key},
        version=spec.format_version or 2,
        needs_updates=bool(spec.branches) or any(column.default is not None for column in columns.values()),
    )


def _settings(spec: TableSpec) -> list[Change]:
    changes: list[Change] = [
        SetProperty(name=name, old=None, new=value) for name, value in (spec.properties or {}).items()
    ]
    changes += [SetTag(name=name, new=value) for name, value in (spec.tags or {}).items()]
    changes += [
        SetColumnTags(path=path, tags=column.tags)
        for path, column in (spec.columns or {}).items()
        if column.tags
    ]
    if spec.comment:
        changes.append(SetTableComment(new=spec.comment))
    if spec.distribution:
        changes.append(SetDistribution(old=None, new=spec.distribution))
    return changes
