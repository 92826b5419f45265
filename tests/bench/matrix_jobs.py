"""One job of the matrix as data, and the lines that declare it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.matrix_model import Query, Unique
from tests.bench.matrix_rows import EVENT, OUT, Row

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
BRANCH: Final = "side"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """``label`` is also what its table is called after the cell's name. ``updates`` is what ``update_if``
    means, of new and old row.
    """

    mode: str
    label: str = "out"
    table: str = "out"
    keys: tuple[str, ...] = ()
    branch: bool = False
    rebuild: bool = False
    update_if: str = ""
    updates: Callable[[Row, Row], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """``lines`` are more lines of the job's block, ``reading`` of the stream's source, ``checkpoint`` of the
    checkpoint's block, which also has ``state_store``.

    ``more``: it reads the place ``more`` too. ``undeclared``: columns that a stream of files leaves out.
    ``code``: a Python step of this text stands between the stream and the SQL.
    """

    query: Query
    source: str
    outputs: tuple[Output, ...]
    place: str = "events"
    more: bool = False
    undeclared: tuple[str, ...] = ()
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
        *(_table(output, name) for output in _tables(job)),
        *(_stream(job, place, name) for place in _places(job)),
        _block(
            f'checkpoint "{name}"',
            [*job.checkpoint, *([f"state_store = {job.state_store}"] if job.state_store else [])],
        ),
        _job(job, name),
    ]
    return "\n".join(blocks)


def tables_alone(job: Job, name: str) -> str:
    """The tables, before there is a job: to lay rows and branches into them."""
    return "\n".join(_table(output, name) for output in _tables(job))


def table_name(output: Output, name: str) -> str:
    """The name of an output's table."""
    return f"{name}_{output.table}"


def source_tables() -> str:
    """The tables that cells with the source ``table`` stream from."""
    return "\n".join(
        _block(f'table "{place}"', ["catalog = catalog.lake", 'namespace = "demo"', *_columns(EVENT)])
        for place in ("events", "more", "elsewhere")
    )


def _tables(job: Job) -> Sequence[Output]:
    return list({output.table: output for output in job.outputs}.values())


def _table(output: Output, name: str) -> str:
    parted = ['partition_by = ["k"]'] if output.mode == "overwrite_partitions" else []
    return _block(
        f'table "{table_name(output, name)}"',
        ["catalog = catalog.lake", 'namespace = "demo"', *_columns(OUT), *parted],
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
    match job.source:
        case "files":
            source = _block("files", [f'path = "landing/{place}"', 'format = "json"', *job.reading])
            lines += [
                source,
                *_columns({name: kind for name, kind in EVENT.items() if name not in job.undeclared}),
            ]
        case "table":
            lines.append(_block("table", [f"table = table.{place}", *job.reading]))
        case _:
            lines.append(_block("rate", job.reading))
    return _block(f'stream "{_stream_name(place, job, name)}"', lines)


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
    ]
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
