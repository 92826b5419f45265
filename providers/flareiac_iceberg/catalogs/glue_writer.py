"""Makes an entry of a table in Glue; moves one to other metadata if nobody moved it before. Touches the world; imports pyiceberg late."""

from typing import TYPE_CHECKING

from flareiac.kernel.data import Attributes

if TYPE_CHECKING:
    from pyiceberg.catalog.glue import GlueCatalog


def move_entry(catalog: "GlueCatalog", namespace: str, name: str, old: str, new: str, metadata: Attributes) -> bool:
    """Whether the entry names ``new``, which holds ``metadata``; False if it did not name ``old``, or was changed meanwhile.

    Glue itself refuses an update of a version that is no longer the current one.
    """
    from pyiceberg.catalog.glue import _construct_table_input
    from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
    from pyiceberg.table.metadata import TableMetadataUtil

    try:
        entry = catalog._get_glue_table(namespace, name)
        if (entry.get("Parameters") or {}).get("metadata_location") != old:
            return False
        described = _construct_table_input(name, new, metadata["properties"], TableMetadataUtil.parse_obj(metadata), entry, old)
        catalog._update_glue_table(namespace, name, described, entry["VersionId"])
    except (CommitFailedException, NoSuchTableError):
        return False
    return True


def create_entry(catalog: "GlueCatalog", namespace: str, name: str, location: str, metadata: Attributes) -> None:
    """Makes the entry of a new table, whose metadata is in the file at ``location``. Raises what pyiceberg and boto3 raise."""
    from pyiceberg.catalog.glue import _construct_table_input
    from pyiceberg.table.metadata import TableMetadataUtil

    described = _construct_table_input(name, location, metadata["properties"], TableMetadataUtil.parse_obj(metadata))
    catalog._create_glue_table(namespace, name, described)
