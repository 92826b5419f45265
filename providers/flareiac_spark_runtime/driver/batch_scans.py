"""Counts how often Spark computed the parts of a batch. Asks Spark's own account of its stages; changes
nothing.

Spark adds up what each scan of a source counts, and the same for judged records and for rows of state. A
batch whose rows are read twice, by a merge or to find the ranges of a sort, is so counted twice. Its stages
tell which of them read a source: those that name the same scan read the same rows.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.driver.jvm import jvm

_BATCH: Final = re.compile(r"batch = (\d+)\)\s*$")
"""The end of the description that Spark gives the jobs of a batch, as an option of Scala."""
_LABEL: Final = re.compile(r'label="([^"]*)"')
_NODE: Final = re.compile(r"^(\w+) \[(\d+)\]")
_FILES: Final = "FileScanRDD"
_READERS: Final = "DataSourceRDD"
_STREAMED: Final = "MicroBatchScan"
"""The operator around the reader of a stream; that of a table is another one."""
_STATE: Final = "StateStore"
_PRODUCT: Final = "CartesianRDD"
"""It reads one side again for each part of the other."""
_WHOLE: Final = "COMPLETE"
_SKIPPED: Final = "SKIPPED"
_PATIENCE_MS: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """``rows`` of the sources of a batch, each counted once for each input; ``scans`` and ``states``: how
    often sources were read, and state was computed. None where that is not known, or not a whole number.
    """

    rows: int | None
    scans: int | None
    states: int | None


UNKNOWN: Final = Computed(rows=None, scans=None, states=None)


def once(counted: int) -> Computed:
    """A batch that was computed once. ``counted``: the rows that Spark reports."""
    return Computed(rows=counted, scans=1, states=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRun:
    """A stage that ran. ``records`` that it read, of tables too; ``whole``: it computed each part once;
    ``scans`` and ``states``: the numbers of the nodes in it that read a source or keep state.
    """

    records: int
    whole: bool
    scans: frozenset[int] = frozenset()
    states: frozenset[int] = frozenset()


def computed(counted: int, stages: Sequence[StageRun]) -> Computed:
    """Judges a batch by its stages. ``counted``: the rows that Spark reports, of all scans."""
    reads = _by_nodes((stage.scans, stage) for stage in stages)
    rows, scans = _read(counted, reads)
    return Computed(
        rows=rows, scans=scans, states=_times(_by_nodes((stage.states, stage) for stage in stages))
    )


_Runs = dict[frozenset[int], list[StageRun]]


def _by_nodes(stages: Iterable[tuple[frozenset[int], StageRun]]) -> _Runs:
    runs = defaultdict[frozenset[int], list[StageRun]](list)
    for nodes, stage in stages:
        if nodes:
            runs[nodes].append(stage)
    return runs


def _read(counted: int, reads: _Runs) -> tuple[int | None, int | None]:
    if not reads:
        return (None, None) if counted else (0, 1)
    if not _are_apart(reads) or not all(any(run.whole for run in runs) for runs in reads.values()):
        return None, None
    total = sum(run.records for runs in reads.values() for run in runs)
    if total == counted:
        rows = sum(max(run.records for run in runs if run.whole) for runs in reads.values())
        even = all(len({run.records for run in runs}) == 1 for runs in reads.values())
        return rows, _times(reads) if even else None
    return None, None


def _times(runs: _Runs) -> int | None:
    numbers = {len(each) for each in runs.values()}
    whole = all(run.whole for each in runs.values() for run in each)
    return numbers.pop() if whole and len(numbers) == 1 and _are_apart(runs) else None


def _are_apart(runs: _Runs) -> bool:
    return sum(map(len, runs)) == len(frozenset[int]().union(*runs))


def nodes_in(graph: str) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the nodes of a stage that read a stream or a file, and of those that keep state.
    ``graph``: the stage as Spark draws it, in the language of Graphviz.
    """
    scans, states, operator = set[int](), set[int](), ""
    for label in _LABEL.findall(graph):
        node = _NODE.match(label)
        if node is None:
            operator = label
            continue
        kind, number = node[1], int(node[2])
        if kind == _FILES or (kind == _READERS and operator.startswith(_STREAMED)):
            scans.add(number)
        elif _STATE in kind:
            states.add(number)
    return frozenset(scans), frozenset(states)


class BatchScans:
    """Follows the jobs of one query from its start. Each answer of Spark is a message to the JVM: of a
    batch of one stage, as most are, only the operators are asked.
    """

    def __init__(self, query: Any) -> None:
        self._query, self._last_job = query, -1

    def of(self, counted: Mapping[int, int]) -> dict[int, Computed]:
        """Says how batches were computed. ``counted``: the rows that Spark reports of each, by its number."""
        from py4j.protocol import Py4JJavaError

        try:
            context = self._query._jsq.sparkSession().sparkContext()
            context.listenerBus().waitUntilEmpty(_PATIENCE_MS)
            jobs = list(self._jobs(context, max(counted)))
            return {batch: _computed(context, rows, jobs, batch) for batch, rows in counted.items()}
        except Py4JJavaError:
            # Spark has not written down yet what it did, or has already thrown it away
            return dict.fromkeys(counted, UNKNOWN)

    def _jobs(self, context: Any, newest: int) -> Iterator[tuple[int, list[int]]]:
        """Batches up to the newest one, and the stages of a job of each."""
        store = context.statusStore()
        numbers, last = context.statusTracker().getJobIdsForGroup(str(self._query.runId)), self._last_job
        for at in range(len(numbers)):  # the newest one comes first
            number = numbers[at]
            if number <= last:
                break
            job = store.job(number)
            batch = _BATCH.search(str(job.description()))
            if batch is not None and int(batch[1]) <= newest:
                self._last_job = max(self._last_job, number)
                stages = job.stageIds()
                yield int(batch[1]), [stages.apply(place) for place in range(stages.size())]


def _computed(context: Any, counted: int, jobs: Sequence[tuple[int, list[int]]], batch: int) -> Computed:
    stages = [stage for number, job_stages in jobs if number == batch for stage in job_stages]
    if len(stages) == 1:
        return UNKNOWN if _PRODUCT in _graph(context, stages[0]) else once(counted)
    return computed(counted, [run for stage in stages if (run := _run(context, stage)) is not None])


def _run(context: Any, stage: int) -> StageRun | None:
    """None for a stage whose result was there already."""
    last = context.statusStore().lastStageAttempt(stage)
    status = str(last.status())
    if status == _SKIPPED:
        return None
    graph = _graph(context, stage)
    scans, states = nodes_in(graph)
    whole = status == _WHOLE and _PRODUCT not in graph
    return StageRun(records=last.inputRecords(), whole=whole, scans=scans, states=states)


def _graph(context: Any, stage: int) -> str:
    """A stage as Spark draws it."""
    draw = jvm().org.apache.spark.ui.scope.RDDOperationGraph
    return str(draw.makeDotFile(context.statusStore().operationGraphForStage(stage)))
