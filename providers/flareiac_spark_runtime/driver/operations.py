"""One-shot work that the command line asks of the application: one function for each kind. Touches tables and
checkpoints.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, assert_never

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import (
    End,
    Finish,
    Maintain,
    Marks,
    Operation,
    Prove,
    Result,
    Target,
    Trigger,
    Truncate,
    Truncated,
    job_spec_from_json,
)
from flareiac_spark_runtime.driver import tables
from flareiac_spark_runtime.driver.analyse import analyse
from flareiac_spark_runtime.driver.at_once import at_once
from flareiac_spark_runtime.driver.checkpoints import Checkpoints
from flareiac_spark_runtime.driver.commit_marks import BATCH_ID, CHECKPOINT_ID, EPOCHS, OUTPUT, commits
from flareiac_spark_runtime.driver.jvm import jvm_of
from flareiac_spark_runtime.driver.maintenance import TableLocks, maintain
from flareiac_spark_runtime.driver.proof import Prover
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.spark_session import set_conf
from flareiac_spark_runtime.driver.start_guard import prove_start
from flareiac_spark_runtime.driver.stream_run import run_stream
from flareiac_spark_runtime.storage import Place, place_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REBUILD: Final = "flareiac.rebuild"
"""Key in a snapshot's summary: which generation a table was emptied for."""
_OWN: Final = (CHECKPOINT_ID, BATCH_ID)
_PATIENCE: Final = 600.0
"""Seconds for which a truncation stands: one that no one waits for any more must not happen out of the
blue.
"""
_HELD_MS: Final = 7 * 24 * 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationContext:
    """The parts of its application that an operation needs."""

    new_session: Callable[[], Any]
    checkpoints: Checkpoints
    log: Logger
    locks: TableLocks = field(default_factory=TableLocks)
    pause: Callable[[float], object] = time.sleep


def serve(operation: Operation, shop: OperationContext) -> Result:
    """Does what is asked. Raises what Spark and Iceberg raise, and ``Refusal``."""
    done = partial(Result, id=operation.id, status="done")
    match operation.work:
        case None:
            return analyse(shop.new_session, operation)
        case Marks() as work:
            session = shop.new_session()
            marked = tuple(target.output for target in work.targets if _carries(session, target, work))
            return done(marked=marked)
        case Truncate() as work:
            return done(truncated=_truncate(shop.new_session(), work, shop.log))
        case Finish() as work:
            _finish(work, shop)
            return done()
        case Maintain() as work:
            return done(maintained=maintain(shop.new_session, work, shop.locks, shop.pause, shop.log))
        case Prove() as work:
            with tempfile.TemporaryDirectory(prefix="flareiac-proof-") as scratch:
                prover = Prover(shop.new_session, Path(scratch))
                proofs = at_once(prover.prove, work.pairs)
                return done(
                    proofs={pair.address: proof for pair, proof in zip(work.pairs, proofs, strict=True)}
                )
        case End():
            raise Refusal("ANOTHER_APPLICATION", "It was asked of an application that is no more.")
        case _:
            assert_never(operation.work)


def _carries(session: "SparkSession", target: Target, work: Marks) -> bool:
    """Newest first, up to the first commit of an earlier batch of the same query: what is older cannot be of
    this batch.
    """
    for commit in commits(_loaded(session, target), target.branch):
        batch = _batch_of(commit.summary, target, work.query_id)
        if batch is not None:
            return batch == work.batch
    return False


def _batch_of(summary: Mapping[str, str], target: Target, query_id: str) -> int | None:
    """The batch that a snapshot is of, None if another query or output wrote it."""
    query, batch = EPOCHS if target.epochs else _OWN
    if summary.get(query) != query_id or (not target.epochs and summary.get(OUTPUT) != target.output):
        return None
    number = summary.get(batch)
    return int(number) if number is not None and number.isdigit() else None


def _truncate(session: "SparkSession", work: Truncate, log: Logger) -> Truncated:
    """One commit that carries the mark; where an ancestor has it, what was before that one is the answer."""
    target, shown = work.target, ".".join(work.target.identifier)
    table = _loaded(session, target)
    for commit in commits(table, target.branch):
        if commit.summary.get(REBUILD) == work.mark:
            return Truncated(snapshot_id=table.snapshot(commit.id).parentId(), found=True)
    if time.time() - work.asked > _PATIENCE:
        raise Refusal(
            "ASKED_LONG_AGO",
            f"{shown} was to be emptied for {work.mark}, but that was asked too long ago. Apply again.",
        )
    head = table.snapshot(target.branch or "main")
    if target.branch is not None and head is None:
        raise Refusal("BRANCH_NOT_FOUND", f"The table {shown} has no branch {target.branch}.")
    before = None if head is None else head.snapshotId()
    if before is not None:
        branch = f"-{target.branch}" if target.branch is not None else ""
        _hold(table, f"flareiac-before-{work.mark.replace('/', '-')}{branch}", head)
    everything = jvm_of(session).org.apache.iceberg.expressions.Expressions.alwaysTrue()
    delete = table.newDelete().set(REBUILD, work.mark).deleteFromRowFilter(everything)
    (delete if target.branch is None else delete.toBranch(target.branch)).commit()
    log.info(
        "emptied %s (branch %s) for %s; it was at snapshot %s",
        shown,
        target.branch or "main",
        work.mark,
        before,
    )
    return Truncated(snapshot_id=before)


def _hold(table: Any, name: str, snapshot: Any) -> None:
    """A tag keeps the snapshot from expiry for a week, so that the step can be undone. Iceberg counts its age
    from the snapshot's time.
    """
    if not table.refs().containsKey(name):
        age = max(0, int(time.time() * 1000) - snapshot.timestampMillis())
        table.manageSnapshots().createTag(name, snapshot.snapshotId()).setMaxRefAgeMs(
            name, age + _HELD_MS
        ).commit()
        table.refresh()


def _finish(work: Finish, shop: OperationContext) -> None:
    """``once`` does a batch in flight again with its old offsets, and nothing after it (measured with Spark
    4.1).
    """
    given = job_spec_from_json(dict(work.spec))
    spec = replace(
        given,
        trigger=Trigger(kind="once"),
        outputs=tuple(output for output in given.outputs if output.checkpoint == work.checkpoint),
    )
    if _committed(work):
        return
    if not (_place(work) / "offsets" / str(work.batch)).is_file():
        raise Refusal(
            "BATCH_NOT_THERE",
            f"{work.checkpoint} has no batch {work.batch}: a query that starts there would read all again.",
        )
    with shop.checkpoints.used_by(spec):
        prove_start(spec, {})
        session = shop.new_session()
        set_conf(session, spec.conf)
        run_stream(session, spec, threading.Event(), lambda: 0.0, lambda _phase, _queries: None, shop.log)
    if not _committed(work):
        raise Refusal(
            "BATCH_NOT_FINISHED",
            f"Batch {work.batch} of {work.checkpoint} was begun again and is not committed.",
        )


def _committed(work: Finish) -> bool:
    return (_place(work) / "commits" / str(work.batch)).is_file()


def _place(work: Finish) -> Place:
    return place_at(work.checkpoint)


def _loaded(session: "SparkSession", target: Target) -> Any:
    table = tables.load(session, target.identifier, target.uuid)
    table.refresh()
    return table
