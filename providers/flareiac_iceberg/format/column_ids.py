"""The ids of all levels of a schema's columns, those that no path can say among them. Pure: takes metadata as
JSON.
"""

from collections.abc import Iterator

from flareiac.kernel.data import Attributes, Data


def levels(schema: Attributes) -> Iterator[tuple[int, str]]:
    """Each column, and each part of one, with its id; a name that no path can say is in back-quotes."""
    yield from _parts({"type": "struct", "fields": schema["fields"]}, "")


def last_column_id(metadata: Attributes) -> int:
    """The highest id that a column, or a part of one, has in any schema of the table.

    The table's own counter is only a lower bound: some writers count no nested columns, and an id that an
    old schema alone uses still belongs to the values in old files.
    """
    only = metadata.get("schema")
    schemas = [*(metadata.get("schemas") or ()), *([only] if only else ())]
    ids: list[int] = [metadata["last-column-id"], *(each for schema in schemas for each, _ in levels(schema))]
    return max(ids)


def _parts(kind: Data, parent: str) -> Iterator[tuple[int, str]]:
    if not isinstance(kind, dict):
        return
    match kind["type"]:
        case "struct":
            parts = [(item["id"], str(item["name"]), item["type"]) for item in kind["fields"]]
        case "list":
            parts = [(kind["element-id"], "element", kind["element"])]
        case _:
            parts = [(kind["key-id"], "key", kind["key"]), (kind["value-id"], "value", kind["value"])]
    for field_id, name, inner in parts:
        path = parent + (f"`{name}`" if "." in name or not name.strip() else name)
        yield field_id, path
        yield from _parts(inner, f"{path}.")
