"""The contract of data flow: which resources hand data to which, and of which columns each column is made.
Records.
"""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Relation

EVERY_COLUMN = "*"
"""Stands for all columns of a table, topic or stream, where they are not known by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Data flow from ``source`` to ``target`` (addresses); ``relation`` is that of the one that runs."""

    source: str
    target: str
    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceColumn:
    """A column of a stream, table or topic; of files that no block declares ``address`` is the path."""

    address: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFlow:
    """A column of the table or topic ``target``, and the columns of which ``by`` makes its values: none of
    constants and counts. ``is_certain`` False: code makes it, or SQL that cannot be followed, of anything
    that ``by`` reads.
    """

    target: str
    column: str
    by: str
    sources: tuple[SourceColumn, ...] = ()
    is_certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlow:
    """The data flow through one resource."""

    links: tuple[Link, ...] = ()
    columns: tuple[ColumnFlow, ...] = ()
