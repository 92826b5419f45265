"""The jobs of the chaos that read and write topics: how each is declared, what can be changed about it, and
what must be in its tables and topics once all is read.

A scenario reads the topic of its name. What that topic holds is what is right, whatever a producer was
answered.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tests.bench.chaos_rows import COLUMNS, File
from tests.bench.chaos_scenarios import (
    APPLY,
    BATCH,
    COMPARED,
    DELAY,
    EVERY_ROW,
    LAST,
    MERGED,
    RENEW,
    SINK,
    WINDOW,
    Change,
    Edits,
    Expected,
    Scenario,
    Target,
    Values,
    all_rows,
    block,
    closed_windows,
    declared_job,
    declared_output,
    declared_plain_table,
    declared_table,
    filtered,
    last_of_key,
    named_points,
    one_target,
)

_PLACE: Final = ("kafka_partition", "kafka_offset")
_PLACED: Final = ("kafka_partition:int", "kafka_offset:long")
_FAN_OUT: Final = "fan_out"
_REST: Final = 3


def _only(bad: bool, expected: Expected) -> Expected:
    """``expected`` of the records that can be read, or of those that cannot."""
    return lambda files: expected(
        [File(number=file.number, rows=[row for row in file.rows if row["bad"] == bad]) for file in files]
    )


def _job(
    name: str, steps: Mapping[str, str], outputs: Sequence[str], *lines: str, generation: int = 0
) -> str:
    """A job over the stream of its name. It rests between two batches: brokers come and go in less time."""
    declared = declared_job(name, name, steps, outputs, *lines, generation=generation)
    return declared.replace('processing_time = "1s"', f'processing_time = "{_REST}s"')


def _topic(name: str, partitions: int) -> str:
    return block(f'topic "{name}"', f"partitions = {partitions}", "replication_factor = 1")


def _stream(
    name: str,
    *more: str,
    values: str = "json",
    columns: Mapping[str, str] = COLUMNS,
    source: Sequence[str] = (),
) -> str:
    kafka = block("kafka", f"topic = topic.{name}", f'format = "{values}"', *source)
    declared = [block(f'column "{column}"', f'type = "{kind}"') for column, kind in columns.items()]
    return block(f'stream "{name}"', kafka, *declared, *more)


def _appended(edits: Edits) -> str:
    """Each edit adds a partition to the topic that is being written and read."""
    columns = [f"{name}:{COLUMNS[name]}" for name in COMPARED]
    sql = f"SELECT {', '.join(COMPARED)}, kafka_key, {', '.join(_PLACE)} FROM events"
    return "\n".join(
        [
            _topic("appended", 3 + edits[Change.PARTITIONS]),
            declared_table("appended", *columns, "kafka_key:string", *_PLACED),
            _stream("appended", source=['key = "string"', "include_metadata = true"]),
            _job("appended", {"rows": sql}, [declared_output("appended")]),
        ]
    )


def _keyed(edits: Edits) -> str:
    sql = filtered(edits, "SELECT k, id, n, city, gone FROM events")
    job = _job(
        "keyed",
        {"rows": sql},
        [declared_output("keyed", *MERGED)],
        generation=edits[Change.GENERATION],
    )
    table = declared_table("keyed", "k:long", "id:long", "n:long", "city:string")
    return "\n".join([_topic("keyed", 2), table, _stream("keyed"), job])


def _closed(edits: Edits) -> str:
    """Each edit changes how many records a batch may have. One partition: no record is late."""
    limit = (150, 400)[edits[Change.RATE] % 2]
    sql = (
        "SELECT window.start AS since, city, count(*) AS events, sum(n) AS total FROM events "
        f"GROUP BY window(ts, '{int(WINDOW.total_seconds())} seconds'), city"
    )
    late = f'watermark = {{ column = "ts", delay = "{int(DELAY.total_seconds())}s" }}'
    return "\n".join(
        [
            _topic("closed", 1),
            declared_table("closed", "since:timestamptz", "city:string", "events:long", "total:long"),
            _stream("closed", late, source=[f"max_offsets_per_trigger = {limit}"]),
            _job("closed", {"sums": sql}, [declared_output("closed")]),
        ]
    )


def _poisoned(edits: Edits) -> str:
    columns = ("id:long", "n:long", "city:string", *_PLACED)
    unreadable = declared_table(
        "unreadable", "raw:binary", "error:string", "topic:string", "partition:int", "offset:long"
    )
    sql = f"SELECT id, n, city, {', '.join(_PLACE)} FROM events"
    job = _job(
        "poisoned",
        {"rows": filtered(edits, sql, among="kafka_offset")},
        [declared_output("poisoned")],
    )
    quarantine = "bad_records = { quarantine = table.unreadable }"
    return "\n".join(
        [
            _topic("poisoned", 2),
            declared_table("poisoned", *columns),
            unreadable,
            _stream("poisoned", quarantine, source=["include_metadata = true"]),
            job,
        ]
    )


def _fan(edits: Edits) -> str:
    steps = {
        "rows": filtered(edits),
        "last": "SELECT k, id, n, city, gone FROM events",
    }
    outputs = [
        declared_output("fan_rows", 'from = "rows"'),
        declared_output("fan_last", 'from = "last"', *MERGED),
        block(
            f'output "{_FAN_OUT}"', 'from = "rows"', block("kafka", f"topic = topic.{_FAN_OUT}", 'key = "k"')
        ),
    ]
    return "\n".join(
        [
            _topic("fan", 2),
            _topic(_FAN_OUT, 2),
            declared_plain_table("fan_rows"),
            declared_table("fan_last", "k:long", "id:long", "n:long", "city:string"),
            _stream("fan"),
            _job("fan", steps, outputs, "foreach_batch = true", generation=edits[Change.GENERATION]),
        ]
    )


def _registered(edits: Edits) -> str:
    columns = {name: COLUMNS[name] for name in COMPARED}
    return "\n".join(
        [
            _topic("registered", 2),
            declared_plain_table("registered"),
            _stream("registered", values="avro", columns=columns),
            _job("registered", {"rows": filtered(edits)}, [declared_output("registered")]),
        ]
    )


def _fan_points() -> Iterable[str]:
    outputs = ("fan_rows", "fan_last", _FAN_OUT)
    yield from named_points(("driver.before-start@job", "driver.after-start@job"), "fan")
    yield from named_points(
        ("driver.batch-begun@job", "driver.between-outputs@job", "driver.before-commit-log@job"), "fan"
    )
    yield from named_points(
        ("driver.before-output-write@output", "driver.after-output-write@output"), "fan", *outputs
    )
    yield "driver.in-merge@fan_last"


_APPENDED: Final = (*COMPARED, "kafka_key", *_PLACE)
_QUARANTINED: Final = ("topic", "partition", "offset")

KAFKA_SCENARIOS: Final = (
    Scenario(
        name="appended",
        declared=_appended,
        targets=one_target("appended", all_rows(*_APPENDED), _APPENDED),
        points=named_points(SINK, "appended"),
        change=Change.PARTITIONS,
        apply_points=APPLY,
        values=Values.JSON,
    ),
    Scenario(
        name="keyed",
        declared=_keyed,
        targets=one_target("keyed", last_of_key(*LAST), LAST),
        points=named_points((*BATCH, "driver.in-merge@output"), "keyed"),
        change=Change.GENERATION,
        apply_points=RENEW,
        values=Values.JSON,
    ),
    Scenario(
        name="closed",
        declared=_closed,
        targets=one_target("closed", closed_windows, ("since", "city", "events", "total")),
        points=named_points(SINK, "closed"),
        change=Change.RATE,
        apply_points=APPLY,
        values=Values.JSON,
    ),
    Scenario(
        name="poisoned",
        declared=_poisoned,
        targets=(
            Target(
                table="poisoned",
                columns=("id", "n", "city", *_PLACE),
                expected=_only(False, all_rows("id", "n", "city", *_PLACE)),
            ),
            Target(
                table="unreadable",
                columns=("raw", *_QUARANTINED),
                expected=_only(True, all_rows("raw", "kafka_topic", *_PLACE)),
            ),
        ),
        points=(*named_points(SINK, "poisoned"), "driver.after-batch@bad_records.events"),
        change=Change.SQL,
        apply_points=APPLY,
        values=Values.POISON,
    ),
    Scenario(
        name="fan",
        declared=_fan,
        targets=(
            *one_target("fan_rows", EVERY_ROW, COMPARED),
            *one_target("fan_last", last_of_key(*LAST), LAST),
            Target(table="fan_rows", columns=COMPARED, expected=EVERY_ROW, topic=_FAN_OUT),
        ),
        points=tuple(_fan_points()),
        change=Change.GENERATION,
        apply_points=RENEW,
        values=Values.JSON,
    ),
    Scenario(
        name="registered",
        declared=_registered,
        targets=one_target("registered", EVERY_ROW, COMPARED),
        points=named_points(SINK, "registered"),
        change=Change.SQL,
        apply_points=APPLY,
        values=Values.AVRO,
    ),
)
