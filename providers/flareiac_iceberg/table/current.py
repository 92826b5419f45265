"""The metadata of a table as its catalog names it now. Touches the world by reading only."""

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.results import Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.metadata_files import load_entry
from flareiac_iceberg.catalogs.reader import table_in
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.metadata import TableFile, managed_by
from flareiac_iceberg.maintenance.statistics import another_table, gone_table
from flareiac_iceberg.table.managed_by import another_state


def current(target: Target) -> TableFile | None:
    """The location and content of the current metadata, or None if there is no such table. Raises
    ``Failure``, ``NoCatalog`` where there is no catalog.
    """
    pointer = table_in(target.catalog, target.namespace, target.name)
    return None if pointer is None else load_entry(pointer, target.catalog)


def still_there(target: Target, recorded: Recorded) -> TableFile | None:
    """The metadata of the recorded table; None where it is gone, or another one has its name. Raises as
    ``current`` does.
    """
    table_file = current(target)
    same = table_file is not None and table_file.uuid == identity_of(recorded.identity).uuid
    return table_file if same else None


def own(target: Target, recorded: Recorded) -> TableFile:
    """The recorded table's metadata. Raises ``Failure`` if it is gone or another one."""
    table_file = current(target)
    if table_file is None:
        raise Failure(gone_table(target.full_name))
    if table_file.uuid != identity_of(recorded.identity).uuid:
        raise Failure(another_table(target.full_name))
    return table_file


def managed(target: Target, recorded: Recorded, lineage: str) -> TableFile:
    """The same. Raises ``Failure`` also if another state than the one of ``lineage`` has taken the table
    over.
    """
    table_file = own(target, recorded)
    other = another_state(managed_by(table_file.properties), lineage, recorded=True)
    if other:
        raise Failure(_of_another_state(target, other))
    return table_file


def _of_another_state(target: Target, other: str) -> Diagnostic:
    return error(
        codes.MANAGED_ELSEWHERE,
        f"The state {other} has taken over {target.full_name}. Nothing was changed. Go back there, or take "
        "the table back first: flareiac state rm ADDRESS, then an import block with takeover = true.",
    )
