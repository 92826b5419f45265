"""The jobs of the chaos: how each is declared, what can be changed about it, and what must be in its tables
once all is read.

Every rule is told twice: as the SQL or mode that FlareIaC is given, and as plain Python over the files.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from tests.bench.chaos_rows import COLUMNS, File, Row

BRANCH: Final = "side"
DELAY: Final = timedelta(minutes=1)
WINDOW: Final = timedelta(minutes=5)

LAKE: Final = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
engine "local" {
  master           = "local[2]"
  runtime_location = "runtime"
  driver           = { memory = "2g" }
  idle_shutdown    = "10m"
  graceful_stop    = "30s"
  conf = {
    "spark.sql.shuffle.partitions"      = "1"
    "spark.sql.codegen.wholeStage"      = "false"
    "spark.sql.codegen.factoryMode"     = "NO_CODEGEN"
    "spark.sql.streaming.numRecentProgressUpdates" = "4"
    "spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  }
}
"""

Cells = tuple[Any, ...]
Expected = Callable[[Sequence[File]], "Counter[Cells]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A table that a scenario writes, or a ``topic``: ``columns`` are compared, ``expected`` says with which
    rows. ``aliases``: other names of columns.

    A topic has each row at least once, and none that ``table`` does not have.
    """

    table: str
    columns: tuple[str, ...]
    expected: Expected
    branch: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    topic: str = ""

    @property
    def name(self) -> str:
        return f"topic {self.topic}" if self.topic else self.table


class Change:
    """Nouns for what is edited."""

    SQL = "changed SQL"
    GENERATION = "new generation"
    TABLE = "changed table"
    PARTITIONS = "added partition"
    RATE = "changed rate limit"
    TEXT = "another text of the same plan"
    REFUTED = "a text that is refuted"


class Values(StrEnum):
    """The forms in which the rows of a scenario are written into its topic."""

    JSON = "JSON"
    POISON = "JSON with values that cannot be read"
    AVRO = "Avro of a registry"


@dataclass(frozen=True, slots=True)
class Edits:
    """The number of edits of a scenario, by kind of change."""

    counts: Mapping[str, int] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> int:
        return self.counts.get(kind, 0)

    def and_one(self, kind: str) -> "Edits":
        return Edits({**self.counts, kind: self[kind] + 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """``points`` are the driver's named points that its job passes, each with the job or output that it
    counts for. With ``values`` it reads the topic of its name, else the files that land.
    """

    name: str
    declared: Callable[[Edits], str]
    targets: tuple[Target, ...]
    points: tuple[str, ...]
    change: str | None = None
    apply_points: tuple[str, ...] = ()
    with_job: bool = True
    values: Values | None = None

    @property
    def job(self) -> str:
        return f"job.{self.name}"


# What is right


def all_rows(*columns: str) -> Expected:
    """Every row once."""
    return lambda files: Counter(tuple(row[name] for name in columns) for row in _rows(files))


def last_of_key(*columns: str) -> Expected:
    """For each key the row that came last, unless that one says that it is gone."""

    def expected(files: Sequence[File]) -> "Counter[Cells]":
        found = {row["k"]: row for row in _rows(files)}
        return Counter(tuple(row[name] for name in columns) for row in found.values() if not row["gone"])

    return expected


def place_of(row: Row) -> str:
    """The place of a row in a change log whose rows arrive in another order."""
    return str(row["id"]).zfill(12)[::-1]


def greatest_of_key(*columns: str) -> Expected:
    """For each key the row of the greatest place, unless that one says that it is gone."""

    def expected(files: Sequence[File]) -> "Counter[Cells]":
        found: dict[object, Row] = {}
        for row in sorted(_rows(files), key=place_of):
            found[row["k"]] = row
        return Counter(tuple(row[name] for name in columns) for row in found.values() if not row["gone"])

    return expected


def last_of_part(*columns: str) -> Expected:
    """For each part the rows of the file that touched it last."""

    def expected(files: Sequence[File]) -> "Counter[Cells]":
        found: dict[str, list[Row]] = {}
        for file in files:
            parts = {row["part"] for row in file.rows}
            found |= {part: [row for row in file.rows if row["part"] == part] for part in parts}
        return Counter(tuple(row[name] for name in columns) for rows in found.values() for row in rows)

    return expected


def closed_windows(files: Sequence[File]) -> "Counter[Cells]":
    """The windows that the watermark has passed, with their sums."""
    rows = list(_rows(files))
    if not rows:
        return Counter()
    watermark = max(row["ts"] for row in rows) - DELAY
    sums: dict[tuple[datetime, str], tuple[int, int]] = {}
    for row in rows:
        key = (_window(row["ts"]), row["city"])
        count, total = sums.get(key, (0, 0))
        sums[key] = (count + 1, total + row["n"])
    return Counter(
        (since, city, *found) for (since, city), found in sums.items() if since + WINDOW <= watermark
    )


def _window(ts: datetime) -> datetime:
    return ts.replace(minute=ts.minute - ts.minute % 5, second=0)


def _rows(files: Iterable[File]) -> Iterable[Row]:
    return (row for file in files for row in file.rows)


# How it is declared


def without_job(blocks: str) -> str:
    """The blocks of a scenario up to its job."""
    return blocks[: blocks.index('\ncheckpoint "')]


def block(head: str, *lines: str) -> str:
    return "\n".join([f"{head} {{", *lines, "}"])


MAINTAINED: Final = (
    block("compaction", "run_if = { small_files_over = 5 }"),
    block("snapshot_expiry", 'older_than = "20s"', "retain_last = 1"),
)
"""So eager that each round has work: what readers and writers still need is all that holds it back."""


def declared_table(name: str, *columns: str, lines: Sequence[str] = ()) -> str:
    typed = [
        block(f'column "{column}"', f'type = "{kind}"')
        for column, kind in (item.split(":") for item in columns)
    ]
    return block(
        f'table "{name}"', "catalog = catalog.lake", 'namespace = "demo"', *typed, *lines, *MAINTAINED
    )


def declared_plain_table(name: str, *, lines: Sequence[str] = ()) -> str:
    return declared_table(
        name, *(f"{column}:{COLUMNS[column]}" for column in ("id", "k", "n", "part", "city")), lines=lines
    )


def declared_files(name: str, per_batch: int = 1, *, watermark: bool = False) -> str:
    source = block("files", 'path = "landing"', 'format = "json"', f"max_files_per_trigger = {per_batch}")
    columns = [block(f'column "{column}"', f'type = "{kind}"') for column, kind in COLUMNS.items()]
    late = [f'watermark = {{ column = "ts", delay = "{int(DELAY.total_seconds())}s" }}'] if watermark else []
    return block(f'stream "{name}"', source, *columns, *late)


def _tables(name: str, table: str) -> str:
    return block(f'stream "{name}"', block("table", f"table = table.{table}"))


def declared_job(
    name: str,
    stream: str,
    steps: Mapping[str, str],
    outputs: Sequence[str],
    *lines: str,
    generation: int = 0,
    start: str = "",
    trigger: str = "1s",
) -> str:
    told = [f"generation = {generation + 1}"] if generation else []
    begun = [f'start_from = "{start}"'] if generation and start else []
    body = [
        f"checkpoint = checkpoint.{name}",
        f'trigger = {{ processing_time = "{trigger}" }}',
        'stability = { within = "10m" }',
        'restart = { max_failures = 500, within = "3s", backoff = "200ms" }',
        *lines,
        block('input "events"', f"stream = stream.{stream}"),
        *(block(f'step "{step}"', f"sql = <<-SQL\n{sql}\nSQL") for step, sql in steps.items()),
        *outputs,
    ]
    return "\n".join([block(f'checkpoint "{name}"', *told, *begun), block(f'job "{name}"', *body)])


def declared_output(name: str, *lines: str, table: str = "") -> str:
    return block(f'output "{name}"', f"table = table.{table or name}", *lines)


SELECT: Final = "SELECT id, k, n, part, city FROM events"
COMPARED: Final = ("id", "k", "n", "part", "city")
SINK: Final = ("driver.before-start@job", "driver.after-start@job", "driver.after-batch@output")
BATCH: Final = (*SINK, "driver.batch-begun@job", "driver.before-output-write@output", "driver.after-output-write@output",
                "driver.before-commit-log@job")  # fmt: skip
MERGE: Final = (*BATCH, "driver.in-merge@output")
APPLY: Final = (
    "apply.intent",
    "apply.before-result",
    "apply.result",
    "apply.before-snapshot",
    "apply.snapshot",
)
RENEW: Final = (*APPLY, "finish.after", "prepare.after", "start.after")
REBUILD: Final = (*APPLY, "empty.within", "empty.after", "prepare.after")


def named_points(points: Iterable[str], name: str, *outputs: str) -> tuple[str, ...]:
    """The points with their names filled in."""
    found: list[str] = []
    for point in points:
        bare, _, of = point.partition("@")
        found += (
            [f"{bare}@job.{name}"] if of == "job" else [f"{bare}@{output}" for output in (outputs or (name,))]
        )
    return tuple(found)


def filtered(edits: Edits, sql: str = SELECT, *, among: str = "id") -> str:
    """The same rows by another query."""
    times = sum(edits.counts.values())
    return f"{sql} WHERE {among} >= {-times}" if times else sql


def _plain(_edits: Edits) -> str:
    return "\n".join(
        [
            declared_plain_table("plain"),
            declared_files("plain"),
            declared_job("plain", "plain", {"rows": SELECT}, [declared_output("plain")]),
        ]
    )


def declared_windows(name: str, source: str = "FROM events", trigger: str = "1s") -> str:
    """A job that sums over windows of time. ``source``: how its query names what it reads."""
    sql = (
        f"SELECT window.start AS since, city, count(*) AS events, sum(n) AS total {source} "
        f"GROUP BY window(ts, '{int(WINDOW.total_seconds())} seconds'), city"
    )
    table = declared_table(name, "since:timestamptz", "city:string", "events:long", "total:long")
    job = declared_job(name, name, {"sums": sql}, [declared_output(name)], trigger=trigger)
    return "\n".join([table, declared_files(name, watermark=True), job])


def _windows(_edits: Edits) -> str:
    return declared_windows("windows")


MERGED: Final = ('mode = "merge"', 'merge = { on = ["k"], latest_by = "id", delete_if = "s.gone" }')
LAST: Final = ("k", "id", "n", "city")


def _merge(_edits: Edits) -> str:
    table = declared_table("merge", "k:long", "id:long", "n:long", "city:string")
    job = declared_job(
        "merge",
        "merge",
        {"rows": "SELECT k, id, n, city, gone FROM events"},
        [declared_output("merge", *MERGED)],
    )
    return "\n".join([table, declared_files("merge"), job])


def _erased(_edits: Edits) -> str:
    """Changes arrive in another order than they were made in: each batch has rows of keys that a later change
    has deleted.
    """
    table = declared_table("erased", "k:long", "place:string", "id:long", "n:long", "city:string")
    merge = (
        'merge = { on = ["k"], latest_by = "place", delete_if = "s.gone", tombstones = table.erased_keys }'
    )
    sql = "SELECT k, reverse(lpad(CAST(id AS STRING), 12, '0')) AS place, id, n, city, gone FROM events"
    job = declared_job(
        "erased", "erased", {"rows": sql}, [declared_output("erased", 'mode = "merge"', merge)]
    )
    return "\n".join(
        [table, declared_table("erased_keys", "k:long", "place:string"), declared_files("erased"), job]
    )


def _parts(_edits: Edits) -> str:
    table = declared_plain_table("parts", lines=['partition_by = ["part"]'])
    job = declared_job(
        "parts", "parts", {"rows": SELECT}, [declared_output("parts", 'mode = "overwrite_partitions"')]
    )
    return "\n".join([table, declared_files("parts"), job])


def _branch(_edits: Edits) -> str:
    job = declared_job(
        "branch", "branch", {"rows": SELECT}, [declared_output("branch", f'branch = "{BRANCH}"')]
    )
    return "\n".join([declared_plain_table("branch"), declared_files("branch", 2), job])


def _pair(_edits: Edits) -> str:
    rows, last = (
        declared_plain_table("pair_rows"),
        declared_table("pair_last", "k:long", "id:long", "n:long", "city:string"),
    )
    steps = {"rows": SELECT, "last": "SELECT k, id, n, city, gone FROM events"}
    outputs = [declared_output("pair_rows", 'from = "rows"'), declared_output("pair_last", *MERGED)]
    return "\n".join(
        [
            rows,
            last,
            declared_files("pair"),
            declared_job("pair", "pair", steps, outputs, "foreach_batch = true"),
        ]
    )


def _copy(_edits: Edits) -> str:
    return "\n".join(
        [
            declared_plain_table("copy"),
            _tables("copy", "plain"),
            declared_job("copy", "copy", {"rows": SELECT}, [declared_output("copy")]),
        ]
    )


def _changed(edits: Edits) -> str:
    job = declared_job("changed", "changed", {"rows": filtered(edits)}, [declared_output("changed")])
    return "\n".join([declared_plain_table("changed"), declared_files("changed"), job])


def _carried(edits: Edits) -> str:
    job = declared_job(
        "carried",
        "carried",
        {"rows": filtered(edits)},
        [declared_output("carried")],
        generation=edits[Change.GENERATION],
    )
    return "\n".join([declared_plain_table("carried"), declared_files("carried"), job])


def _carried_merge(edits: Edits) -> str:
    table = declared_table("carried_merge", "k:long", "id:long", "n:long", "city:string")
    sql = filtered(edits, "SELECT k, id, n, city, gone FROM events")
    outputs = [declared_output("carried_merge", *MERGED)]
    job = declared_job(
        "carried_merge", "carried_merge", {"rows": sql}, outputs, generation=edits[Change.GENERATION]
    )
    return "\n".join([table, declared_files("carried_merge"), job])


def _carried_copy(edits: Edits) -> str:
    outputs = [declared_output("carried_copy")]
    job = declared_job(
        "carried_copy",
        "carried_copy",
        {"rows": filtered(edits)},
        outputs,
        generation=edits[Change.GENERATION],
    )
    return "\n".join([declared_plain_table("carried_copy"), _tables("carried_copy", "plain"), job])


def _rebuilt(edits: Edits) -> str:
    outputs = [declared_output("rebuilt", 'rebuild = "truncate"')]
    job = declared_job(
        "rebuilt",
        "rebuilt",
        {"rows": filtered(edits)},
        outputs,
        generation=edits[Change.GENERATION],
        start="earliest",
    )
    return "\n".join([declared_plain_table("rebuilt"), declared_files("rebuilt", 20), job])


def _shaped(edits: Edits) -> str:
    """One edit renames the column, the next one adds another, the one after drops it."""
    times = edits[Change.TABLE]
    names = ("city", "town")
    renamed, extra = (times + 2) // 3, times % 3 == 2
    now, before = names[renamed % 2], names[(renamed + 1) % 2]
    columns = [
        "id:long",
        "k:long",
        "n:long",
        "part:string",
        f"{now}:string",
        *(["extra:long"] if extra else []),
    ]
    told = [f'renamed = {{ {before} = "{now}" }}'] if times else []
    sql = f"SELECT id, k, n, part, city AS {now}{', n AS extra' if extra else ''} FROM events"
    return "\n".join(
        [
            declared_table("shaped", *columns, lines=told),
            declared_files("shaped"),
            declared_job("shaped", "shaped", {"rows": sql}, [declared_output("shaped")]),
        ]
    )


def one_target(
    name: str, expected: Expected, columns: tuple[str, ...], *, branch: bool = False
) -> tuple[Target, ...]:
    return (Target(table=name, columns=columns, expected=expected, branch=branch),)


EVERY_ROW: Final = all_rows(*COMPARED)

SCENARIOS: Final = (
    Scenario(
        name="plain",
        declared=_plain,
        targets=one_target("plain", EVERY_ROW, COMPARED),
        points=named_points(SINK, "plain"),
    ),
    Scenario(
        name="windows",
        declared=_windows,
        targets=one_target("windows", closed_windows, ("since", "city", "events", "total")),
        points=named_points(SINK, "windows"),
    ),
    Scenario(
        name="merge",
        declared=_merge,
        targets=one_target("merge", last_of_key(*LAST), LAST),
        points=named_points(MERGE, "merge"),
    ),
    Scenario(
        name="erased",
        declared=_erased,
        targets=one_target("erased", greatest_of_key(*LAST), LAST),
        points=(
            *named_points(MERGE, "erased"),
            "driver.between-outputs@job.erased",
            *named_points(
                (
                    "driver.before-output-write@output",
                    "driver.in-merge@output",
                    "driver.after-output-write@output",
                ),
                "erased",
                "tombstones.erased",
            ),
        ),
    ),
    Scenario(
        name="parts",
        declared=_parts,
        targets=one_target("parts", last_of_part(*COMPARED), COMPARED),
        points=named_points(BATCH, "parts"),
    ),
    Scenario(
        name="branch",
        declared=_branch,
        targets=one_target("branch", EVERY_ROW, COMPARED, branch=True),
        points=named_points(BATCH, "branch"),
    ),
    Scenario(
        name="pair",
        declared=_pair,
        targets=(
            *one_target("pair_rows", EVERY_ROW, COMPARED),
            *one_target("pair_last", last_of_key(*LAST), LAST),
        ),
        points=tuple(
            dict.fromkeys(
                [
                    *named_points(("driver.before-start@job", "driver.after-start@job"), "pair"),
                    "driver.after-batch@all",
                    *named_points(
                        (
                            "driver.batch-begun@job",
                            "driver.between-outputs@job",
                            "driver.before-commit-log@job",
                        ),
                        "pair",
                    ),
                    *named_points(
                        ("driver.before-output-write@output", "driver.after-output-write@output"),
                        "pair",
                        "pair_rows",
                        "pair_last",
                    ),
                    "driver.in-merge@pair_last",
                ]
            )
        ),
    ),
    Scenario(
        name="copy",
        declared=_copy,
        targets=one_target("copy", EVERY_ROW, COMPARED),
        points=named_points(SINK, "copy"),
    ),
    Scenario(
        name="changed",
        declared=_changed,
        targets=one_target("changed", EVERY_ROW, COMPARED),
        points=named_points(SINK, "changed"),
        change=Change.SQL,
        apply_points=APPLY,
    ),
    Scenario(
        name="carried",
        declared=_carried,
        targets=one_target("carried", EVERY_ROW, COMPARED),
        points=named_points(SINK, "carried"),
        change=Change.GENERATION,
        apply_points=RENEW,
    ),
    Scenario(
        name="carried_merge",
        declared=_carried_merge,
        targets=one_target("carried_merge", last_of_key(*LAST), LAST),
        points=named_points(MERGE, "carried_merge"),
        change=Change.GENERATION,
        apply_points=RENEW,
    ),
    Scenario(
        name="carried_copy",
        declared=_carried_copy,
        targets=one_target("carried_copy", EVERY_ROW, COMPARED),
        points=named_points(SINK, "carried_copy"),
        change=Change.GENERATION,
        apply_points=RENEW,
    ),
    Scenario(
        name="rebuilt",
        declared=_rebuilt,
        targets=one_target("rebuilt", EVERY_ROW, COMPARED),
        points=named_points(SINK, "rebuilt"),
        change=Change.GENERATION,
        apply_points=REBUILD,
    ),
    Scenario(
        name="shaped",
        declared=_shaped,
        targets=(Target(table="shaped", columns=COMPARED, expected=EVERY_ROW, aliases={"city": "town"}),),
        points=named_points(SINK, "shaped"),
        change=Change.TABLE,
        apply_points=APPLY,
    ),
)
