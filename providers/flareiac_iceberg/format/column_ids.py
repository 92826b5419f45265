"""The ids of all levels of a schema's columns, those that no path can say among them. Pure: takes metadata as
JSON.
"""

from collections.abc import Iterator

from flareiac.kernel.data import Attributes, Data


def levels(schema: Attributes) -> Iterator[tuple[int, str]]:
    """Each column, and each part of one, with its id; a name that no path can say is in back-quotes."""
    yield from _parts({"type": "struct", **schema}, "")


def last_column_id(metadata: Attributes) -> int:
    """The highest id that a column, or a part of one, has in any schema of the table.

    The table's own counter is only a lower bound: some writers count no nested columns, and an id that an
    old schema alone uses still belongs to the values in old files.
    """
    ids: list[int] = [metadata["last-column-id"]]
    for schema in schemas_of(metadata):
        ids += (each for each, _ in levels(schema))
    return max(ids)


def schemas_of(metadata: Attributes) -> Iterator[Attributes]:
    """All schemas that the table has had; old metadata names one beside the list, or in its place."""
    match metadata:
        case {"schemas": [*schemas]}:
            yield from schemas
        case _:
            pass  # the first version had no list
    match metadata:
        case {"schema": {} as only}:
            yield only
        case _:
            pass  # later versions have the list alone


def _parts(kind: Data, parent: str) -> Iterator[tuple[int, str]]:
    parts: list[tuple[int, str, Data]] = []
    match kind:
        case {"type": "struct", "fields": [*fields]}:
            parts += ((field["id"], str(field["name"]), field["type"]) for field in fields)
        case {"type": "list", "element-id": element_id, "element": element}:
            parts.append((element_id, "element", element))
        case {"type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value": value}:
            parts += ((key_id, "key", key), (value_id, "value", value))
        case _:
            pass  # a primitive has no parts
    for field_id, name, inner in parts:
        path = parent + (f"`{name}`" if "." in name or not name.strip() else name)
        yield field_id, path
        yield from _parts(inner, f"{path}.")
