"""The update that Glue is sent for a table or database that it has: all that it answered, with the changes
that Iceberg needs. Pure.

An update replaces the whole entry, so that whatever is not sent is erased: the description, owner and
parameters that people or other programs gave it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.column_ids import schemas_of
from flareiac_iceberg.format.metadata import properties_of, schema_of

_FIELD_ID: Final = "iceberg.field.id"
_PARAMETERS: Final = "Parameters"
_STORAGE: Final = "StorageDescriptor"
_COLUMNS: Final = "Columns"
_COMMENT: Final = "Comment"
_NAME: Final = "Name"
_TYPE: Final = "TableType"
_DESCRIPTION: Final = "Description"
_OWN: Final = {"Description": "Description", "location": "LocationUri"}
"""The properties of a namespace that are members of a database of their own."""


def accepted(answer: Any, shape: Any) -> Any:
    """The parts of an answer that a request takes; ``shape`` is botocore's of the request. Members that only
    answers have (who made it, its version) are left out.
    """
    match shape.type_name:
        case "structure":
            return {
                name: accepted(answer[name], inner)
                for name, inner in shape.members.items()
                if answer.get(name) is not None
            }
        case "list":
            return [accepted(each, shape.member) for each in answer]
        case "map":
            return {name: accepted(each, shape.value) for name, each in answer.items()}
        case _:
            return answer


def moved(there: Attributes, new: Attributes, before: Attributes, after: Attributes) -> Attributes:
    """The entry of a table that gets another metadata file.

    ``there``: the accepted parts of the present entry. ``new``: what Iceberg's library makes of the new
    metadata. ``before`` and ``after``: the metadata that the entry names now and then.
    """
    old_properties, properties = properties_of(before), properties_of(after)
    # A copy of a property goes with the property; a parameter of another value is someone else's.
    parameters = {
        name: value
        for name, value in (there.get(_PARAMETERS) or {}).items()
        if name in properties or old_properties.get(name) != value
    }
    storage, new_storage = there.get(_STORAGE) or {}, new[_STORAGE]
    columns = _columns(storage.get(_COLUMNS) or (), new_storage[_COLUMNS], _docs(before))
    description = new.get(_DESCRIPTION)
    kept = [] if description == old_properties.get(_DESCRIPTION) else [(_DESCRIPTION, description)]
    return {
        **there,
        **{name: value for name, value in kept if value is not None},
        _NAME: new[_NAME],
        _TYPE: there.get(_TYPE) or new[_TYPE],
        _PARAMETERS: parameters | new[_PARAMETERS],
        _STORAGE: {**storage, **new_storage, _COLUMNS: columns},
    }


def _columns(
    there: Iterable[Attributes], new: Iterable[Attributes], docs: Mapping[str, str]
) -> list[Attributes]:
    """The columns as Iceberg has them; what others said of one stays with it, also under another name."""
    known = {_key(column): column for column in there}
    columns: list[Attributes] = []
    for column in new:
        old = known.get(_key(column)) or known.get(column[_NAME]) or {}
        parameters = (old.get(_PARAMETERS) or {}) | column[_PARAMETERS]
        made = {**old, **column, _PARAMETERS: parameters}
        doc = docs.get(column[_PARAMETERS][_FIELD_ID], "")
        comment = _comment(old.get(_COMMENT, ""), doc, column.get(_COMMENT, ""))
        made.pop(_COMMENT, None)
        columns.append({**made, **({_COMMENT: comment} if comment else {})})
    return columns


def _key(column: Attributes) -> tuple[str] | str:
    """The field id of a column, as a tuple of one; the name of one that has none."""
    field_id = (column.get(_PARAMETERS) or {}).get(_FIELD_ID)
    return (field_id,) if field_id is not None else str(column[_NAME])


def _comment(there: str, before: str, after: str) -> str:
    """The comment of a column in Glue: a change of the column's own comment wins, else what stands there."""
    if after != before:
        return after or (there if there != before else "")
    return there or after


def _docs(metadata: Attributes) -> dict[str, str]:
    """The comments of the columns, by field id; those of the current schema win."""
    if not metadata:
        return {}
    schemas = (*schemas_of(metadata), schema_of(metadata))
    return {str(field["id"]): field.get("doc") or "" for schema in schemas for field in schema["fields"]}


def with_properties(there: Attributes, put: Mapping[str, str], remove: Iterable[str]) -> Attributes:
    """The entry of a database with some properties set and others removed; ``there`` as for ``moved``."""
    own, parameters = dict(there), dict(there.get(_PARAMETERS) or {})
    for name in remove:
        (own if name in _OWN else parameters).pop(_OWN.get(name, name), None)
    for name, value in put.items():
        (own if name in _OWN else parameters)[_OWN.get(name, name)] = value
    return {**own, _PARAMETERS: parameters}
