"""Seeded runs of commands that compete for one remote state and are killed: what was acknowledged is there,
once, and the next command goes on.
"""

import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from flareiac.sdk.state import StateUnreachable
from tests.state.chaos_worker import Order, open_store, work
from tests.state.conformance import ignore_wait
from tests.state.remote_places import Remote
from tests.support.moto_server import KEYS
from tests.support.postgres import PASSWORD

_AT_ONCE: Final = 4
_WORKERS: Final = 3
_ALONE: Final = threading.Lock()
"""The lock for starting processes and for their exit codes. A thread that starts a process also asks for the
exit codes of all others, and of two threads that ask for one at once, the second gets 255 (the server of
forks writes it once).
"""

_ENVIRONMENT: Final = {**KEYS, "PGPASSWORD": PASSWORD, "AWS_CONFIG_FILE": "/dev/null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a run; ``problem`` is empty when all is well. ``unanswered``: the server of the test did
    not answer, so that nothing is known of it.
    """

    seed: int
    killed: int
    acknowledged: int
    problem: str
    unanswered: str = ""


def runs(remotes: Sequence[Remote], seeds: Sequence[int], directory: Path) -> Iterator[Outcome]:
    """One run at each place, some of them at the same time; each outcome when those before it are there."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.state.chaos_worker"])
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(
            lambda pair: _answered(context, pair[0], pair[1], directory / str(pair[1])),
            zip(remotes, seeds, strict=True),
        )


def _answered(context: object, remote: Remote, seed: int, directory: Path) -> Outcome:
    try:
        return _run(context, remote, seed, directory)
    except StateUnreachable as error:
        return Outcome(seed=seed, killed=0, acknowledged=0, problem="", unanswered=str(error))


def _run(context: object, remote: Remote, seed: int, directory: Path) -> Outcome:
    directory.mkdir()
    remote.opener.prove()
    orders = _orders(remote, seed, directory)
    processes = [context.Process(target=work, args=(order,), daemon=True) for order in orders]  # type: ignore[attr-defined]
    for process in processes:
        with _ALONE:
            process.start()
    codes = [_exit_code(process) for process in processes]
    for process in processes:
        process.kill()
    acknowledged = [line for order in orders for line in _lines(Path(order.notes))]
    problem = _problem(orders[0], acknowledged)
    strange = [code for code in codes if code not in (0, -signal.SIGKILL)]
    return Outcome(
        seed=seed,
        killed=codes.count(-signal.SIGKILL),
        acknowledged=len(acknowledged),
        problem=f"exit codes {strange}" if strange else problem,
    )


def _exit_code(process: BaseProcess) -> int | None:
    """The exit code of a process that is waited for; ``None`` where it does not end."""
    wait([process.sentinel], timeout=300)
    with _ALONE:
        return process.exitcode


def _orders(remote: Remote, seed: int, directory: Path) -> list[Order]:
    choose = random.Random(seed)
    return [
        Order(
            backend=remote.backend.name,
            settings=remote.opener.settings,
            environment={**_ENVIRONMENT, "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"},
            name=f"w{number}",
            host=choose.choice(["", f"host-{number}"]),
            seed=choose.randrange(1 << 30),
            rounds=2,
            is_killed=choose.random() < 0.6,
            notes=str(directory / f"w{number}"),
        )
        for number in range(_WORKERS)
    ]


def _problem(order: Order, acknowledged: Sequence[bytes]) -> str:
    """The fault of the state after all have ended; empty for none."""
    store = open_store(order)
    lease = store.lock("check", timeout=120, on_wait=ignore_wait)
    moment = store.read()
    found = [*(moment.snapshot.content.split() if moment.snapshot else ()), *moment.journal.records]
    store.append_journal([b"healed"], lease)
    lease.release()
    if store.read_journal().records[-1:] != (b"healed",):
        return "the next command cannot write"
    if len(found) != len(set(found)):
        return f"twice: {sorted(item for item in set(found) if found.count(item) > 1)}"
    if missing := sorted(set(acknowledged) - set(found)):
        return f"lost: {missing}"
    return ""


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if os.path.exists(path) else []  # noqa: PTH110 - a killed one may write none
