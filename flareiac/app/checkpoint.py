"""The use cases of ``checkpoint show`` and ``checkpoint gc``: what is inside recorded things, and what of it
is of no more use.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flareiac.app.lock import locked
from flareiac.app.recorded import recorded
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.capabilities import Collecting, Explaining, Inspecting
from flareiac.sdk.results import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """``inside`` as the provider tells it; ``holders``: what those that use it are doing, by address."""

    address: str
    inside: Attributes
    holders: dict[str, Attributes]


def show(workspace: Workspace, address: str) -> Explained:
    """What is inside one recorded thing. Raises ``Failure``."""
    snapshot = workspace.load_state().snapshot
    record = recorded(snapshot, address)
    driver = workspace.driver(record.provider, record.type)
    if not isinstance(driver, Explaining):
        raise Failure(
            error(
                codes.NOT_A_CHECKPOINT,
                f"{address} is not a checkpoint. Write the address of a checkpoint; the block of a job "
                "names its own.",
            )
        )
    holders: dict[str, Attributes] = {}
    for name in _holders(snapshot, address):
        holder = snapshot.resources[name]
        asked = workspace.driver(holder.provider, holder.type)
        if isinstance(asked, Inspecting):
            holders[name] = asked.inspect(name, holder.recorded(), recorded_references(snapshot, holder))
    return Explained(address=address, inside=driver.explain(address, record.recorded()), holders=holders)


def collect(
    workspace: Workspace,
    address: str | None,
    *,
    dry_run: bool,
    lock_timeout: float,
    emit: Callable[[Event], None],
) -> dict[str, tuple[str, ...]]:
    """What was removed (or would be) of one recorded thing, or of every one that leaves things behind. Raises
    ``Failure``, ``LockHeld``.
    """
    if dry_run:
        return _collect(workspace, address, dry_run=True)
    with locked(workspace, "checkpoint gc", lock_timeout, emit):
        return _collect(workspace, address, dry_run=False)


def _collect(workspace: Workspace, address: str | None, *, dry_run: bool) -> dict[str, tuple[str, ...]]:
    snapshot = workspace.load_state().snapshot
    found: dict[str, tuple[str, ...]] = {}
    for name in [address] if address is not None else sorted(snapshot.resources):
        record = recorded(snapshot, name)
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, Collecting):
            holders: dict[str, Recorded] = {
                each: snapshot.resources[each].recorded() for each in _holders(snapshot, name)
            }
            found[name] = tuple(driver.collect(name, record.recorded(), holders, dry_run=dry_run))
        elif address is not None:
            raise Failure(
                error(
                    codes.NOT_A_CHECKPOINT,
                    f"{address} is not a checkpoint. Write the address of a checkpoint; the block of a job "
                    "names its own.",
                )
            )
    return found


def _holders(snapshot: Snapshot, address: str) -> list[str]:
    return sorted(name for name, record in snapshot.resources.items() if address in record.dependencies)
