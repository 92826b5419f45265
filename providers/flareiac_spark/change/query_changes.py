"""The effect of changed steps on the queries that they feed: compares meaning, and judges by the state that
each query's checkpoint holds. Pure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.paths import Path
from flareiac.kernel.records import encode
from flareiac_spark.change.changes import (
    OLD_SQL,
    JobChange,
    MetadataOnly,
    NewGeneration,
    Restart,
    ResultsChange,
    TakenAsSame,
    gravity,
)
from flareiac_spark.change.query_text import reworded, same_sql
from flareiac_spark.change.spark_compatibility import ABOVE_STATE, Rule, Verdict, rule
from flareiac_spark.definition.input_definition import Input, StreamInput
from flareiac_spark.definition.input_identity import input_identities
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput, Output, TableOutput
from flareiac_spark.definition.queries import declares_state
from flareiac_spark.definition.step_definition import Dedup, Step
from flareiac_spark.observation.job import JobFacts, OutputFacts
from flareiac_spark.sql.change_kinds import ChangeKind, Difference
from flareiac_spark.sql.compare import Meaning, compare_queries, keeps_state
from flareiac_spark.sql.query import Query
from flareiac_spark.sql.raw_parse import words

_ON_STATE: Final[Mapping[ChangeKind, tuple[str, str]]] = {
    ChangeKind.PROJECTION: ("change.above-aggregate",) * 2,
    ChangeKind.FILTER: ("change.filter-after-state",) * 2,
    ChangeKind.ORDER: ("change.above-aggregate",) * 2,
    ChangeKind.FILTER_BEFORE_STATE: ("change.filter-before-state",) * 2,
    ChangeKind.INPUT_OF_STATE: ("change.input-of-state",) * 2,
    ChangeKind.GROUPING_KEYS: ("change.grouping-key-expression", "change.grouping-key-added"),
    ChangeKind.AGGREGATE_ADDED: ("change.aggregate-added",) * 2,
    ChangeKind.AGGREGATE_REMOVED: ("change.aggregate-removed",) * 2,
    ChangeKind.AGGREGATE_CHANGED: ("change.sum-to-max", "change.aggregate-type"),
    ChangeKind.AGGREGATE_ARGUMENT: ("change.aggregate-argument", "change.aggregate-type"),
    ChangeKind.AGGREGATE_ORDER: ("change.aggregate-order", "change.aggregate-order-types"),
    ChangeKind.WINDOW: ("change.window-size", "change.window-to-sliding"),
    ChangeKind.JOIN_KEYS: ("change.join-key-equal-columns", "change.join-key-type"),
    ChangeKind.JOIN_CONDITION: ("change.join-time-bound",) * 2,
    ChangeKind.JOIN_COLUMNS: ("change.join-output-columns",) * 2,
    ChangeKind.DEDUP: ("change.dedup-column-of-equal-type", "change.dedup-columns"),
    ChangeKind.LIMIT: ("change.limit", "change.limit-removed"),
    ChangeKind.STATE_ADDED: ("change.state-other-operator",) * 2,
    ChangeKind.STATE_REMOVED: ("change.state-removed",) * 2,
}
"""The rule for each part where the state's types and shape stay the same, and where they do not."""
_FINER: Final[Mapping[tuple[ChangeKind, str], tuple[str, str]]] = {
    (ChangeKind.GROUPING_KEYS, "only their order"): (
        "change.grouping-key-order",
        "change.grouping-key-added",
    ),
    (ChangeKind.JOIN_COLUMNS, "only their order"): (
        "change.join-key-equal-columns",
        "change.join-output-columns",
    ),
}
"""The same for details of a part that Spark treats in their own way."""
_JOINS: Final[Mapping[tuple[str, str], str]] = {
    ("left", "inner"): "change.left-to-inner-join",
    ("full", "inner"): "change.full-to-inner-join",
    ("inner", "left semi"): "change.inner-to-semi-join",
    ("left semi", "inner"): "change.semi-to-inner-join",
    ("left", "left semi"): "change.left-to-semi-join",
    ("inner", "left"): "change.inner-to-left-join",
    ("inner", "right"): "change.inner-to-right-join",
    ("left", "full"): "change.left-to-full-join",
    ("left", "right"): "change.left-to-right-join",
}
"""The rule for a kind of join in place of another."""
_KEEPS: Final[Mapping[str, str]] = {
    "append": "What was appended so far keeps the old meaning",
    "merge": "A merge writes only rows that a batch touches: all others keep the old meaning until then, "
    "and those that the new definition "
    "leaves out stay",
    "overwrite_partitions": "Partitions that a batch does not touch keep the old meaning",
}
"""The rows that keep the old meaning, by the mode of an output."""
_CUT_OFF: Final = (
    "Rows that the old limit left out were read and do not come again, and rows beyond a lower limit stay "
    "in the table. Whether the old limit was reached cannot be determined here"
)
REPLACES: Final = ("complete", "overwrite")
"""Modes in which each batch replaces all rows."""
_WITHOUT_STATE: Final = {
    ChangeKind.PROJECTION: "change.projection",
    ChangeKind.FILTER: "change.filter",
    ChangeKind.LIMIT: "change.limit",
}
_UNDECLARED: Final = "undeclared columns of files"
"""Stands for the columns that the names of folders may add to files; the name is one that no SQL writes."""
_HINTED: Final = "a hint decides how Spark joins, and not which rows come out"
_WORDS: Final[Mapping[ChangeKind, str]] = {
    ChangeKind.SOURCES: "what it reads",
    ChangeKind.PROJECTION: "the columns",
    ChangeKind.FILTER: "a filter",
    ChangeKind.FILTER_BEFORE_STATE: "a filter before the state",
    ChangeKind.GROUPING_KEYS: "the grouping keys",
    ChangeKind.AGGREGATE_ADDED: "an aggregate more",
    ChangeKind.AGGREGATE_REMOVED: "an aggregate less",
    ChangeKind.AGGREGATE_CHANGED: "an aggregate",
    ChangeKind.AGGREGATE_ARGUMENT: "what is aggregated",
    ChangeKind.AGGREGATE_ORDER: "the order of the aggregates",
    ChangeKind.WINDOW: "the window",
    ChangeKind.JOIN_TYPE: "the kind of join",
    ChangeKind.JOIN_KEYS: "the join's keys",
    ChangeKind.JOIN_CONDITION: "the join's condition",
    ChangeKind.JOIN_COLUMNS: "the columns that the join keeps",
    ChangeKind.DEDUP: "what tells rows apart",
    ChangeKind.LIMIT: "the limit",
    ChangeKind.ORDER: "the order of rows",
    ChangeKind.STATE_ADDED: "state that was not kept before",
    ChangeKind.STATE_REMOVED: "state that is kept no more",
    ChangeKind.INPUT_OF_STATE: "an expression before the state",
    ChangeKind.HINT: "a hint",
    ChangeKind.UNKNOWN: "the query",
}


def query_changes(old: JobDefinition, new: JobDefinition, facts: JobFacts) -> tuple[JobChange, ...]:
    """Every difference of the steps, once for all outputs that they feed."""
    job_changes: dict[tuple[Path, str], JobChange] = {}
    comparison = _Steps(old, new, facts)
    for change in comparison.all():
        key = (change.path, change.text)
        # One step may feed outputs to which the same change means different things: the gravest is reported.
        if key not in job_changes or gravity(change) > gravity(job_changes[key]):
            job_changes[key] = change
    return tuple(job_changes.values())


def holds_state(job: JobDefinition, on: OutputFacts | None) -> bool:
    """Returns True if the checkpoint of a query holds state that a committed batch left: by what is on disk,
    or else by what is declared.
    """
    return on is not None and on.committed is not None and (bool(on.operators) or declares_state(job))


def has_shape(job: JobDefinition, on: OutputFacts | None) -> bool:
    """Returns True if the first attempt of a batch has pinned the shape of the state, though none may be
    committed.
    """
    return on is not None and (bool(on.operators) or (on.started is not None and declares_state(job)))


def surely_keeps_state(job: JobDefinition, output: str) -> bool:
    """Returns True where the SQL of an output shows that its query holds state, False where it is unclear."""
    return not job.python_steps and keeps_state(query_of(job, output, {})) is True


class _Steps:
    def __init__(self, old: JobDefinition, new: JobDefinition, facts: JobFacts) -> None:
        self._old, self._new, self._facts = old, new, facts
        self._reported: set[str] = set()
        self._identities = input_identities(old, new)

    def all(self) -> Iterator[JobChange]:
        if self._old.python_steps or self._new.python_steps:
            yield from self._with_python()
        elif not self._alike():
            for output in (output for output in self._new.declared_outputs if output in self._old.outputs):
                yield from self._output(output)
            yield from self._late_rows()
        yield from self._unmeant()

    def _alike(self) -> bool:
        """Texts over other columns are compared: one that came or went may be what a name in them means."""
        before, after = (
            (_texts(side), side.step_order, _reads(side), _columns(side)) for side in (self._old, self._new)
        )
        return before == after

    def _late_rows(self) -> Iterator[JobChange]:
        """The changes of the time for which a deduplication remembers keys, for ever or up to the watermark:
        the columns do not show it.
        """
        marks = [
            [(name, step.dedup.within_watermark) for name, step in side.ordered_steps.items() if step.dedup]
            for side in (self._old, self._new)
        ]
        if len(marks[0]) != len(marks[1]):
            return  # one more or less is state added or removed
        state = any(holds_state(self._old, on) for on in self._facts.checkpoints.values())
        for (_, before), (name, after) in zip(*marks, strict=True):
            path, text = ("steps", name, "dedup"), f"how long step {name} remembers what it has seen"
            if before != after and state:
                why, undo = (
                    f"{rule('change.state-other-operator')}.",
                    f"write within_watermark = {str(before).lower()} again",
                )
                known = ("change.state-other-operator",)
                yield NewGeneration(path=path, text=text, why=why, undo=undo, rules=known)
            elif before != after:
                yield Restart(
                    path=path, text=text, why="the checkpoint holds no state that it could contradict"
                )

    def _output(self, output: str) -> Iterator[JobChange]:
        meaning = compare_queries(
            query_of(self._old, output, self._identities[0]), query_of(self._new, output, self._identities[1])
        )
        yield from self._judged(output, meaning)

    def _judged(self, output: str, meaning: Meaning) -> Iterator[JobChange]:
        on = self._facts.checkpoints.get(self._new.query_of(output))
        judged = [(difference, self._one(difference, meaning, on)) for difference in meaning.differences]
        refused = any(isinstance(change, NewGeneration) for _, change in judged)
        for difference, change in judged:
            self._reported.add(difference.step)
            # Beside what is refused it is of no matter: either the state goes, or all is undone.
            above = (
                self._above_state(difference, output) if holds_state(self._old, on) and not refused else None
            )
            yield above or change

    def _one(self, difference: Difference, meaning: Meaning, on: OutputFacts | None) -> JobChange:
        if holds_state(self._old, on):
            return self._on_state(difference)
        if has_shape(self._old, on):
            return self._on_shape(difference)
        if on is not None and on.started is not None and self._brings_state(difference, meaning):
            return self._refused(difference, rule("change.state-added"))
        return self._restarted(difference)

    def _brings_state(self, difference: Difference, meaning: Meaning) -> bool:
        """A query without state that gets some; where that cannot be determined it counts."""
        return difference.part is ChangeKind.STATE_ADDED or (
            difference.part is ChangeKind.UNKNOWN and meaning.stateful_after is not False
        )

    def _above_state(self, difference: Difference, output: str) -> JobChange | None:
        """The change of results above the state, None where there is none: rows made of the state are right
        from the next batch on, those that an output keeps of earlier batches are not.
        """
        mode, fact = self._new.outputs[output].mode, _ON_STATE.get(difference.part, ("",))[0]
        if fact not in ABOVE_STATE or mode in REPLACES:
            return None
        cut_off = difference.part is ChangeKind.LIMIT and difference.same_type is not None
        kept = _CUT_OFF if cut_off else _KEEPS.get(mode, "Rows that are in the table keep the old meaning")
        why = f"{rule(fact)}. {kept}"
        return self._mixed(difference, why, known=not cut_off, above_state=True, rules=(fact,))

    def _on_shape(self, difference: Difference) -> JobChange:
        """A first batch was begun and none is committed: it is done again under the new definition, if the
        state's shape admits it.
        """
        change = self._on_state(difference)
        match change:
            case ResultsChange(known=True):
                return self._restarted(
                    difference,
                    "the first batch was begun and not committed: it is done again, from empty state",
                )
            case _:
                return change

    def _on_state(self, difference: Difference) -> JobChange:
        match difference.part:
            case ChangeKind.UNKNOWN:
                why = (
                    "The two versions cannot be compared here, so what is unknown counts as changed. The "
                    "checkpoint holds state: Spark refuses some changes and silently accepts others, going "
                    "on from the old state"
                )
                return self._mixed(difference, why, known=False)
            case ChangeKind.SOURCES:
                why = (
                    "What the state holds was made with rows of the old one; Spark continues without a "
                    "message"
                )
                return self._mixed(difference, why)
            case ChangeKind.JOIN_TYPE:
                return self._join_type(difference)
            case ChangeKind.HINT:
                return self._restarted(difference, _HINTED)
            case part:
                same, other = (rule(name) for name in _FINER.get((part, difference.detail), _ON_STATE[part]))
                if same == other or difference.same_type is not None:
                    return self._by_rule(difference, other if difference.same_type is False else same)
                why = (
                    f"Whether the state keeps its types cannot be determined here. If it does, {same}. If "
                    f"not, it {other.what}"
                )
                return self._mixed(difference, why, known=False, rules=(same.fact, other.fact))

    def _join_type(self, difference: Difference) -> JobChange:
        kinds = (difference.old.removesuffix(" join"), difference.new.removesuffix(" join"))
        if kinds in _JOINS:
            return self._by_rule(difference, rule(_JOINS[kinds]))
        return self._mixed(
            difference,
            "What Spark does with this kind of join on the state of the old one was not measured",
            known=False,
        )

    def _by_rule(self, difference: Difference, spark_rule: Rule) -> JobChange:
        match spark_rule.verdict:
            case Verdict.REFUSES:
                return self._refused(difference, spark_rule)
            case Verdict.MIXES:
                return self._mixed(difference, str(spark_rule), rules=(spark_rule.fact,))
            case _:
                return self._restarted(difference, str(spark_rule), rules=(spark_rule.fact,))

    def _refused(self, difference: Difference, spark_rule: Rule) -> NewGeneration:
        return NewGeneration(
            path=_path(self._new, difference.step),
            text=_text(difference),
            why=f"{spark_rule}.",
            undo=_undo(difference),
            rules=(spark_rule.fact,),
        )

    def _mixed(
        self,
        difference: Difference,
        why: str,
        *,
        known: bool = True,
        above_state: bool = False,
        rules: tuple[str, ...] = (),
    ) -> ResultsChange:
        return ResultsChange(
            path=_path(self._new, difference.step),
            text=_text(difference),
            why=f"{why}.",
            undo=_undo(difference),
            before=_side(self._old, difference.old, difference.part),
            after=_side(self._new, difference.new, difference.part),
            known=known,
            above_state=above_state,
            rules=rules,
        )

    def _restarted(self, difference: Difference, why: str = "", *, rules: tuple[str, ...] = ()) -> Restart:
        if not why:
            part = difference.part
            known = _WITHOUT_STATE.get(part)
            rules = (known,) if known else ()
            why = (
                str(rule(known))
                if known
                else _HINTED
                if part is ChangeKind.HINT
                else "the checkpoint holds no state that it could contradict"
            )
        return Restart(
            path=_path(self._new, difference.step),
            text=_text(difference),
            why=why,
            column=difference.column,
            rules=rules,
        )

    def _with_python(self) -> Iterator[JobChange]:
        """Steps one by one: what a Python step does with what it reads cannot be looked through."""
        on = [self._facts.checkpoints.get(self._new.query_of(output)) for output in self._new.outputs]
        state = any(holds_state(self._old, checkpoint) for checkpoint in on)
        if self._old.step_order != self._new.step_order:
            yield self._python(
                ("step_order",), "the steps", list(self._old.step_order), list(self._new.step_order), state
            )
        for name in (name for name in self._new.step_order if name in self._old.steps):
            before, after = self._old.steps[name], self._new.steps[name]
            if _python_of(self._old, before) != _python_of(self._new, after):
                yield from self._python_step(name, before, after, state)
            elif before.dedup != after.dedup:
                yield self._python(
                    ("steps", name, "dedup"),
                    f"what tells rows of step {name} apart",
                    encode(before.dedup),
                    encode(after.dedup),
                    state,
                )
            elif before.sql != after.sql:
                meaning = compare_queries(_alone(self._old, name), _alone(self._new, name))
                if not meaning.same:
                    self._reported.add(name)
                    what = "; ".join(dict.fromkeys(_text(difference) for difference in meaning.differences))
                    yield self._python(("steps", name, "sql"), what, before.sql, after.sql, state)

        if state and _columns(self._old) != _columns(self._new):
            yield from self._captured()
        for name in (name for name in self._new.declared_outputs if name in self._old.outputs):
            was, now = (side.outputs[name].source for side in (self._old, self._new))
            if was != now:
                yield self._python(
                    ("outputs", name, "from"), f"what output {name} takes its rows from", was, now, state
                )

    def _captured(self) -> Iterator[JobChange]:
        """Steps whose text stays, and whose names may mean other columns now: those of inputs are known,
        those of Python steps are not.
        """
        for name in (name for name in self._new.queries if name not in self._reported):
            meaning = compare_queries(_over(self._new, name, self._old), _over(self._new, name, self._new))
            if not meaning.same:
                self._reported.add(name)
                what = f"what step {name} reads: a column that came or went may be what a name in it means"
                yield self._python(
                    ("steps", name, "sql"), what, _columns(self._old), _columns(self._new), state=True
                )

    def _python_step(self, name: str, before: Step, after: Step, state: bool) -> Iterator[JobChange]:
        self._reported.add(name)
        if before.stateful != after.stateful and any(self._facts.checkpoints):
            why = "stateful says that the state has another shape now, and the checkpoint holds the old one."
            yield NewGeneration(
                path=("steps", name, "stateful"),
                text=f"the state of step {name}",
                why=why,
                undo="write the old stateful again",
            )
        else:
            what = f"the Python code of step {name}" if before.python and after.python else f"step {name}"
            sides = (_python_of(self._old, before), _python_of(self._new, after))
            yield self._python(("steps", name, "python"), what, *sides, state or after.stateful is not None)

    def _python(self, path: Path, what: str, before: object, after: object, state: bool) -> JobChange:
        if not state:
            return Restart(path=path, text=what, why="the checkpoint holds no state that it could contradict")
        why = (
            "The checkpoint holds state. What this change means for it cannot be determined from outside: "
            "Spark goes on from the old state."
        )
        return ResultsChange(
            path=path, text=what, why=why, undo="undo it", before=before, after=after, known=False
        )

    def _unmeant(self) -> Iterator[JobChange]:
        """Another text that is taken to mean the same, and other layout of one text."""
        taken = [change for change in reworded(self._old, self._new) if change.path[1] not in self._reported]
        yield from taken
        for name in self._new.steps:
            old, new = self._old.steps.get(name), self._new.steps[name]
            if old is not None and old.sql != new.sql and same_sql(old.sql, new.sql):
                yield MetadataOnly(path=("steps", name, "sql"), text=f"step {name} has another layout")
        both = self._old.outputs.keys() & self._new.outputs.keys()
        divided = _divided(self._old, both) != _divided(self._new, both)
        if divided and not taken and not self._reported:
            yield TakenAsSame(path=("steps",), text="the division into steps")


def _divided(job: JobDefinition, outputs: Collection[str]) -> object:
    return job.step_order, {name: job.outputs[name].source for name in outputs}


def _texts(job: JobDefinition) -> dict[str, tuple[str, Dedup | None, str | None]]:
    return {name: (step.sql, step.dedup, step.python) for name, step in job.steps.items()}


def _columns(job: JobDefinition) -> dict[str, list[str]]:
    return {name: list(job_input.columns) for name, job_input in job.inputs.items()}


def _reads(job: JobDefinition) -> dict[str, str]:
    return {name: output.source for name, output in job.declared_outputs.items()}


def query_of(job: JobDefinition, output: str, identities: Mapping[str, str]) -> Query:
    """The query that feeds an output. ``identities`` as in ``Query``."""
    written = job.outputs[output]
    return Query(
        steps=job.queries,
        source=written.source,
        streams=list(job.streams),
        columns={name: _starred(job_input) for name, job_input in job.inputs.items()},
        dedups={name: step.dedup.keys for name, step in job.steps.items() if step.dedup},
        identities=identities,
        table_columns=_selected(job, written),
        exact_names=isinstance(written, KafkaOutput),
        watermarked=_watermarked(job),
    )


def _watermarked(job: JobDefinition) -> list[str]:
    return [name for name, step in job.steps.items() if step.watermark is not None]


def _starred(job_input: Input) -> Mapping[str, str]:
    """The columns that a star over an input stands for. Where files may bring others than those that are
    declared, one more stands for them: a star is then no list of declared columns, and still changes with it.
    """
    others = (
        isinstance(job_input, StreamInput)
        and not job_input.bad_records
        and job_input.source.may_have_other_columns
    )
    return {**job_input.columns, _UNDECLARED: "unknown"} if others else job_input.columns


def _selected(job: JobDefinition, output: Output) -> Sequence[str]:
    """The columns of a table as the query selects them; none where it runs with its own columns, in their
    order: a micro-batch is given its shape afterwards, and a record has the fields that the step gives.
    """
    if job.foreach_batch or not isinstance(output, TableOutput):
        return ()
    return sorted(output.columns, key=str.lower)


def _alone(job: JobDefinition, step: str) -> Query:
    """One step, with everything else as an unknown stream."""
    others = [*job.inputs, *(name for name in job.steps if name != step)]
    return Query(steps={step: job.steps[step].sql}, source=step, streams=others, exact_names=True)


def _over(job: JobDefinition, step: str, inputs: JobDefinition) -> Query:
    """The SQL up to one step over the columns of another definition's inputs."""
    return Query(
        steps=job.queries,
        source=step,
        streams=list(job.streams),
        columns={name: job_input.columns for name, job_input in inputs.inputs.items()},
        exact_names=True,
        moved=job.python_steps,
        watermarked=_watermarked(job),
    )


def _python_of(job: JobDefinition, step: Step) -> Attributes:
    """The Python that a step runs, as plain data."""
    return {
        "python": step.python,
        "params": step.params,
        "stateful": encode(step.stateful),
        "code": encode(job.code) if step.python else None,
    }


def _path(job: JobDefinition, step: str) -> Path:
    return ("steps", step, "sql") if step in job.steps else ("steps",)


def _text(difference: Difference) -> str:
    what = difference.detail or _WORDS[difference.part]
    return (
        f"{what} of step {difference.step}"
        if not difference.detail
        else f"{_WORDS[difference.part]} of step {difference.step} ({what})"
    )


def _undo(difference: Difference) -> str:
    # Aggregates are listed in the order in which Spark keeps them, which need not be the written one.
    quotable = difference.part not in (ChangeKind.UNKNOWN, ChangeKind.AGGREGATE_ORDER)
    return f"write {difference.old} again" if difference.old and quotable else OLD_SQL


def _side(job: JobDefinition, text: str, part: ChangeKind) -> object:
    """One side of a change as the token of an acceptance covers it. Where nothing could be compared, or the
    shown text leaves something out, it is the whole text.
    """
    if part is ChangeKind.UNKNOWN:
        return job.queries
    if len(job.inputs) < 2 and not any(sign in text for sign in ("…", "query(")):
        return [part, text]
    return [part, text, {name: words(sql) or sql for name, sql in job.queries.items()}]
