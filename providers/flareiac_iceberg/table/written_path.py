"""The places of changed attributes of a table as their author writes them, for plans. Pure."""

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.paths import Path
from flareiac.sdk.taking_over import with_value
from flareiac_iceberg.format.spec import TableDefinition


def written_path(path: Path) -> Path | None:
    """The same place; None for the order of columns, which is that of their blocks."""
    return None if path == ("column_order",) else path


def taking_over(attributes: Attributes, path: Path, value: Data) -> Attributes:
    """The attributes that also declare what drift finds at a path; a new column comes last."""
    if path[:1] != ("column",):
        return with_value(attributes, path, value)
    name, before = str(path[1]), TableDefinition.of(attributes).columns or {}
    is_gone = value is None and path == ("column", name)
    order = [each for each in dict.fromkeys([*before, name]) if not (is_gone and each == name)]
    # Other writers give a column without a comment an empty one
    said = None if value == "" else value
    if isinstance(value, dict):
        said = {part: None if content == "" else content for part, content in value.items()}
    return {**with_value(attributes, ("columns", *path[1:]), said), "column_order": order}
