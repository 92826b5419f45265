"""What Glue is sent for a table or database that it has: all that it answered, with what Iceberg needs
changed. Pure.

An update replaces the whole entry, so that whatever is not sent is erased: the description, owner and
parameters that people or other programs gave it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from flareiac.kernel.data import Attributes

_FIELD_ID: Final = "iceberg.field.id"
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
    old_properties, properties = before.get("properties") or {}, after["properties"]
    # A copy of a property goes with the property; a parameter of another value is someone else's.
    parameters = {
        name: value
        for name, value in (there.get("Parameters") or {}).items()
        if name in properties or old_properties.get(name) != value
    }
    storage = there.get("StorageDescriptor") or {}
    found = {
        **there,
        "Name": new["Name"],
        "TableType": there.get("TableType") or new["TableType"],
        "Parameters": parameters | new["Parameters"],
        "StorageDescriptor": {
            **storage,
            "Location": new["StorageDescriptor"]["Location"],
            "Columns": _columns(
                storage.get("Columns") or (), new["StorageDescriptor"]["Columns"], _docs(before)
            ),
        },
    }
    if "Description" in new and new["Description"] != old_properties.get("Description"):
        found["Description"] = new["Description"]
    return found


def _columns(
    there: Iterable[Attributes], new: Iterable[Attributes], docs: Mapping[str, str]
) -> list[Attributes]:
    """The columns as Iceberg has them; what others said of one stays with it, also under another name."""
    by_id = {(item.get("Parameters") or {}).get(_FIELD_ID, ""): item for item in there}
    by_name = {item["Name"]: item for item in there if _FIELD_ID not in (item.get("Parameters") or {})}
    found: list[Attributes] = []
    for column in new:
        field_id = column["Parameters"][_FIELD_ID]
        known = by_id.get(field_id) or by_name.get(column["Name"]) or {}
        made = {**known, **column, "Parameters": (known.get("Parameters") or {}) | column["Parameters"]}
        comment = _comment(known.get("Comment", ""), docs.get(field_id, ""), column.get("Comment", ""))
        made.pop("Comment", None)
        found.append({**made, **({"Comment": comment} if comment else {})})
    return found


def _comment(there: str, before: str, after: str) -> str:
    """The comment of a column in Glue: a change of the column's own comment wins, else what stands there."""
    if after != before:
        return after or (there if there != before else "")
    return there or after


def _docs(metadata: Attributes) -> dict[str, str]:
    """The comments of the columns, by field id; those of the current schema win."""
    current = metadata.get("current-schema-id")
    schemas = [
        *sorted(metadata.get("schemas") or (), key=lambda item: bool(item.get("schema-id") == current)),
        *([metadata["schema"]] if metadata.get("schema") else ()),
    ]
    return {str(item["id"]): item.get("doc") or "" for schema in schemas for item in schema["fields"]}


def with_properties(there: Attributes, put: Mapping[str, str], remove: Iterable[str]) -> Attributes:
    """The entry of a database with some properties set and others removed; ``there`` as for ``moved``."""
    found = {**there, "Parameters": dict(there.get("Parameters") or {})}
    for name in remove:
        (found if name in _OWN else found["Parameters"]).pop(_OWN.get(name, name), None)
    for name, value in put.items():
        (found if name in _OWN else found["Parameters"])[_OWN.get(name, name)] = value
    return found
