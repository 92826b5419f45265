"""Creates tables. Touches the world."""

from functools import partial
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.results import Applied, NotApplied, Outcome
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.outcomes import Exists
from flareiac_iceberg.format.locations import absolute_location
from flareiac_iceberg.format.metadata import TableFile, created_by
from flareiac_iceberg.format.spec import layout_of
from flareiac_iceberg.table.actions.commit import TableCommitter
from flareiac_iceberg.table.actions.order import Order, lacking
from flareiac_iceberg.table.actions.results import applied, moved
from flareiac_iceberg.table.create import definition
from flareiac_iceberg.table.current import current

_FOLLOWS: Final = ("format_version", "branch", "tag")
"""The attributes that a new table may get only in a second commit."""


class TableCreator:
    """``root``: the folder that the locations of blocks are relative to."""

    def __init__(self, connections: Connections, committer: TableCommitter, root: Path) -> None:
        self._connections = connections
        self._committer = committer
        self._root = root

    def create(self, order: Order) -> Outcome:
        """Creates the table. The same request again finds what the first one did. Raises ``Failure`` where
        only ``settled`` can tell what was done.
        """
        target, key, location = order.target, order.request.key, order.planned.location
        place = None if location is None else absolute_location(location, self._root) or location
        try:
            what, missing = definition(order.planned, key), partial(self._missing, order)
            made = self._connections.get(target.catalog).create(target, what, place, key, missing)
            message = f"created {target.full_name}"
        except Exists:
            made, message = None, f"{target.full_name} had been created by this operation before"
        if made is not None:
            return applied(order.change.planned, made, message)
        table_file = current(target)
        if table_file is None or created_by(table_file.metadata) != key:
            return NotApplied(diagnostics=(moved(target, "a table of this name has appeared"),))
        # What a server did not take together with a new table follows in a commit of its own
        missing_yet = partial(lacking, order.planned)
        return self._committer.in_one_commit(order, missing_yet, lambda _found: None, message, sent=True)

    def _missing(self, order: Order, metadata: Attributes) -> list[Attributes]:
        """The updates that make a new table with this metadata the planned one."""
        return self._committer.updates(order, metadata, lacking(order.planned, TableFile("", metadata)))

    def settled(self, order: Order) -> Outcome | None:
        """The outcome if the table carries the mark of this request, else None. Raises ``Failure``."""
        try:
            table_file = current(order.target)
        except NoCatalog:
            return None  # to create the table would have made the catalog
        if table_file is None or created_by(table_file.metadata) != order.request.key:
            return None
        return _as_created(order.change.planned, table_file)


def _as_created(planned: Attributes, table_file: TableFile) -> Applied:
    """The record of a table that this operation created, perhaps without the attributes that were to follow
    in a second commit.
    """
    there = layout_of(table_file.read()[0])
    behind = [name for name in _FOLLOWS if planned.get(name) not in (None, there[name])]
    return applied(planned | {name: there[name] for name in behind}, table_file)
