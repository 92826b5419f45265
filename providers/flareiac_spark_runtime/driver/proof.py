"""Has Spark prove that two definitions of one job are one query: analyses and optimizes both as streaming
queries over sources that hold nothing, and compares the plans. Starts no query and reads no system.

Plans are compared strictly: Spark's own optimizer is the only thing that makes two texts equal. Where it
cannot tell two queries apart that differ in one literal, or a plan holds what is not known here, nothing is
proven.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from flareiac.kernel.data import digest
from flareiac_spark_runtime.control import (
    Input,
    JobSpec,
    Output,
    Pair,
    Proof,
    ProofSource,
    StreamInput,
    TableOutput,
    job_spec_from_json,
)
from flareiac_spark_runtime.driver import micro_batch, plan_text, sinks, temp_views
from flareiac_spark_runtime.driver.column_types import spark_columns
from flareiac_spark_runtime.driver.root_cause import root_cause_of
from flareiac_spark_runtime.driver.spark_session import set_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NewSession = Callable[[], Any]
_LEAF: Final = "flareiac-leaf-"
"""Begins the name of the folder that stands for a source: ``PlanText.java`` looks for it."""
_NULLABLE: Final = "spark.sql.streaming.fileSource.schema.forceNullable"
PARTS: Final = ("sources", "state", "watermarks", "columns", "query")
"""The parts in which two plans may differ: first those that a checkpoint depends on."""
_CONTROL: Final = ("SELECT a, count(*) AS n FROM s WHERE a > {} GROUP BY a", 1, 2)


class _Plans(NamedTuple):
    """One query of a definition, in the parts that are compared."""

    sources: str
    state: str
    watermarks: str
    query: str
    columns: str
    reads_session: str
    """``true`` where it reads the time, the user or the catalog."""
    unknown: str
    """Classes of values that ``PlanText.java`` does not know, with commas between."""


class _Writer(NamedTuple):
    """``PlanText`` in a JVM, and what its method takes. Made once: Py4J asks for each part of a name."""

    java: Any
    modes: Mapping[str, Any]
    stateful: Any


class Prover:
    """Proves pairs in one application. ``scratch``: a folder of its own, in which sources that hold nothing
    get folders.
    """

    def __init__(self, new_session: NewSession, scratch: Path) -> None:
        self._new_session, self._scratch = new_session, scratch
        self._writer: _Writer | None = None
        self._unfit: str | None = None
        self._first = threading.Lock()

    def prove(self, pair: Pair) -> Proof:
        """Compares Spark's plans of both definitions. Never raises what Spark raises: what it does not
        analyze is not proven. Raises ``ControlError`` where a spec is not understood.
        """
        before, after = (job_spec_from_json(dict(side)) for side in (pair.before, pair.after))
        session = self._new_session()
        version = str(session.version)
        reason = self._reason_against(session) or _python(before, after)
        if reason:
            return Proof(verdict="unproven", reason=reason, spark=version)
        try:
            old = self._plans(before, pair.sources_before)
        except Exception as failure:  # noqa: BLE001 - whatever Spark says of the old text leaves it unproven
            return _unproven(f"Spark does not analyze the recorded text: {_said(failure)}", version)
        try:
            new = self._plans(after, pair.sources_after)
            verdict = _compared(old, new)
            if verdict.verdict == "different" and self._plans(after, pair.sources_after) != new:
                return _unproven(
                    "two analyses of the new text differ, as those of random numbers do", version
                )
        except Exception as failure:  # noqa: BLE001 - see above; errors of the new text are the analysis' to say
            return _unproven(f"Spark does not analyze the new text: {_said(failure)}", version)
        return Proof(verdict=verdict.verdict, parts=verdict.parts, reason=verdict.reason, spark=version)

    def _reason_against(self, session: "SparkSession") -> str:
        """Says why nothing can be proven in this application; empty where the control pair differs."""
        with self._first:
            if self._unfit is None:
                try:
                    self._writer = _Writer(
                        java=plan_text.compiled(session),
                        modes=plan_text.output_modes(session),
                        stateful=plan_text.stateful_names(session),
                    )
                    self._unfit = self._controlled(session)
                except Exception as failure:  # noqa: BLE001 - another Spark than the one that is known
                    self._unfit = f"the internals of Spark are not as expected: {_said(failure)}"
            return self._unfit

    def _controlled(self, session: "SparkSession") -> str:
        """Two queries that differ in one literal must differ, and one text must be equal to itself."""
        frame = session.readStream.format("json").schema("a BIGINT").load(self._folder("control"))
        temp_views.define(frame, "s")
        text, one, other = _CONTROL
        planses = [
            self._of_query(session.sql(text.format(number)), "complete") for number in (one, one, other)
        ]
        apart = planses[0].query != planses[2].query and planses[0].state != planses[2].state
        if planses[0] == planses[1] and apart and not planses[0].unknown:
            return ""
        return "Spark's plans do not tell two queries apart that differ in one literal"

    def _plans(self, spec: JobSpec, sources: Mapping[str, ProofSource]) -> dict[str, _Plans]:
        """The plans of each query of a definition, and of what each output is given, by their names."""
        session = self._new_session()
        set_conf(session, spec.conf)
        session.conf.set(_NULLABLE, "false")
        temp_views.define_all(
            session, spec, lambda _session, job_input: self._leaf(session, job_input, sources[job_input.name])
        )
        fed = [output for output in spec.outputs if not output.tombstones_of and not _is_bad(output)]
        planses: dict[str, _Plans] = {}
        for output in fed:
            frame = temp_views.view(session, output.source)
            shaped = micro_batch.shaped(session, frame, output, spec)
            mode = sinks.output_mode(session, [output], [shaped]) if spec.mode == "stream" else "append"
            planses[output.name] = self._of_query(shaped, mode)
        if spec.foreach_batch and spec.mode == "stream" and len(fed) > 1:
            flow = micro_batch.flow_of(session, spec, fed)
            planses[""] = self._of_query(flow.frame, flow.mode)
        return planses

    def _of_query(self, frame: Any, mode: str) -> _Plans:
        assert self._writer is not None, "the control pair comes first"
        parts = self._writer.java.parts(frame._jdf, self._writer.modes[mode], self._writer.stateful)
        return _Plans(*map(str, parts))

    def _leaf(self, session: "SparkSession", job_input: Input, source: ProofSource) -> Any:
        """A source that Spark knows nothing of but its columns: no constants, which it would compute with."""
        folder = self._folder(digest([job_input.kind, source.identity])[:24])
        columns = source.columns
        if isinstance(job_input, StreamInput):
            from pyspark.sql.types import StructField, StructType

            declared: Any = StructType.fromDDL(spark_columns(columns))
            never_null = (
                {column.name for column in columns if column.required} if job_input.source.table else set()
            )
            fields = [
                StructField(field.name, field.dataType, field.name not in never_null)
                for field in declared.fields
            ]
            return session.readStream.format("json").schema(StructType(fields)).load(folder)
        return session.read.schema(spark_columns(columns)).json(folder)

    def _folder(self, name: str) -> str:
        folder = self._scratch / f"{_LEAF}{name}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder.as_uri()


class _Verdict(NamedTuple):
    verdict: Any
    parts: tuple[str, ...] = ()
    reason: str = ""


def _compared(old: Mapping[str, _Plans], new: Mapping[str, _Plans]) -> _Verdict:
    """The verdict on all queries that both definitions have: the gravest one of them."""
    both = [(old[name], new[name]) for name in old if name in new]
    if not both:
        return _Verdict("different", ("outputs",))
    unknown = sorted({each for pair in both for side in pair for each in side.unknown.split(", ") if each})
    if unknown:
        return _Verdict("unproven", (), f"Spark's plan holds what is not known here: {', '.join(unknown)}")
    if any(side.reads_session == "true" for pair in both for side in pair):
        return _Verdict("unproven", (), "the query reads the time, the user or the catalog of its session")
    parts = tuple(
        name for name in PARTS if any(getattr(before, name) != getattr(after, name) for before, after in both)
    )
    if not parts:
        return _Verdict("equal")
    # Where nothing is kept, a watermark drops no row.
    stateful = any(side.state for pair in both for side in pair)
    kept = not {"sources", "state", *(["watermarks"] if stateful else [])} & set(parts)
    return _Verdict("state" if kept else "different", parts)


def _python(before: JobSpec, after: JobSpec) -> str:
    """Says why code cannot be compared; empty where there is none."""
    if any(step.python is not None for side in (before, after) for step in side.steps):
        return "Spark does not see into steps in Python"
    return ""


def _is_bad(output: Output) -> bool:
    return isinstance(output, TableOutput) and output.bad_records


def _unproven(reason: str, version: str) -> Proof:
    return Proof(verdict="unproven", reason=reason, spark=version)


def _said(failure: Exception) -> str:
    cause = root_cause_of(failure)
    return f"{cause.error_class}: {cause.message}".strip(": ").splitlines()[0][:300]
