"""A process of a chaos run: a command that takes the lock, adds records, folds them into a snapshot, and may
be killed on the way. What it was told to be written it notes in a file, which outlives it.
"""

import ctypes
import os
import random
import socket
import sys
from dataclasses import dataclass
from typing import Final

from flareiac.kernel import host, kill_points
from flareiac.kernel.data import Attributes
from flareiac.sdk.state import Conflict, Lease, LockHeld, LockLost, StateStore
from flareiac_aws.s3_bucket import Bucket  # noqa: F401 - imported before the fork
from flareiac_state.lease import Terms
from flareiac_state.log_backend import LogBackend
from flareiac_state.postgresql import PostgresqlBackend
from flareiac_state.postgresql_log import Database  # noqa: F401 - imported before the fork
from flareiac_state.s3 import S3Backend

BACKENDS: Final[dict[str, type[LogBackend]]] = {"s3": S3Backend, "postgresql": PostgresqlBackend}
TERMS: Final = Terms(length=2.0, heartbeat=0.5)
_NEW_HOST_NAME: Final = 0x04000000
_POINTS: Final = (
    "state.before-append@take",
    "state.after-append@take",
    "state.before-append@journal",
    "state.after-append@journal",
    "state.before-append@snapshot",
    "state.after-append@snapshot",
    "state.before-collect",
    "state.before-append@release",
    "state.after-append@release",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order to a process. ``host`` is the name of the machine that it believes to be on; empty: this one,
    where others see that it is gone.
    """

    backend: str
    settings: Attributes
    environment: dict[str, str]
    name: str
    host: str
    seed: int
    rounds: int
    is_killed: bool
    notes: str


def open_store(order: Order) -> StateStore:
    """The state as this process opens it."""
    backend = BACKENDS[order.backend](terms=TERMS)
    return backend.open(order.settings, root=".", workspace="default", environment={"USER": order.name})


def work(order: Order) -> None:
    """Carries out the order."""
    os.environ.update(order.environment)
    choose = random.Random(order.seed)
    if order.host:
        _move_to(order.host)
    if order.is_killed:
        kill_points._KILL = frozenset({(choose.choice(_POINTS), choose.randint(1, order.rounds))})
    notes = os.open(order.notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store = open_store(order)
    for number in range(order.rounds):
        try:
            lease = store.lock(f"round {number}", timeout=120, on_wait=lambda _holder: None)
        except LockHeld:
            sys.exit(7)
        try:
            _round(store, lease, f"{order.name}.{number}", notes, choose)
        except (LockLost, Conflict):
            continue
        finally:
            lease.release()


def _round(store: StateStore, lease: Lease, name: str, notes: int, choose: random.Random) -> None:
    moment = store.read()
    items = [*(moment.snapshot.content.split() if moment.snapshot else ()), *moment.journal.records]
    for part in range(choose.randint(1, 4)):
        records = [f"{name}.{part}.{number}".encode() for number in range(choose.randint(1, 3))]
        store.append_journal(records, lease)
        os.write(notes, b"".join(record + b"\n" for record in records))
        items += records
    if choose.random() < 0.7:
        revision = moment.snapshot.revision if moment.snapshot else None
        store.write_snapshot(b"\n".join(items), expect=revision, lease=lease)


def _move_to(name: str) -> None:
    """Another name of the machine, where that is permitted, and in any case another boot."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_HOST_NAME) == 0:
        socket.sethostname(name)
    host._kernel = lambda: (name, f"boot of {name}", "pid:[1]")  # type: ignore[assignment]
