"""The use cases of ``lock status`` and ``lock release``."""

from flareiac.app.workspace import Workspace, state_errors
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.state import LockHeld, LockInfo


def lock_status(workspace: Workspace) -> LockInfo | None:
    """Returns the holder of the state lock, None where it is free. Raises ``Failure``."""
    with state_errors(workspace):
        return workspace.store.lock_info()


def release_lock(workspace: Workspace, lock_id: str) -> LockInfo:
    """Takes the lock away from who holds it. Raises ``Failure``."""
    try:
        with state_errors(workspace):
            return workspace.store.release_lock(lock_id)
    except LockHeld as held:
        why = (
            f"The lock that is held has the id {held.info.id} ({held.info.owner} on {held.info.host}, "
            f"{held.info.operation}). Nothing was changed. flareiac lock status shows it."
        )
        raise Failure(error(codes.LOCK_NOT_RELEASED, why)) from held
    except KeyError as free:
        why = "No command holds the state lock. Nothing was changed."
        raise Failure(error(codes.LOCK_NOT_RELEASED, why)) from free
