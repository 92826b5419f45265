"""The effect of each changed part of a job on its queries: compares two definitions in the light of what the
checkpoint holds. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from flareiac.kernel.data import Attributes, Data, Reference, canonical
from flareiac.kernel.paths import Path
from flareiac.kernel.records import encode
from flareiac.sdk.declared import declared_fields
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac_spark.change.changes import (
    OLD_SQL,
    JobChange,
    Live,
    MetadataOnly,
    NewGeneration,
    NoEffect,
    Restart,
    ResultsChange,
    TakenAsSame,
)
from flareiac_spark.change.declared_changes import change_by_declaration
from flareiac_spark.change.proofs import judged, known_proof
from flareiac_spark.change.query_changes import holds_state, query_changes
from flareiac_spark.change.query_text import same_texts
from flareiac_spark.change.spark_compatibility import rule
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.input_identity import paired_inputs
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput, Output, TableOutput
from flareiac_spark.definition.stream_positions import read_in_order
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.runtime.versions import DEFAULT
from flareiac_spark.settings import OUTPUT_OPTIONS, SETTINGS, VALUES, harmless
from flareiac_spark.sources.changes import Meaning
from flareiac_spark.sources.file_formats import POSITIONAL, READING
from flareiac_spark.sources.source import Source, source_class
from flareiac_spark.sql.relations import columns_read
from flareiac_spark.stream.stream_definition import Watermark
from flareiac_spark_runtime.sources.bad_records import FAIL, NULL, lets_same_rows_out

_LIVE_APPLICATION: Final[Mapping[str, str]] = {
    each.field: each.name
    for each in declared_fields(EngineDefinition)
    if each.attribute.on_change == OnChange(ChangeClass.LIVE)
}
_SERVERS: Final = "bootstrap.servers"
_RECORD_PARTS: Final[Mapping[tuple[str, ...], str]] = {
    ("key",): "key",
    ("headers", "headers_column"): "headers",
    ("format",): "format",
}
"""The parts of a record's form, by the attributes that define them."""
SPARK: Final = f"Spark {DEFAULT.spark}"


def changes(recorded: JobDefinition, desired: JobDefinition, facts: JobFacts) -> tuple[JobChange, ...]:
    """Every difference with its meaning. ``stopped`` is not among them: it is no part of the definition."""
    return tuple(_Comparison(recorded, desired, facts).all())


def is_fresh(recorded: JobDefinition, desired: JobDefinition) -> bool:
    """Returns True if the same checkpoint goes on in a raised generation: an empty folder, which nothing can
    contradict.
    """
    before, after = recorded.generation, desired.generation
    same_place = recorded.checkpoint_location == desired.checkpoint_location
    return same_place and before is not None and after is not None and bool(after > before)


class _Comparison:
    def __init__(self, old: JobDefinition, new: JobDefinition, facts: JobFacts) -> None:
        self._old, self._new, self._facts = old, new, facts
        self._compared: tuple[JobChange, ...] | None = None
        self._stateful = any(holds_state(old, checkpoint) for checkpoint in facts.checkpoints.values())

    def all(self) -> Iterator[JobChange]:
        yield from self._declared()
        yield from self._application()
        yield from self._checkpoint()
        yield from self._mode()
        yield from self._inputs()
        if not self._reads_others():
            # With other sources no state can be gone on from, so that what else changed in the query needs no
            # word of its own.
            yield from self._query()
            yield from self._watermarks_of_steps()
        yield from self._outputs()
        yield from self._conf()

    def _differs(self, name: str) -> bool:
        return bool(getattr(self._old, name) != getattr(self._new, name))

    def _declared(self) -> Iterator[JobChange]:
        """The changes of attributes that say all of it where they are declared."""
        for each in declared_fields(JobDefinition):
            if self._differs(each.field) and (change := change_by_declaration(each)) is not None:
                yield change

    def _application(self) -> Iterator[JobChange]:
        if not self._differs("engine") and not self._differs("application"):
            return
        before, after = (
            encode(side.application) if side.application is not None else {}
            for side in (self._old, self._new)
        )
        if self._differs("engine") or before.get("runtime_location") != after.get("runtime_location"):
            yield Restart(path=("engine",), text="the engine", why="it moves to another application")
            yield from self._packages()
            yield from self._values_under_the_engine()
            return
        for name in {**before, **after}:
            value = after.get(name)
            if canonical(before.get(name)) == canonical(value):
                continue
            path = ("application", name)
            if name == "conf" and (meant := list(self._values_under_the_engine())):
                yield from meant
            elif name == "packages" and self._stateful:
                yield from self._packages()
            elif name == "catalogs":
                yield Restart(
                    path=path,
                    text="the settings of its catalogs",
                    why="a query keeps the catalogs that it was started with",
                )
            elif name in _LIVE_APPLICATION:
                taken = _LIVE_APPLICATION[name]
                yield Live(path=path, text=f"the application takes {taken} while it runs")
            else:
                why = "only a new JVM takes it: the application restarts with all its jobs"
                yield Restart(path=path, text=f"the engine's {name}", why=why)

    def _packages(self) -> Iterator[JobChange]:
        """They may hold functions that make values."""
        before, after = (
            list(side.application.packages) if side.application else [] for side in (self._old, self._new)
        )
        if self._stateful and before != after:
            path, undo = ("application", "packages"), "write the old packages again"
            yield self._unknown(path, "the engine's packages", before, after, undo)

    def _values_under_the_engine(self) -> Iterator[JobChange]:
        """The changes of settings that a job leaves to its engine."""
        if not self._stateful:
            return
        confs = [side.application.conf if side.application else {} for side in (self._old, self._new)]
        for name in sorted({*confs[0], *confs[1]}):
            before, after = _effective(self._old, name), _effective(self._new, name)
            if (
                before == after
                or self._old.conf.get(name) != self._new.conf.get(name)
                or name in self._facts.pinned
            ):
                continue
            if harmless(name, SETTINGS) is None:
                yield self._value(("application", "conf", name), name, before, after)

    def _value(self, path: Path, name: str, before: Data, after: Data) -> ResultsChange:
        undo = f"remove {name}" if before is None else f'write {name} = "{before}" again'
        if name not in VALUES:
            return self._unknown(path, name, before, after, undo)
        why = "The same SQL gives other values under it; what the state holds was made under the old one."
        return ResultsChange(path=path, text=name, why=why, undo=undo, before=before, after=after)

    def _unknown(self, path: Path, what: str, before: Data, after: Data, undo: str) -> ResultsChange:
        """Over state only what is known to leave every value as it is goes on without an acceptance."""
        why = (
            "It is not among what is known to leave every value as it is, and the state holds what was "
            "made before the change."
        )
        return ResultsChange(
            path=path, text=what, why=why, undo=undo, before=before, after=after, known=False
        )

    def _checkpoint(self) -> Iterator[JobChange]:
        if self._differs("checkpoint_location") and self._facts.started:
            yield NewGeneration(
                path=("checkpoint",),
                text="another checkpoint",
                why=(
                    "The offsets and state are in the old one; in another folder the job would read "
                    "everything again and repeat its rows."
                ),
                undo=f"keep the location {self._old.checkpoint_location}",
                rereadable=False,
            )
        elif self._differs("checkpoint") or self._differs("checkpoint_location"):
            yield Restart(path=("checkpoint",), text="the checkpoint", why="its folder is part of the query")
        if (
            self._differs("generation")
            and self._old.generation is not None
            and self._new.generation is not None
        ):
            begun = self._facts.given_generation == self._new.generation
            what = "was begun by an apply that failed" if begun else "starts in an empty folder"
            why = f"generation {self._new.generation} {what}"
            yield Restart(
                path=("generation",),
                text="the checkpoint's generation",
                why=why,
                warning=(
                    "everything is read again from the start, so that rows which are in append tables "
                    "already are written once more"
                ),
            )

    def _mode(self) -> Iterator[JobChange]:
        if self._differs("mode"):
            if self._facts.started:
                why = "A batch job does not know what the stream has read."
                yield NewGeneration(
                    path=("mode",), text="the mode", why=why, undo="keep the mode", rereadable=False
                )
            else:
                yield Restart(
                    path=("mode",), text="the mode", why="a stream and a batch run are different queries"
                )

    def _inputs(self) -> Iterator[JobChange]:
        old, new = self._old.inputs, self._new.inputs
        sources_before, sources_after = _sources(self._old), _sources(self._new)
        if self._reads_others():
            yield self._other_sources(sources_before, sources_after)
            return
        if self._facts.started:
            yield from self._source_order(several=max(len(sources_before), len(sources_after)) > 1)
        renamed = _renamed(self._old, self._new)
        for name in renamed:
            yield MetadataOnly(path=("inputs", name), text=f"input {renamed[name]} is called {name} now")
            yield from self._input(name, old[renamed[name]], new[name])
        for name in [*old, *(name for name in new if name not in old)]:
            if name in renamed or name in renamed.values():
                continue
            if name not in old or name not in new:
                verb = "added" if name in new else "removed"
                yield Restart(
                    path=("inputs", name),
                    text=f"the input {name}",
                    why=f"an input that is not streamed was {verb}",
                )
            elif old[name] != new[name]:
                yield from self._input(name, old[name], new[name])

    def _reads_others(self) -> bool:
        return self._facts.started and not _goes_on(self._old, self._new)

    def _other_sources(self, before: list[str], after: list[str]) -> JobChange:
        kinds = [
            sorted(stream.source.kind for stream in side.streams.values()) for side in (self._old, self._new)
        ]
        if len(before) != len(after):
            what, source_rule = "the number of streams", rule("source.count")
        elif kinds[0] != kinds[1]:
            what, source_rule = "what a stream reads", rule("source.kind")
        else:
            places = (kind.elsewhere for kind in map(source_class, kinds[0]) if kind and kind.elsewhere)
            what, source_rule = "what a stream reads", rule(next(places, "source.kind"))
        return NewGeneration(
            path=("inputs",),
            text=what,
            why=(
                f"The checkpoint's offsets belong to {_listed(before)}, and the job would read "
                f"{_listed(after)}. {source_rule}."
            ),
            undo=f"read {_listed(before)} again",
            rules=(source_rule.fact,),
        )

    def _source_order(self, *, several: bool) -> Iterator[JobChange]:
        """Offsets are kept by position: the n-th of a checkpoint goes to the n-th stream that a query reads.
        So one stream counts as often as it is read. Where its text is not understood, Spark's plans tell.
        """
        if self._runs_code():
            yield from self._order_in_code() if several else ()
            return
        if self._old.inputs == self._new.inputs and same_texts(self._old, self._new):
            return  # as nearly always: no text is read for it
        proof = known_proof(self._old, self._new, self._facts)
        if proof is not None and proof.verdict in ("equal", "state"):
            return
        queries: set[str] = set()
        for output in (output for output in self._new.outputs if output in self._old.outputs):
            query = self._new.query_of(output)
            before, after = _sources_in_order(self._old, output), _sources_in_order(self._new, output)
            if before is None or after is None:
                same = not several or (self._old.steps, self._old.inputs) == (
                    self._new.steps,
                    self._new.inputs,
                )
            elif several:
                same = _shown(before) == _shown(after)
            else:  # whether its one source goes on in the new one was judged before
                same = len(before) == len(after)
            if not same and query not in queries:
                queries.add(query)
                yield self._other_positions(output, _shown(before or ()), _shown(after or ()))

    def _other_positions(self, output: str, before: list[str], after: list[str]) -> JobChange:
        what = f"which streams output {output} reads, in their order"
        one = len(set(before)) == len(set(after)) == 1
        if one and len(before) != len(after):
            what = f"how often output {output} reads {_listed(list(dict.fromkeys(after)))}"
            why = (
                f"Spark keeps one position each time that a query reads a stream: {len(before)} until now, "
                f"{len(after)} from now on. {rule('source.count')}."
            )
            counted = ("source.count",)
            return NewGeneration(path=("steps",), text=what, why=why, undo=OLD_SQL, rules=counted)
        why = (
            "The checkpoint keeps offsets by the position of a stream in the query. In another "
            f"one {rule('source.order')}."
        )
        undo = "read the same streams in the same order again" + (f": {_listed(before)}" if before else "")
        return NewGeneration(path=("inputs",), text=what, why=why, undo=undo, rules=("source.order",))

    def _order_in_code(self) -> Iterator[JobChange]:
        before, after = (
            [encode(side.steps), list(side.step_order), encode(side.code), sorted(side.inputs)]
            for side in (self._old, self._new)
        )
        if canonical(before) != canonical(after):
            text = "the order in which its steps read its streams"
            why = (
                f"Whether it stays as it is cannot be known from outside. In another one {SPARK} "
                f"{rule('source.order').what}."
            )
            yield ResultsChange(
                path=("inputs",),
                text=text,
                why=why,
                undo="undo it",
                before=before,
                after=after,
                known=False,
                rules=("source.order",),
            )

    def _input(self, name: str, old: Input, new: Input) -> Iterator[JobChange]:
        path, watermarks = ("inputs", name), (_watermark_of(old), _watermark_of(new))
        if watermarks[0] != watermarks[1]:
            yield self._watermark((*path, "watermark"), f"the watermark of {name}", *watermarks)
        bad = [_bad_records_of(job_input) for job_input in (old, new)]
        if bad[0] != bad[1]:
            yield self._bad_records(name, old, new)
        if old.columns != new.columns:
            yield from self._columns(name, old.columns, new.columns, judged=bad)
        if _tells_columns_by_place(new) and _shifted(old.column_order, new.column_order):
            yield self._column_order(name, old.column_order or (), new.column_order or ())
        yield from self._origin(name, old, new)

    def _origin(self, name: str, old: Input, new: Input) -> Iterator[JobChange]:
        """The changes of an input's source, and of how its rows are read."""
        # From the gravest to the least, each only where none before it holds: what mixes values of two
        # meanings, what may do so, what adds rows, what restarts, what only has another name. An addition
        # comes after what is not listed: a pattern that takes more topics may read them in another way,
        # too.
        path = ("inputs", name)
        if self._stateful and _table_of(old) != _table_of(new):
            yield ResultsChange(
                path=(*path, "table"),
                text=f"the table of input {name}",
                why=(
                    "What the state holds was made with rows of the old table; Spark continues without a "
                    "message."
                ),
                undo=f"read {_table_of(old)} again",
                before=_table_of(old),
                after=_table_of(new),
            )
        elif (mixes := self._mixes(old, new)) is not None:
            yield ResultsChange(
                path=(*path, *mixes.part),
                text=mixes.text.format(name),
                why=mixes.why,
                undo=mixes.undo,
                before=_values(old, mixes),
                after=_values(new, mixes),
            )
        elif self._stateful and (names := _unlisted(old, new)):
            before, after = ({key: _place(job_input).get(key) for key in names} for job_input in (old, new))
            yield self._unknown(
                path, f"{_named(names)} of {name}", before, after, f"write the old {_named(names)} again"
            )
        elif (added := _addition(old, new)) is not None:
            fact, more = added
            yield Restart(
                path=path, text=f"what {name} reads", why=f"{rule(fact)}", warning=more, rules=(fact,)
            )
        elif _running(old) != _running(new):
            yield Restart(
                path=path,
                text=f"the input {name}",
                why="reader options and rate limits may change on the same checkpoint",
            )
        elif names := _changed(old, new):
            for part in names:
                text = (
                    f"{part} names the same source"
                    if part in _names(new)
                    else f"{part} {_first_start_again(new)}"
                )
                yield MetadataOnly(path=(*path, "source", part), text=text)
        elif _stream_of(old) != _stream_of(new):
            yield MetadataOnly(path=(*path, "stream"), text="another stream block declares the same source")

    def _mixes(self, old: Input, new: Input) -> Meaning | None:
        """The meaning of an input's values that differs while old values are there, None for none."""
        for meaning in (_meaning(new), _meaning(old)):
            holds = meaning is not None and (self._stateful if meaning.of_state else self._facts.started)
            if meaning is not None and holds and _values(old, meaning) != _values(new, meaning):
                return meaning
        return None

    def _bad_records(self, name: str, old: Input, new: Input) -> JobChange:
        """Good records come out of each action alike, but for those that are judged by other columns now;
        ``null`` gives rows for bad ones too.
        """
        before, after = (_bad_records_of(job_input) or FAIL for job_input in (old, new))
        path, text = ("inputs", name, "bad_records"), f"what becomes of bad records of {name}"
        if lets_same_rows_out(before, after) and set(old.columns) == set(new.columns):
            return Restart(path=path, text=text, why="good records come out as before")
        if not self._stateful:
            warning = "rows that are in the tables stay as the old action left them" if before == NULL else ""
            return Restart(
                path=path,
                text=text,
                why="the checkpoint holds no state that it could contradict",
                warning=warning if self._facts.committed else "",
            )
        why = (
            "The state holds rows with null columns for bad records, or will from now on."
            if NULL in (before, after)
            else "The state holds rows of records that were judged by the columns that the steps read. From "
            "now on all declared columns count, and a record may be left out for another one."
        )
        undo = (
            "remove bad_records from its stream"
            if before == FAIL
            else f'write bad_records = {{ action = "{before}" }} again'
        )
        return ResultsChange(path=path, text=text, why=why, undo=undo, before=before, after=after)

    def _columns(
        self, name: str, old: Mapping[str, str], new: Mapping[str, str], *, judged: Sequence[str]
    ) -> Iterator[JobChange]:
        other = [column for column in old if column in new and old[column] != new[column]]
        gone = [column for column in old if column not in new]
        added = [column for column in new if column not in old]
        by = self._judged_by(name, [*other, *gone, *added])
        changed = [column for column in other if column not in by or self._reads(name, column, [*old, *new])]
        path = ("inputs", name, "columns")
        what = f"{_named(changed or gone or added)} of {name}"
        if self._stateful and changed:
            why = "The state was made of values of the old type; Spark refuses another one, or misreads it."
            yield NewGeneration(path=path, text=f"the type of {what}", why=why, undo="keep the type")
        elif (
            changed
            or self._runs_code()
            or any(not isinstance(change, MetadataOnly | TakenAsSame) for change in self._query())
        ):
            why = (
                "it has Python, which may read any column"
                if self._runs_code()
                else "the columns that the steps read changed"
            )
            yield Restart(path=path, text=what, why=why)
        elif by:
            if judged[0] == judged[1]:  # else the change of the action says it
                yield self._judged_columns(path, f"{_named(by)} of {name}", judged[1] or FAIL)
        elif gone or added:
            yield MetadataOnly(
                path=path,
                text=(
                    f"{what} {'is now' if added else 'is no longer'} among what could be read, and is not "
                    "part of the query"
                ),
            )

    def _reads(self, name: str, column: str, among: Sequence[str]) -> bool:
        """Returns True if a step or the watermark may read a column of an input, before or after."""
        if self._runs_code():
            return True
        for side in (self._old, self._new):
            mark = _watermark_of(side.inputs[name]) if name in side.inputs else None
            read = columns_read(list(side.queries.values()), name, among)
            if column.lower() in read or (mark is not None and mark.column.lower() == column.lower()):
                return True
        return False

    def _judged_by(self, name: str, columns: Sequence[str]) -> list[str]:
        """The columns of an input by which its records are judged, though no step reads them."""
        job_input = self._new.inputs[name]
        if not isinstance(job_input, StreamInput) or not (
            job_input.bad_records or job_input.source.always_judges
        ):
            return []
        return [column for column in columns if column.lower() not in job_input.source.beside]

    def _judged_columns(self, path: tuple[str, ...], what: str, action: str) -> JobChange:
        """Columns by which records are judged. Where a bad one fails the job, none is left out."""
        if not self._stateful or action == FAIL:
            return Restart(path=path, text=what, why="records are judged by all declared columns")
        why = (
            "Records are judged by all declared columns: other ones may be bad from now on than in the state."
        )
        undo = "declare the old columns again"
        return ResultsChange(path=path, text=what, why=why, undo=undo, before=None, after=what)

    def _query(self) -> tuple[JobChange, ...]:
        if self._compared is None:
            compared = query_changes(self._old, self._new, self._facts)
            self._compared = judged(compared, self._old, self._new, self._facts)
        return self._compared

    def _runs_code(self) -> bool:
        return bool(self._old.python_steps or self._new.python_steps)

    def _column_order(self, name: str, before: Sequence[str], after: Sequence[str]) -> JobChange:
        path, text = ("inputs", name, "columns"), f"the order of the columns of {name}"
        why = "Its files tell columns apart by their place: values come under other names from now on"
        if not self._stateful:
            return Restart(path=path, text=text, why=why)
        undo = f"declare them as {', '.join(before)} again"
        return ResultsChange(
            path=path,
            text=text,
            why=f"{why}, and the state holds the old ones.",
            undo=undo,
            before=list(before),
            after=list(after),
        )

    def _watermark(
        self,
        path: tuple[str, ...],
        what: str,
        before: Watermark | Sequence[Watermark] | None,
        after: Watermark | Sequence[Watermark] | None,
    ) -> JobChange:
        if self._stateful:
            why = f"{rule('change.watermark-delay')}."
            return ResultsChange(
                path=path,
                text=what,
                why=why,
                undo="write the old watermark again",
                before=encode(before),
                after=encode(after),
                rules=("change.watermark-delay",),
            )
        return Restart(path=path, text=what, why="the checkpoint holds no state that it could change")

    def _watermarks_of_steps(self) -> Iterator[JobChange]:
        old, new = self._old.steps, self._new.steps
        for name in (name for name in new if name in old):
            before, after = old[name].watermark, new[name].watermark
            if before != after:
                yield self._watermark(
                    ("steps", name, "watermark"), f"the watermark of step {name}", before, after
                )
        gone, came = (
            {
                name: mark
                for name, step in one.ordered_steps.items()
                if name not in other.steps and (mark := step.watermark)
            }
            for one, other in ((self._old, self._new), (self._new, self._old))
        )
        if list(gone.values()) != list(came.values()):
            name = next(iter(came or gone))
            yield self._watermark(
                ("steps", name, "watermark"),
                f"the watermark of step {name}",
                list(gone.values()),
                list(came.values()),
            )

    def _outputs(self) -> Iterator[JobChange]:
        old, new = self._old.outputs, self._new.outputs
        gone, added = [name for name in old if name not in new], [name for name in new if name not in old]
        renamed = [
            (a, b)
            for a in gone
            for b in added
            if _written(old[a]) == _written(new[b]) and not old[a].tombstones_of
        ]
        if renamed and self._facts.started:
            before, after = renamed[0]
            if self._new.foreach_batch:
                why = (
                    "An output's name is part of the marks of its batches: under another one a batch in "
                    "flight would be written again."
                )
            else:
                why = (
                    "An output's name is the folder of its checkpoint: under another one it would read "
                    "all again and repeat its rows."
                )
            yield NewGeneration(
                path=("outputs", after),
                text=f"the name of output {before}",
                why=why,
                undo=f'keep output "{before}"',
                carries=False,
            )
            return
        if self._differs("foreach_batch"):
            yield self._otherqueries()
            return
        for name in gone:
            yield self._removed_output(name, old[name])
        for name in added:
            yield self._added_output(name)
        for name in (name for name in new if name in old):
            yield from self._output(name, old[name], new[name])

    def _otherqueries(self) -> JobChange:
        path, text = ("foreach_batch",), "whether one query feeds all outputs"
        if not self._facts.started:
            return Restart(path=path, text=text, why="no query has read anything yet")
        why = (
            "The offsets of one query for all outputs and of one for each are in different folders: "
            "everything would be read again."
        )
        return NewGeneration(
            path=path,
            text=text,
            why=why,
            undo=f"write foreach_batch = {str(self._old.foreach_batch).lower()} again",
            carries=False,
        )

    def _removed_output(self, name: str, output: Output) -> JobChange:
        text, why = f"the output {name}", "it is no longer written"
        if output.tombstones_of:
            return self._tombstones(name, output.tombstones_of, old=output.place)
        if output.bad_records:
            text, why = f"where bad records of {output.source} go", f"{output.place} gets no more of them"
        return Restart(path=("outputs", name), text=text, why=why)

    def _added_output(self, name: str) -> JobChange:
        path, text = ("outputs", name), f"the output {name}"
        if of := self._new.outputs[name].tombstones_of:
            return self._tombstones(name, of, new=self._new.outputs[name].place)
        if self._new.outputs[name].bad_records:
            return Restart(
                path=path,
                text=f"where bad records of {self._new.outputs[name].source} go",
                why="a query of its own, with a checkpoint of its own, reads the stream from its beginning",
            )
        if not self._new.foreach_batch:
            return Restart(
                path=path, text=text, why="it starts with a checkpoint of its own, from the beginning"
            )
        warning = (
            f"{self._new.outputs[name].place} gets what comes from now on, and nothing of what "
            "was read before"
        )
        return Restart(path=path, text=text, why="it joins the query that feeds all outputs", warning=warning)

    def _tombstones(self, name: str, of: str, *, old: str = "", new: str = "") -> JobChange:
        """The restart for deletes of an output that are kept in another place, ``new`` instead of ``old``
        (empty for nowhere). They come with each batch, and state has no part in them.
        """
        said = []
        if old and of in self._new.outputs:
            said.append(
                f"deletes that {old} keeps no longer count: an older row of such a key that arrives late "
                "brings it back"
            )
        if new and of in self._old.outputs:
            said.append(
                f"{new} gets the deletes from now on: it has no tombstones for keys deleted earlier, so a "
                "late older row restores such a key"
            )
        return Restart(
            path=("outputs", name),
            text=f"the tombstones of output {of}",
            why="each batch keeps its deletes before it is merged"
            if new
            else "each batch is merged without them",
            warning="; ".join(said) if self._facts.committed else "",
        )

    def _kept_deletes(self, name: str, old: TableOutput, new: TableOutput) -> Iterator[JobChange]:
        """The changes of a table of tombstones in place or columns. A part that it shares with the output
        whose deletes it keeps is reported of that one.
        """
        if (old.table, old.branch) != (new.table, new.branch):
            yield self._tombstones(name, new.tombstones_of, old=old.place, new=new.place)
        elif old.columns != new.columns:
            yield Restart(
                path=("outputs", name, "columns"),
                text=f"the columns of the tombstones of output {new.tombstones_of}",
                why="a tombstone takes what its delete gives",
            )

    def _output(self, name: str, old: Output, new: Output) -> Iterator[JobChange]:
        path = ("outputs", name)
        if isinstance(old, TableOutput) and isinstance(new, TableOutput) and new.tombstones_of:
            yield from self._kept_deletes(name, old, new)
            return
        if old.source != new.source:
            # What comes out is compared with the steps; this only shows where the change is.
            yield MetadataOnly(path=(*path, "from"), text=f"output {name} takes its rows from {new.source}")
        match old, new:
            case TableOutput(), TableOutput():
                yield from self._table_output(name, old, new)
            case KafkaOutput(), KafkaOutput():
                yield from self._kafka_output(name, old, new)
            case _:
                yield self._other_kind(name, old, new)

    def _other_kind(self, name: str, old: Output, new: Output) -> JobChange:
        path, text = ("outputs", name), f"what output {name} writes"
        if not self._facts.started:
            return Restart(path=path, text=text, why=f"{new.place} is written from now on")
        return NewGeneration(
            path=path,
            text=text,
            why=(
                f"Its checkpoint tracks what was written to {old.place}; {new.place} contains none of it. "
                "Give the new output a name of its own: it is another output."
            ),
            undo=f"write {old.place} again",
            carries=False,
        )

    def _kafka_output(self, name: str, old: KafkaOutput, new: KafkaOutput) -> Iterator[JobChange]:
        path = ("outputs", name)
        if old.topic != new.topic:
            yield self._elsewhere((*path, "topic"), f"the topic of output {name}", old.topic, new.topic)
        elif old.resource != new.resource:
            text = f"output {name} writes the same topic under another reference"
            yield MetadataOnly(path=(*path, "resource"), text=text)
        yield from self._kafka_client(name, old, new)
        if old.format == new.format == "avro":
            yield from self._written_schema(name, old, new)
        if old.mode != new.mode:
            yield self._output_mode(name, old.mode, new.mode)
        for parts, what in _RECORD_PARTS.items():
            if any(getattr(old, part) != getattr(new, part) for part in parts):
                warning = (
                    f"{new.place} holds records of the old form: its consumers must read both"
                    if self._facts.started
                    else ""
                )
                yield Restart(
                    path=(*path, parts[0]),
                    text=f"the {what} of output {name}",
                    why="each record is made by itself",
                    warning=warning,
                )
        if old.options != new.options:
            text = f"the producer options of output {name}"
            yield Restart(path=(*path, "options"), text=text, why="options are read at the start")

    def _written_schema(self, name: str, old: KafkaOutput, new: KafkaOutput) -> Iterator[JobChange]:
        before, after = self._old.avro.get(name), self._new.avro.get(name)
        declared = ("outputs", name, "schema")
        asks_otherwise = (old.subject, old.schema, old.registry) != (new.subject, new.schema, new.registry)
        if before != after and (after is not None or asks_otherwise):
            same = before is not None and after is not None and before.schema == after.schema
            warning = (
                f"{new.place} holds records of the schema with id {before.id}: its consumers must read both"
                if self._facts.started and before is not None and not same
                else ""
            )
            yield Restart(
                path=declared if old.schema != new.schema else ("avro", name),
                text=f"the id of the Avro schema of output {name}"
                if same
                else f"the Avro schema of output {name}",
                why="each record names the schema that it is written with",
                warning=warning,
            )
        elif old.schema != new.schema:
            yield MetadataOnly(
                path=declared, text=f"output {name} writes the same Avro schema, declared otherwise"
            )
        if old.subject != new.subject:
            yield Restart(
                path=("outputs", name, "subject"),
                text=f"the subject of output {name}",
                why=(
                    f"records name their schema by its id; readers of the subject {old.subject} learn of no "
                    "later version"
                ),
            )

    def _kafka_client(self, name: str, old: KafkaOutput, new: KafkaOutput) -> Iterator[JobChange]:
        path = ("outputs", name, "connection")
        servers = [side.client.get(_SERVERS) for side in (old, new)]
        if servers[0] != servers[1]:
            warning = (
                f"if these servers are another cluster, the records written so far stay in {servers[0]}"
                if self._facts.started
                else ""
            )
            text = f"the servers of output {name}"
            yield Restart(
                path=path, text=text, why="a producer connects to them at the start", warning=warning
            )
        elif old.client != new.client:
            text = f"the client settings of output {name}"
            yield Restart(path=path, text=text, why="a producer takes its settings at the start")
        elif old.connection != new.connection:
            yield MetadataOnly(path=path, text=f"output {name} names an equal connection")

    def _table_output(self, name: str, old: TableOutput, new: TableOutput) -> Iterator[JobChange]:
        path = ("outputs", name)
        yield from self._target(name, old, new)
        if old.mode != new.mode:
            yield self._output_mode(name, old.mode, new.mode)
        if old.merge != new.merge:
            warning = (
                "rows that are there were merged by the old rule, and stay as they are"
                if self._facts.committed
                else ""
            )
            yield Restart(
                path=(*path, "merge"),
                text=f"how output {name} merges",
                why="each batch is merged by itself",
                warning=warning,
            )
        yield from self._options(name, old.options, new.options)
        if old.columns != new.columns:
            yield Restart(
                path=(*path, "columns"),
                text=f"the columns of output {name}",
                why="the query casts its rows to the table's columns",
            )
        if old.rebuild != new.rebuild:
            which = "this" if is_fresh(self._old, self._new) else "the next"
            yield MetadataOnly(path=(*path, "rebuild"), text=f"rebuild takes effect with {which} generation")

    def _options(self, name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[JobChange]:
        changed = [option for option in sorted({*old, *new}) if old.get(option) != new.get(option)]
        path, text = ("outputs", name, "options"), f"the options of output {name}"
        state = holds_state(self._old, self._facts.checkpoints.get(self._new.query_of(name)))
        if state and any(harmless(option, OUTPUT_OPTIONS) is None for option in changed):
            yield self._unknown(path, text, dict(old), dict(new), "write the old options again")
        elif changed:
            yield Restart(path=path, text=text, why="options are read at the start")

    def _target(self, name: str, old: TableOutput, new: TableOutput) -> Iterator[JobChange]:
        """Another table or branch: what was written stays behind, unless each batch writes all there is."""
        for part in ("table", "branch"):
            was, now = getattr(old, part), getattr(new, part)
            if was == now:
                continue
            path, text = ("outputs", name, part), f"the {part} of output {name}"
            if new.mode == "complete":
                why = f"{now or 'main'} is written from now on"
                yield Restart(path=path, text=text, why=why)
            else:
                yield self._elsewhere(path, text, was, now)

    def _elsewhere(self, path: Path, text: str, was: Data, now: Data) -> JobChange:
        before, after = was or "main", now or "main"
        if not self._facts.started:
            return Restart(path=path, text=text, why=f"{after} is written from now on")
        return ResultsChange(
            path=path,
            text=text,
            why=(
                f"Spark continues without a message: what was read so far stays in {before}, and {after} "
                "gets what comes from now on."
            ),
            undo=f"write {before} again",
            before=was,
            after=now,
        )

    def _output_mode(self, name: str, before: str, after: str) -> JobChange:
        path, text = ("outputs", name, "mode"), f"the mode of output {name}"
        stateful = holds_state(self._old, self._facts.checkpoints.get(self._new.query_of(name)))
        if stateful and "update" in (before, after):
            return self._unknown(path, text, before, after, f'write mode = "{before}" again')
        if stateful:
            way = "change.complete-to-append" if before == "complete" else "change.append-to-complete"
            return NewGeneration(
                path=path,
                text=text,
                why=f"{rule(way)}.",
                undo=f'write mode = "{before}" again',
                rules=(way,),
            )
        warning = "rows that are there stay as the old mode left them" if self._facts.committed else ""
        return Restart(path=path, text=text, why="the checkpoint holds no state", warning=warning)

    def _conf(self) -> Iterator[JobChange]:
        old, new = self._old.conf, self._new.conf
        for name in sorted({*old, *new}):
            if old.get(name) == new.get(name):
                continue
            pinned = self._facts.pinned.get(name) if self._facts.started else None
            if pinned is not None:
                text = f"{name} has no effect: the checkpoint keeps {pinned} until a new generation"
                yield NoEffect(path=("conf", name), text=text, value=pinned)
                continue
            before, after = _effective(self._old, name), _effective(self._new, name)
            if self._stateful and before != after and harmless(name, SETTINGS) is None:
                yield self._value(("conf", name), name, before, after)
            else:
                yield Restart(path=("conf", name), text=name, why="a session takes its settings at the start")


def _effective(job: JobDefinition, name: str) -> str | None:
    """The value of a setting under which a job's query runs: its own, or else its engine's."""
    return job.conf.get(name, job.application.conf.get(name) if job.application else None)


def _sources_in_order(job: JobDefinition, output: str) -> list[Source] | None:
    """The source of each position of an output's query; None where they cannot be determined."""
    names = read_in_order(job, output)
    return None if names is None else [job.streams[name].source for name in names]


def _shown(sources: Sequence[Source]) -> list[str]:
    """Each source as its kind and place."""
    return [source.shown for source in sources]


def _written(output: Output) -> tuple[str, str]:
    """The kind and the target of an output, whatever it is called in the definition."""
    match output:
        case TableOutput():
            return output.kind, output.table.address
        case KafkaOutput():
            return output.kind, output.topic
        case _:
            assert_never(output)


def _renamed(old: JobDefinition, new: JobDefinition) -> dict[str, str]:
    """Inputs that read what an input of another name read, new name to old."""
    return {name: was for name, was in paired_inputs(old, new).items() if name != was}


def _sources(job: JobDefinition) -> list[str]:
    """Each streamed source as its kind and place, in order."""
    return [stream.source.shown for stream in job.streams.values()]


def _goes_on(old: JobDefinition, new: JobDefinition) -> bool:
    """Returns True if each stream of a job goes on in one of another definition, and there is no other."""
    before = sorted((stream.source for stream in old.streams.values()), key=lambda source: source.shown)
    after = sorted((stream.source for stream in new.streams.values()), key=lambda source: source.shown)
    if len(before) != len(after):
        return False
    for source in before:
        same = [other for other in after if other.shown == source.shown]
        successor = next(iter(same or [other for other in after if source.goes_on_in(other)]), None)
        if successor is None:
            return False
        after.remove(successor)
    return True


def _addition(old: Input, new: Input) -> tuple[str, str] | None:
    """The rule that admits an addition to the source of an input, and the addition itself; None for none."""
    if not isinstance(old, StreamInput) or not isinstance(new, StreamInput):
        return None
    more = new.source.addition(old.source)
    return None if more is None or new.source.widened is None else (new.source.widened, more)


def _listed(sources: list[str]) -> str:
    return " and ".join(sources) or "no stream"


def _shifted(before: Sequence[str] | None, after: Sequence[str] | None) -> bool:
    """Returns True if a column that was there stands at another place now: one that is added at the end moves
    none.
    """
    return before is not None and after is not None and list(after[: len(before)]) != list(before)


def _named(names: list[str]) -> str:
    return ", ".join(names)


def _bad_records_of(job_input: Input) -> str:
    return job_input.bad_records if isinstance(job_input, StreamInput) else ""


def quarantined(job: JobDefinition, name: str) -> str:
    """The place that gets the bad records of an input, by the name of their output."""
    output = job.outputs[name]
    return f"bad records of {job.streams[output.source].stream} go to {output.place}"


def _watermark_of(job_input: Input) -> Watermark | None:
    return job_input.watermark if isinstance(job_input, StreamInput) else None


def _stream_of(job_input: Input) -> Reference | None:
    return job_input.stream if isinstance(job_input, StreamInput) else None


def _table_of(job_input: Input) -> Reference | None:
    """The table whose current rows are read."""
    return job_input.table if isinstance(job_input, TableInput) else None


def _place(job_input: Input) -> Attributes:
    """The place of an input's rows and the way they are read, as plain data: of a stream its source, of files
    that are looked up themselves.
    """
    match job_input:
        case StreamInput(source=source):
            place: Attributes = encode(source)
            return place
        case FilesInput():
            return {"path": job_input.path, "format": job_input.format, "options": job_input.options}
        case TableInput():
            return {}
        case _:
            assert_never(job_input)


def _meaning(job_input: Input) -> Meaning | None:
    """The attributes that decide which values come out of an input, None for a table."""
    match job_input:
        case StreamInput(source=source):
            return source.meaning
        case FilesInput():
            return READING
        case TableInput():
            return None
        case _:
            assert_never(job_input)


def _values(job_input: Input, meaning: Meaning) -> list[Data]:
    """None of an input that has another meaning."""
    return meaning.values(_origin(job_input)) if _meaning(job_input) is meaning else []


def _names(job_input: Input) -> tuple[str, ...]:
    """The attributes of an input that only name it."""
    return job_input.source.names if isinstance(job_input, StreamInput) else ()


def _first_start_again(job_input: Input) -> str:
    """The time at which a change is seen that only a first start looks at."""
    return job_input.source.first_start_again if isinstance(job_input, StreamInput) else ""


def _origin(job_input: Input) -> object:
    return job_input.source if isinstance(job_input, StreamInput) else job_input


def _tells_columns_by_place(job_input: Input) -> bool:
    match job_input:
        case StreamInput(source=source):
            return source.tells_columns_by_place
        case FilesInput():
            return job_input.format in POSITIONAL
        case TableInput():
            return False
        case _:
            assert_never(job_input)


def _running(job_input: Input) -> tuple[str, Reference | None, Attributes]:
    """The parts of an input with which a query is started. The beginning of a first start is none of them."""
    place = job_input.source.running() if isinstance(job_input, StreamInput) else _place(job_input)
    return job_input.kind, _table_of(job_input), place


def _changed(old: Input, new: Input) -> list[str]:
    """The names of the attributes that differ between the two inputs' places and ways of reading."""
    before, after = _place(old), _place(new)
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def _unlisted(old: Input, new: Input) -> list[str]:
    """Whatever else of an input may change what is read."""
    meanings = [meaning for meaning in (_meaning(old), _meaning(new)) if meaning is not None]
    judged = {name for meaning in meanings for name in meaning.attributes}
    known = new.source.harmless if isinstance(new, StreamInput) else ()
    return [name for name in _changed(old, new) if name not in judged and harmless(name, known) is None]
