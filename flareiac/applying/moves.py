"""Gives recorded resources other addresses, with what runs: asks the drivers of those that may be running."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from flareiac.kernel.kill_points import reach
from flareiac.model.renaming import renamed
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.capabilities import Renaming
from flareiac.sdk.driver import Driver
from flareiac.sdk.resource_type import ResourceType


def moved(
    snapshot: Snapshot,
    moves: Mapping[str, str],
    driver: Callable[[str, str], Driver],
    types: Mapping[str, ResourceType],
) -> Snapshot:
    """The state after moves (new addresses by old ones), for the caller to write. Safe to repeat where it was
    not written. Raises ``Failure``.

    What runs goes on, and is known under both addresses until the state is written.
    """
    resources = dict(snapshot.resources)
    for old, new in moves.items():
        record = resources.get(old)
        able = driver(record.provider, record.type) if record is not None else None
        if record is not None and isinstance(able, Renaming):
            identity = able.rename(record.recorded(), old, new)
            resources[old] = replace(record, identity=identity)
            reach("moves.renamed")
    return renamed(replace(snapshot, resources=resources), moves, types)
