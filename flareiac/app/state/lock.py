"""The state lock, held while a use case changes something. Touches the state store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.os_errors import first_step
from flareiac.model.events import Event, Note
from flareiac.sdk.state import Lease, LockInfo


@contextmanager
def locked(
    workspace: Workspace,
    operation: str,
    timeout: float,
    emit: Callable[[Event], None],
    *,
    new: bool = False,
) -> Iterator[Lease]:
    """Holds the state lock. Raises ``LockHeld``, or ``Failure`` where the store cannot be written, or where
    the workspace was never made (``new``: this command makes it).
    """

    def waiting(info: LockInfo) -> None:
        emit(
            Note(
                message=(
                    f"Waiting for the state lock, held by {info.owner} on {info.host} ({info.operation})..."
                )
            )
        )

    if not new:
        workspace.check_known()
    try:
        lease = workspace.store.lock(operation, timeout=timeout, on_wait=waiting)
    except OSError as problem:
        raise Failure(
            error(
                codes.STATE_LOCK_UNAVAILABLE,
                f"{workspace.store.describe()}: {problem.strerror or problem}. Nothing was changed."
                f"{first_step(problem)}",
            )
        ) from problem
    if lease.took_over is not None:
        emit(
            Note(
                message=(
                    f"Took over the lock that {lease.took_over.owner} on {lease.took_over.host} left behind."
                )
            )
        )
    try:
        yield lease
    finally:
        lease.release()
