"""The requests to write to a catalog, in JSON form: a new table, a commit. Pure."""

from collections.abc import Sequence

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.metadata import TableFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Schema, spec and order in JSON form, the properties and the format version.

    ``needs_updates``: the declared table has more than these, branches or default values.
    """

    schema: Attributes
    spec: Attributes
    order: Attributes
    properties: dict[str, str]
    version: int
    needs_updates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCommit:
    """``updates`` on top of ``base``, a table's metadata file and what is in it. ``needs``: what must still
    hold.

    Most kinds have nothing but the entry that names the file, which must not have moved; a server checks
    ``needs`` itself.
    """

    base: TableFile
    updates: Sequence[Attributes]
    needs: Sequence[Attributes]
