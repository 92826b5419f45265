"""Opens the quickstart's tables with pyiceberg, beside FlareIaC and Spark, as any other program could."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table import Table


def open_table(project: Path, name: str) -> "Table":
    """A table of the namespace ``demo``."""
    from pyiceberg.catalog.sql import SqlCatalog

    lake = project.resolve() / "lake"
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{lake}/catalog.db?timeout=15", warehouse=f"file://{lake}/warehouse"
    )
    return catalog.load_table(("demo", name))
