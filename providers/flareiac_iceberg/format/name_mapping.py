"""The name mapping property: which columns the names in files without field ids mean. It follows its columns.
Pure.
"""

import json
from collections.abc import Collection, Iterator
from typing import Final

from flareiac.kernel.data import Attributes, Data, parse_json

PROPERTY: Final = "schema.name-mapping.default"


def followed(mapping: str, before: list[Attributes], fields: list[Attributes]) -> str:
    """The mapping once the columns are ``fields`` and no longer ``before``: new and renamed ones are found
    under their names.

    A name keeps its meaning, be it of a column that was renamed or dropped: files that are there would be
    read as another column's. What the mapping leaves out stays left out; a text that is no mapping stays.
    """
    try:
        return json.dumps(_rows(parse_json(mapping), set(_ids(before)), fields))
    except (ValueError, KeyError, TypeError, AttributeError):
        return mapping


def _ids(fields: list[Attributes]) -> Iterator[int]:
    for field in fields:
        yield field["id"]
        yield from _ids(_inside(field["type"]))


def _rows(rows: list[Attributes], before: Collection[int], fields: list[Attributes]) -> list[Attributes]:
    """The rows of one level of columns."""
    taken = {name for row in rows for name in row["names"]}
    by_id = {row["field-id"]: row for row in rows if "field-id" in row}
    rows_by_id = dict(by_id)
    for field in fields:
        key, name = field["id"], field["name"]
        if key not in by_id and (key in before or name in taken):
            continue
        row = by_id.get(key, {"field-id": key, "names": []})
        inner = _rows(row.get("fields") or [], before, _inside(field["type"]))
        names = [*row["names"], *([] if name in taken else [name])]
        rows_by_id[key] = {**row, "names": names, **({"fields": inner} if inner else {})}
    return [*rows_by_id.values(), *(row for row in rows if "field-id" not in row)]


def _inside(kind: Data) -> list[Attributes]:
    """The fields of a type; the parts of lists and maps under the names that mappings give them."""
    if not isinstance(kind, dict):
        return []
    if kind["type"] == "struct":
        fields: list[Attributes] = kind["fields"]
        return fields
    parts = ("element",) if kind["type"] == "list" else ("key", "value")
    return [{"id": kind[f"{part}-id"], "name": part, "type": kind[part]} for part in parts]
