"""The places of changed attributes of a table as their author writes them, for plans. Pure."""

from flareiac.kernel.paths import Path


def written_path(path: Path) -> Path | None:
    """The same place; None for the order of columns, which is that of their blocks."""
    return None if path == ("column_order",) else path
