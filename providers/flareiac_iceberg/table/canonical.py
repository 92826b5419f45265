"""From a ``table`` block to canonical attributes: types parsed, defaults of meaning filled in, everything
wrong reported at once. Pure.
"""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.codes import KNOWN_AFTER_APPLY
from flareiac.kernel.column_types import Plain, TypeTextError
from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import refuse_secrets
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.names import NAME, check_names, check_namespace
from flareiac_iceberg.catalogs.resolve import chosen_catalog, place_of
from flareiac_iceberg.catalogs.secret_settings import IN_CLEAR
from flareiac_iceberg.format.default_value import VERSION as DEFAULTS_SINCE
from flareiac_iceberg.format.default_value import DoesNotFit, default_value
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.layout import TIME_TRANSFORMS, TRANSFORMS, can_identify, may_be_null, misfit
from flareiac_iceberg.format.locations import plain_text
from flareiac_iceberg.format.spec import (
    Column,
    PartitionField,
    SortField,
    flatten,
    parent_of,
)
from flareiac_iceberg.format.transforms import partition, sort_field
from flareiac_iceberg.format.types import NOT_IN_SPARK, table_type
from flareiac_iceberg.maintenance.canonical import canonical_blocks, without_effect
from flareiac_iceberg.maintenance.columns import Surroundings
from flareiac_iceberg.maintenance.foreign_readers import canonical_readers
from flareiac_iceberg.table.branch_blocks import branches_and_tags
from flareiac_iceberg.table.rename import declared_steps, followed

NO_DEFAULT: Final[tuple[str, ...]] = ("decimal",)
"""Types whose columns Spark cannot read with a default."""
_METADATA_COLUMNS: Final = frozenset(
    {
        "_file",
        "_pos",
        "_deleted",
        "_spec_id",
        "_partition",
        "_row_id",
        "_last_updated_sequence_number",
        "_change_type",
        "_change_ordinal",
    }
    | {"_commit_snapshot_id"}
)
RESERVED_PROPERTIES: Final = {
    "comment": "use the attribute comment",
    "write.distribution-mode": "use the attribute distribution",
    "format-version": "use the attribute format_version",
    "identifier-fields": "use the attribute identifier",
    "sort-order": "use the attribute sort_by",
    "location": "use the attribute location",
    "provider": "Spark keeps it for itself",
    "owner": "Spark keeps it for itself",
    "external": "Spark keeps it for itself",
    "is_managed_location": "Spark keeps it for itself",
    "uuid": "Iceberg sets it",
    "snapshot-count": "Iceberg sets it",
    "current-snapshot-id": "Iceberg sets it",
    "current-snapshot-summary": "Iceberg sets it",
    "current-snapshot-timestamp-ms": "Iceberg sets it",
    "current-schema": "Iceberg sets it",
    "default-partition-spec": "Iceberg sets it",
    "default-sort-order": "Iceberg sets it",
}
_UNREAD: Final = "?"
"""The type of a column whose type has been reported as an error."""


def canonical(
    decoded: Decoded, references: References, _project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Canonical attributes; what is wrong is reported and replaced by something that lets checking go on."""
    wanted = decoded.attributes
    _refuse_unknown(wanted, diagnostics)
    declared = _columns(wanted.get("column"), wanted.get("format_version"), diagnostics)
    # Where the type of a column is not known, nothing that names columns can be judged.
    unread = declared is not None and any(column.type == _UNREAD for column in declared.values())
    columns = None if unread else declared
    namespace = wanted.get("namespace")
    place: Attributes = {
        "catalog": _catalog(wanted, references, diagnostics),
        "namespace": _namespace(namespace, references, diagnostics),
        "name": _name(wanted.get("name") or decoded.name, diagnostics),
    }
    # The block of a namespace has complained of its own name.
    own = None if isinstance(namespace, Reference) else place["namespace"]
    check_names(place["catalog"], references, diagnostics, namespace=own, name=place["name"])
    fields = _partitions(wanted.get("partition_by"), columns, diagnostics)
    return {
        **place,
        "identifier": _identifier(wanted.get("identifier"), columns, diagnostics),
        "columns": encode(columns),
        "column_order": None if columns is None else list(columns),
        "partition_by": encode(fields),
        "sort_by": encode(_sorting(wanted.get("sort_by"), columns, diagnostics)),
        "distribution": wanted.get("distribution"),
        "properties": _properties(wanted, diagnostics),
        "comment": wanted.get("comment"),
        "format_version": _version(wanted.get("format_version"), diagnostics),
        "location": wanted.get("location"),
        "tags": _sorted(wanted.get("tags")),
        "on_destroy": wanted.get("on_destroy") or "retain",
        "renamed": {} if unread else _renamed(wanted.get("renamed"), columns, diagnostics),
        **branches_and_tags(wanted, diagnostics),
        "reader": canonical_readers(wanted.get("reader"), diagnostics),
        "engine": wanted.get("engine"),
        **canonical_blocks(wanted, _surroundings(wanted, columns, fields), diagnostics),
    }


def usages(address: str, attributes: Attributes, references: References) -> tuple[Usage, ...]:
    """A table holds its name in its catalog, and the location that is declared: two blocks cannot both have
    them.
    """
    catalog = references.get(attributes["catalog"].address)
    where = place_of(catalog) if catalog else str(attributes["catalog"])
    subject = f"Iceberg table {attributes['namespace']}.{attributes['name']} in {where}"
    usage = Usage(subject=subject, holder=address, relation=Relation.REAL_NAME, reason="")
    location = attributes.get("location")
    if location is None:
        return (usage,)
    reason = "the table's files are there"
    return (
        usage,
        Usage(subject=plain_text(location), holder=address, relation=Relation.OWNS_LOCATION, reason=reason),
    )


def seen_usages(address: str, identity: Attributes) -> tuple[Usage, ...]:
    """One table may be in two catalogs, or twice in one: two blocks of it would delete each other's files."""
    uuid = identity_of(identity).uuid
    if not uuid:
        return ()
    subject = f"the Iceberg table with the uuid {uuid.lower()}"
    reason = (
        "What one of them expires or purges, the other one loses. To give one up and keep all files: "
        f"flareiac state rm {address}, and remove that block."
    )
    return (Usage(subject=subject, holder=address, relation=Relation.REAL_NAME, reason=reason),)


def _refuse_unknown(wanted: Attributes, diagnostics: Diagnostics) -> None:
    for name in (
        "namespace",
        "name",
        "identifier",
        "partition_by",
        "sort_by",
        "distribution",
        "format_version",
        "location",
        "on_destroy",
        "renamed",
    ):
        if _has_unknown(wanted.get(name)):
            _unknown((name,), diagnostics)
            wanted[name] = None
    for label, column in (wanted.get("column") or {}).items():
        for name, value in column.items():
            if _has_unknown(value):
                _unknown(("column", label, name), diagnostics)
                column[name] = None


def _has_unknown(value: Data) -> bool:
    match value:
        case dict():
            return any(map(_has_unknown, value.values()))
        case list() | tuple():
            return any(map(_has_unknown, value))
        case _:
            return value is UNKNOWN


def _unknown(path: tuple[str, ...], diagnostics: Diagnostics) -> None:
    why = f"{path[-1]} must be known when the plan is made. Write it out, or take it from a variable."
    diagnostics.error(KNOWN_AFTER_APPLY, why, attribute=path)


def _catalog(wanted: Attributes, references: References, diagnostics: Diagnostics) -> Reference:
    """The table's, which must be that of a namespace that is named."""
    catalog, namespace = (
        chosen_catalog(wanted.get("catalog"), references, diagnostics),
        wanted.get("namespace"),
    )
    resolved = references.get(namespace.address) if isinstance(namespace, Reference) else None
    if resolved is not None and resolved.attributes["catalog"] != catalog:
        holder = resolved.attributes["catalog"].address
        diagnostics.error(
            codes.NAMESPACE_OF_ANOTHER_CATALOG,
            f"{resolved.address} is in {holder}, and the table in {catalog.address}. Write catalog = "
            f"{holder}, or name a namespace of {catalog.address}.",
            attribute=("namespace",),
        )
    return catalog


def _namespace(value: Data, references: References, diagnostics: Diagnostics) -> str:
    if isinstance(value, Reference):
        resolved = references.get(value.address)
        return str(resolved.attributes["name"]) if resolved else "default"
    return check_namespace(value or "default", ("namespace",), diagnostics)


def _name(value: str, diagnostics: Diagnostics) -> str:
    if not NAME.fullmatch(value):
        diagnostics.error(
            codes.INVALID_TABLE_NAME,
            f'"{value}" cannot be the name of a table. A name is not empty and has no dot, slash, back-quote '
            "or control character. The namespace has an attribute of its own.",
            attribute=("name",),
        )
    return value


def _columns(
    blocks: Mapping[str, Attributes] | None, version: Data, diagnostics: Diagnostics
) -> dict[str, Column] | None:
    if not blocks:
        return None
    columns: dict[str, Column] = {}
    lower: dict[str, str] = {}
    for name, block in blocks.items():
        _column_name(name, lower, diagnostics)
        try:
            kind, required = (
                (Plain(name=_UNREAD), False) if block["type"] is None else table_type(block["type"])
            )
        except TypeTextError as error:
            why = f'The type of column "{name}" cannot be used: {error}'
            diagnostics.error(codes.INVALID_COLUMN_TYPE, why, attribute=("column", name, "type"))
            kind, required = Plain(name=_UNREAD), False
        levels = flatten(name, kind, required)
        tags = _column_tags(name, block.get("tags"), diagnostics)
        default = _default(name, levels[name].type, block.get("default"), version, diagnostics)
        levels[name] = Column(
            type=levels[name].type,
            required=required,
            comment=block.get("comment"),
            tags=tags,
            default=default,
        )
        columns |= levels
        _warn_of_unreadable(name, levels, diagnostics)
    return columns


def _warn_of_unreadable(name: str, levels: Mapping[str, Column], diagnostics: Diagnostics) -> None:
    paths = [path for path, column in levels.items() if column.type in NOT_IN_SPARK]
    if paths:
        diagnostics.warning(
            codes.TYPE_UNKNOWN_TO_SPARK,
            f"{', '.join(paths)} {'is' if len(paths) == 1 else 'are'} {levels[paths[0]].type}: no job can "
            "read or write the table, and no maintenance of it runs. Other programs may use it. For Spark, "
            "write string, or long with a unit of your choice.",
            attribute=("column", name, "type"),
        )


def _default(name: str, kind: str, value: Data, version: Data, diagnostics: Diagnostics) -> Data:
    if value is None or kind == _UNREAD:
        return None
    if version != DEFAULTS_SINCE:
        why = (
            f'Column "{name}" cannot have a default yet: Iceberg keeps defaults from format version '
            f"{DEFAULTS_SINCE} on. Write format_version = {DEFAULTS_SINCE} in the block of the table."
        )
        diagnostics.error(codes.DEFAULT_TOO_EARLY, why, attribute=("column", name, "default"))
        return None
    if kind.startswith(NO_DEFAULT):
        # Measured: "Cannot cast default value to int" from the reader of files that have the column, with
        # Iceberg 1.11, which a lock file may name; 1.12 reads them.
        why = (
            f'Column "{name}" is {kind}, and before Iceberg 1.12 Spark cannot read decimal columns that have '
            "a default. Give the value in the query that writes the table."
        )
        diagnostics.error(codes.DEFAULT_UNREADABLE, why, attribute=("column", name, "default"))
        return None
    try:
        return default_value(kind, value)
    except DoesNotFit as error:
        why = f'Column "{name}" is {kind}: {error}'
        diagnostics.error(codes.UNFIT_DEFAULT, why, attribute=("column", name, "default"))
        return None


def _column_name(name: str, lower: dict[str, str], diagnostics: Diagnostics) -> None:
    if "." in name or not name.strip():
        diagnostics.error(
            codes.INVALID_COLUMN_NAME,
            f'"{name}" cannot be the name of a column. A dot separates the levels of nested columns, so '
            "names have none; and a name is not empty.",
            attribute=("column", name),
        )
    if name.lower() in _METADATA_COLUMNS:
        why = (
            f'Spark shows a column of Iceberg\'s own named "{name}" in every table. Give the column '
            "another name."
        )
        diagnostics.error(codes.RESERVED_COLUMN_NAME, why, attribute=("column", name))
    twin = lower.setdefault(name.lower(), name)
    if twin != name:
        diagnostics.error(
            codes.COLUMNS_DIFFER_IN_CASE,
            f'Spark does not distinguish "{twin}" from "{name}". Give one of them another name.',
            attribute=("column", name),
        )


def _column_tags(name: str, tags: list[str] | None, diagnostics: Diagnostics) -> tuple[str, ...] | None:
    for tag in tags or ():
        if not tag or "," in tag:
            why = f'"{tag}" cannot be a tag. Tags are words without a comma.'
            diagnostics.error(codes.INVALID_COLUMN_TAG, why, attribute=("column", name, "tags"))
    return None if tags is None else tuple(tags)


def _identifier(
    value: list[str] | None, columns: Mapping[str, Column] | None, diagnostics: Diagnostics
) -> list[str] | None:
    for path in value or ():
        column = _existing(path, columns, ("identifier",), diagnostics)
        if column is None or columns is None:
            continue
        if not can_identify(path, columns):
            why = (
                f'"{path}" is {column.type}. Identifier columns are not float or double, hold one value, '
                "and are not inside a list or map."
            )
            diagnostics.error(codes.UNFIT_IDENTIFIER, why, attribute=("identifier",))
        elif may_be_null(path, columns):
            why = (
                f'"{path}" may be null. Write its type as "{column.type} not null", also for the structs '
                "around it."
            )
            diagnostics.error(codes.NULLABLE_IDENTIFIER, why, attribute=("identifier",))
    return None if value is None else list(dict.fromkeys(value))


def _existing(
    path: str, columns: Mapping[str, Column] | None, where: tuple[str, ...], diagnostics: Diagnostics
) -> Column | None:
    """The column at a path; reported when there is none. None also where columns are not managed."""
    if columns is None:
        return None
    if path not in columns:
        diagnostics.error(
            codes.NO_SUCH_COLUMN, f'{where[0]} names "{path}".{did_you_mean(path, columns)}', attribute=where
        )
    return columns.get(path)


def _partitions(
    value: Data, columns: Mapping[str, Column] | None, diagnostics: Diagnostics
) -> list[PartitionField] | None:
    if value is None:
        return None
    partition_fields: list[PartitionField] = []
    for entry in _list("partition_by", value, diagnostics):
        term = partition("identity", entry) if isinstance(entry, str) else entry
        if not isinstance(term, dict) or set(term) != {"transform", "column", "param", "name"}:
            _not_a_term("partition_by", 'day("ts"), bucket(16, "id") or "region"', diagnostics)
            continue
        if not _is_known(term, diagnostics, "partition_by"):
            continue
        field = PartitionField(**term)
        _check_transform(field.transform, field.column, columns, "partition_by", diagnostics)
        if others := [other for other in partition_fields if _is_redundant(field, other)]:
            _warn_of_redundancy(field, others[0], diagnostics)
        if any(other.term == field.term for other in partition_fields):
            why = f"{field} is twice in partition_by. Remove one of them."
            diagnostics.error(codes.PARTITION_FIELD_TWICE, why, attribute=("partition_by",))
            continue
        _check_field_name(field, partition_fields, columns, diagnostics)
        partition_fields.append(field)
    return partition_fields


def _is_redundant(field: PartitionField, other: PartitionField) -> bool:
    """Two different fields that Iceberg's libraries call redundant: they tell the time of one column."""
    return (
        field.column == other.column
        and field.term != other.term
        and {field.transform, other.transform} <= TIME_TRANSFORMS
    )


def _warn_of_redundancy(field: PartitionField, other: PartitionField, diagnostics: Diagnostics) -> None:
    diagnostics.warning(
        codes.REDUNDANT_PARTITIONS,
        f"Of {other} and {field} in partition_by the finer one includes the other. Spark writes such a "
        "table, but pyiceberg and Iceberg's own builders refuse it: keep the one that queries filter by.",
        attribute=("partition_by",),
    )


def _check_field_name(
    field: PartitionField,
    others: list[PartitionField],
    columns: Mapping[str, Column] | None,
    diagnostics: Diagnostics,
) -> None:
    name = field.field_name
    own = field.transform == "identity" and field.column == name
    if any(other.field_name == name for other in others) or (name in (columns or {}) and not own):
        diagnostics.error(
            codes.PARTITION_FIELD_NAME_TAKEN,
            f'The partition field {field} cannot be named "{name}": another field or column has this name. '
            f'Give it one of its own as last argument, such as "{name}_part".',
            attribute=("partition_by",),
        )


def _sorting(
    value: Data, columns: Mapping[str, Column] | None, diagnostics: Diagnostics
) -> list[SortField] | None:
    if value is None:
        return None
    sort_fields: list[SortField] = []
    for entry in _list("sort_by", value, diagnostics):
        term = sort_field("asc", entry) if isinstance(entry, str) else entry
        if not isinstance(term, dict) or set(term) != {"transform", "column", "param", "direction", "nulls"}:
            _not_a_term("sort_by", 'asc("ts") or desc("amount")', diagnostics)
            continue
        if not _is_known(term, diagnostics, "sort_by"):
            continue
        field = SortField(**term)
        _check_transform(field.transform, field.column, columns, "sort_by", diagnostics)
        sort_fields.append(field)
    return sort_fields


def _is_known(term: Attributes, diagnostics: Diagnostics, attribute: str) -> bool:
    """Returns True if a term that was written as an object, or by a function, is a transform that Iceberg
    has, with its width.
    """
    transform, width = term["transform"], term["param"]
    wide = transform in ("bucket", "truncate")
    fits = (
        isinstance(width, int) and not isinstance(width, bool) and 0 < width < 2**31
        if wide
        else width is None
    )
    if transform in TRANSFORMS and fits and isinstance(term["column"], str):
        return True
    known = ", ".join(TRANSFORMS)
    why = (
        f"An element of {attribute} is not a transform of a column. The transforms are {known}; bucket and "
        "truncate have a width of at least 1, the others have none."
    )
    diagnostics.error(codes.NOT_A_TERM, why, attribute=(attribute,))
    return False


def _list(name: str, value: Data, diagnostics: Diagnostics) -> list[Data]:
    if isinstance(value, list | tuple):
        return list(value)
    diagnostics.error(
        codes.NOT_A_LIST,
        f"{name} is not a list. Write {name} = [...], also for a single field.",
        attribute=(name,),
    )
    return []


def _not_a_term(name: str, examples: str, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        codes.NOT_A_TERM,
        f"An element of {name} has another form. Write elements like {examples}.",
        attribute=(name,),
    )


def _check_transform(
    transform: str, path: str, columns: Mapping[str, Column] | None, attribute: str, diagnostics: Diagnostics
) -> None:
    if _existing(path, columns, (attribute,), diagnostics) is None or columns is None:
        return
    mismatch = misfit(transform, path, columns)
    if mismatch is not None:
        is_now, fitting = mismatch
        why = f'{transform} does not fit column "{path}", which is {is_now}: {fitting}.'
        diagnostics.error(codes.UNFIT_TRANSFORM, why, attribute=(attribute,))


def _surroundings(
    wanted: Attributes, columns: Mapping[str, Column] | None, fields: list[PartitionField] | None
) -> Surroundings:
    order = wanted.get("sort_by")
    return Surroundings(
        columns=columns,
        properties=wanted.get("properties") or {},
        sorted=None if order is None else bool(order),
        identities=[field.column for field in fields or () if field.transform == "identity"],
    )


def _properties(wanted: Attributes, diagnostics: Diagnostics) -> Attributes | None:
    value: Mapping[str, Data] | None = wanted.get("properties")
    for name in value or {}:
        if name in RESERVED_PROPERTIES or name.startswith("flareiac."):
            why = RESERVED_PROPERTIES.get(name, "FlareIaC keeps its own marks there")
            detail = f'The property "{name}" cannot be set: {why}.'
            diagnostics.error(codes.RESERVED_PROPERTY, detail, attribute=("properties",))
        elif unused := without_effect(name, wanted):
            diagnostics.add(unused)
    return refuse_secrets(value, ("properties",), IN_CLEAR, diagnostics)


def _sorted(value: Mapping[str, Data] | None) -> Attributes | None:
    return None if value is None else dict(sorted(value.items()))


def _version(value: Data, diagnostics: Diagnostics) -> int | None:
    if value is None:
        return None
    if value in (1, 2, 3):
        return int(value)
    why = f"format_version is {value}. There are the versions 1, 2 and 3."
    diagnostics.error(codes.NO_SUCH_FORMAT, why, attribute=("format_version",))
    return None


def _renamed(
    value: Mapping[str, str] | None, columns: Mapping[str, Column] | None, diagnostics: Diagnostics
) -> dict[str, str]:
    value = followed(value or {}, columns or {})
    for step, (old, new) in zip(declared_steps(value), value.items(), strict=True):
        why = ""
        if columns is None:
            why = "No column is declared, so columns are not managed."
        elif new in columns and step.path in columns and old in value.values():
            why = (
                f"{step.path} gives its name away and gets another's at the same time, and later it could "
                "not be seen whether that was "
                f'done. Do it in two applies: first only "{old}" to a name that is free, then the rest.'
            )
        elif new not in columns:
            why = f'No column "{new}" is declared.{did_you_mean(new, columns)}'
        elif step.path in columns:
            why = (
                f'The column "{old}" is still declared. A renamed column is declared under its new name only.'
            )
        elif parent_of(step.path) != parent_of(new):
            why = "A rename changes the last part of a path; a column cannot move into or out of a struct."
        if why:
            diagnostics.error(
                codes.INVALID_RENAME, f'"{old}" cannot be renamed to "{new}". {why}', attribute=("renamed",)
            )
    return value
