"""One job of the matrix as data, and the lines that declare it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flareiac.sdk.versions import SPARK_AVRO
from tests.bench.matrix_kafka import Kafka, topic_name
from tests.bench.matrix_model import Deletes, Query, Unique
from tests.bench.matrix_rows import BAD, EVENT, OUT, TABLES, Row

LAKE: Final = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
engine "local" {
  master           = "local[2]"
  runtime_location = "runtime"
  driver           = { memory = "3g" }
  idle_shutdown    = "10m"
  graceful_stop    = "60s"
  conf = {
    "spark.sql.shuffle.partitions"      = "1"
    "spark.sql.codegen.wholeStage"      = "false"
    "spark.sql.codegen.factoryMode"     = "NO_CODEGEN"
    "spark.sql.streaming.numRecentProgressUpdates" = "4"
  }
}
"""
_ENGINE: Final = 'engine "local" {'
BRANCH: Final = "side"


def lake_of_topics() -> str:
    """The same, where the application has the jars of Avro before a cell changes to that format: it would
    start again for them, and all cells with it.
    """
    return LAKE.replace(_ENGINE, f'{_ENGINE}\n  packages         = ["{SPARK_AVRO}"]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """``label`` is also what its table is called after the cell's name. ``updates`` is what ``update_if``
    means, of new and old row. ``tombstones``: what the table of its deletes is called there.

    With a ``topic`` it writes a topic of that name after the cell's, and no table; ``writing`` are more lines
    of its ``kafka`` block, ``key`` the column of the keys.
    """

    mode: str
    label: str = "out"
    topic: str = ""
    key: str = ""
    writing: tuple[str, ...] = ()
    table: str = "out"
    keys: tuple[str, ...] = ()
    branch: bool = False
    rebuild: bool = False
    update_if: str = ""
    updates: Callable[[Row, Row], bool] | None = None
    deletes: Deletes | None = None
    tombstones: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """``lines`` are more lines of the job's block, ``reading`` of the stream's source, ``checkpoint`` of the
    checkpoint's block, which also has ``state_store``.

    ``more``: it reads the place ``more`` too. ``undeclared``: columns that a stream of files or topics leaves
    out, ``types`` those that it declares otherwise. ``kafka``: how a stream of topics is written. ``bad``:
    the action for bad records; ``quarantine`` the table that gets them, after the cell's name.
    ``code``: a Python step of this text stands between the stream and the SQL.
    """

    query: Query
    source: str
    outputs: tuple[Output, ...]
    place: str = "events"
    more: bool = False
    undeclared: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    kafka: Kafka = field(default_factory=Kafka)
    bad: str = ""
    quarantine: str = ""
    step: str = "made"
    lines: tuple[str, ...] = ()
    reading: tuple[str, ...]
    interval: str = "5s"
    failures: int = 9
    checkpoint: tuple[str, ...] = ()
    state_store: str = ""
    together: bool = False
    code: str | None = None


def declared(job: Job, name: str) -> str:
    """The blocks of a job and of all that is its own."""
    blocks = [
        *_all_tables(job, name),
        *(_tombstones(output, name) for output in job.outputs if output.tombstones),
        *(_stream(job, place, name) for place in _places(job)),
        *(job.kafka.blocks(name, job.place) if job.source == "kafka" else []),
        _block(
            f'checkpoint "{name}"',
            [*job.checkpoint, *([f"state_store = {job.state_store}"] if job.state_store else [])],
        ),
        _job(job, name),
    ]
    return "\n".join(blocks)


def tables_alone(job: Job, name: str) -> str:
    """The tables, before there is a job: to lay rows and branches into them."""
    return "\n".join(_all_tables(job, name))


def table_name(output: Output, name: str) -> str:
    """The name of an output's table."""
    return f"{name}_{output.table}"


def _all_tables(job: Job, name: str) -> list[str]:
    found = [_table(output, name) for output in _tables(job)]
    if job.quarantine:
        lines = ["catalog = catalog.lake", 'namespace = "demo"', *_columns(BAD)]
        found.append(_block(f'table "{name}_{job.quarantine}"', lines))
    return found


def places_read(job: Job) -> tuple[str, ...]:
    """The places whose topics a job reads."""
    if job.source != "kafka":
        return ()
    return (job.place, *job.kafka.also, *(("more",) if job.more else ()))


def source_tables() -> str:
    """The tables that cells with the source ``table`` stream from."""
    return "\n".join(
        _block(f'table "{place}"', ["catalog = catalog.lake", 'namespace = "demo"', *_columns(EVENT)])
        for place in TABLES
    )


def _tables(job: Job) -> Sequence[Output]:
    return list({output.table: output for output in job.outputs if not output.topic}.values())


def _table(output: Output, name: str) -> str:
    parted = ['partition_by = ["k"]'] if output.mode == "overwrite_partitions" else []
    return _block(
        f'table "{table_name(output, name)}"',
        ["catalog = catalog.lake", 'namespace = "demo"', *_columns(OUT), *parted],
    )


def _tombstones(output: Output, name: str) -> str:
    assert output.deletes is not None, "without deletes there are none"
    columns = {column: OUT[column] for column in (*output.keys, output.deletes.latest_by)}
    return _block(
        f'table "{name}_{output.tombstones}"',
        ["catalog = catalog.lake", 'namespace = "demo"', *_columns(columns)],
    )


def _places(job: Job) -> Sequence[str]:
    return (job.place, "more") if job.more else (job.place,)


def _stream(job: Job, place: str, name: str) -> str:
    delay = getattr(job.query, "delay", None)
    lines = (
        [f'watermark = {{ column = "at", delay = "{int(delay.total_seconds())}s" }}']
        if delay is not None
        else []
    )
    if job.quarantine:
        lines.append(f"bad_records = {{ quarantine = table.{name}_{job.quarantine} }}")
    elif job.bad:
        lines.append(f'bad_records = {{ action = "{job.bad}" }}')
    match job.source:
        case "files":
            source = _block("files", [f'path = "landing/{place}"', 'format = "json"', *job.reading])
            lines += [source, *_declared(job)]
        case "kafka":
            lines.append(_block("kafka", [*job.kafka.lines(name, place), *job.reading]))
            lines += _declared(job) if job.kafka.format in ("json", "csv", "avro") else []
        case "table":
            lines.append(_block("table", [f"table = table.{place}", *job.reading]))
        case _:
            lines.append(_block("rate", job.reading))
    return _block(f'stream "{_stream_name(place, job, name)}"', lines)


def _declared(job: Job) -> list[str]:
    kept = {name: kind for name, kind in EVENT.items() if name not in job.undeclared}
    return _columns({**kept, **job.types})


def _stream_name(place: str, job: Job, name: str) -> str:
    return name if place == job.place else f"{name}_{place}"


def _job(job: Job, name: str) -> str:
    raw = "raw" if job.code is not None else "events"
    inputs = [
        _block(
            f'input "{raw if place == job.place else place}"',
            [f"stream = stream.{_stream_name(place, job, name)}"],
        )
        for place in _places(job)
    ]
    dedup = (
        [f"dedup = {{ keys = {_listed(job.query.keys)}, within_watermark = false }}"]
        if isinstance(job.query, Unique)
        else []
    )
    lines = [
        f"checkpoint = checkpoint.{name}",
        f'trigger = {{ processing_time = "{job.interval}" }}',
        'stability = { within = "10m" }',
        f'restart = {{ backoff = "1s", max_failures = {job.failures}, within = "1h" }}',
        *(["foreach_batch = true"] if job.together else []),
        *([f'code = "code/{name}"'] if job.code is not None else []),
        *job.lines,
        *inputs,
        *([_block('step "events"', ['python = "steps:read"'])] if job.code is not None else []),
        _block(f'step "{job.step}"', [f"sql = <<-SQL\n{job.query.sql}\nSQL", *dedup]),
        *(_output(output, name) for output in job.outputs),
    ]
    return _block(f'job "{name}"', lines)


def _output(output: Output, name: str) -> str:
    merge = [
        f"on = {_listed(output.keys)}",
        *([f'update_if = "{output.update_if}"'] if output.update_if else []),
        *(
            [f'latest_by = "{deletes.latest_by}"', f'delete_if = "{deletes.delete_if}"']
            if (deletes := output.deletes) is not None
            else []
        ),
        *([f"tombstones = table.{name}_{output.tombstones}"] if output.tombstones else []),
    ]
    if output.topic:
        key = [f'key = "{output.key}"'] if output.key else []
        written = [f'topic = "{topic_name(name, output.topic)}"', "connection = kafka.main", *key]
        topic = _block("kafka", [*written, *output.writing])
        return _block(f'output "{output.label}"', [topic, f'mode = "{output.mode}"'])
    lines = [
        f"table = table.{table_name(output, name)}",
        f'mode = "{output.mode}"',
        *([f"merge = {{ {', '.join(merge)} }}"] if output.mode == "merge" else []),
        *([f'branch = "{BRANCH}"'] if output.branch else []),
        *(['rebuild = "truncate"'] if output.rebuild else []),
    ]
    return _block(f'output "{output.label}"', lines)


def _columns(columns: dict[str, str]) -> list[str]:
    return [_block(f'column "{name}"', [f'type = "{kind}"']) for name, kind in columns.items()]


def _listed(words: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def _block(head: str, lines: Sequence[str]) -> str:
    if not lines:
        return f"{head} {{}}"
    return "\n".join([f"{head} {{", *lines, "}"])
