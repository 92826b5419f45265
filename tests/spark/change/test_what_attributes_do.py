"""The class of change that the reference names for an attribute is the one that a plan comes to."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.sdk.changes import Action, Effect, Proposal
from flareiac.sdk.on_change import ChangeClass, OnChange
from tests.spark.declared import NOT_LOOKED_AT, Loaded, loaded, proposal, running
from tests.support.schemas import changes_of

Texts = dict[str, str]
"""Texts by the place in the project where each is put: ``@NAME@``, or a text that it replaces."""
Case = tuple[str, Texts, Texts]
"""The kind of the stream, and the texts before and after the change."""

COLUMNS = """column "id" { type = "long" }
  column "ts" { type = "timestamptz" }
  column "region" { type = "string" }
  column "payload" { type = "string" }"""
FILES = """stream "orders" {
  files {
    path   = "landing"
    format = "json"
    @stream.files@
  }
  @columns@
  @stream@
}"""
KAFKA = """stream "orders" {
  kafka {
    topic      = "orders"
    connection = kafka.main
    format     = "json"
    @stream.kafka@
  }
  @columns@
  @stream@
}"""
AVRO = KAFKA.replace('format     = "json"', 'format     = "avro"\n    schema     = @avro@')
TABLE = """table "source" {
  namespace = "demo"
  @columns@
}
table "other" {
  namespace = "demo"
  @columns@
}
stream "orders" {
  table {
    table = table.source
    @stream.table@
  }
}"""
RATE = """stream "orders" {
  rate {
    @stream.rate@
  }
  @stream@
}"""
SOURCES = {"files": FILES, "kafka": KAFKA, "avro": AVRO, "table": TABLE, "rate": RATE}
LAKE = """
secret "k" { env = "K" }
kafka "main" { bootstrap_servers = "localhost:9092" }
kafka "other" { bootstrap_servers = "elsewhere:9092" }
engine "local" {
  @engine@
}
engine "second" { runtime_location = "second" }
table "rows" {
  namespace = "demo"
  column "region" { type = "string" }
  column "n" { type = "long" }
}
table "more" {
  namespace = "demo"
  column "region" { type = "string" }
  column "n" { type = "long" }
}
checkpoint "x" { @checkpoint@ }
checkpoint "y" {}
stream "third" {
  files {
    path   = "third"
    format = "json"
  }
  @columns@
}
job "x" {
  checkpoint = checkpoint.x
  engine     = engine.local
  @job@
  input "orders" { stream = stream.orders }
  input "names" {
    table = table.rows
  }
  step "result" {
    @query@
    @job.step@
  }
  output "hourly" {
    @output@
    @job.output@
  }
}
"""
BATCH = """
table "rows" {
  namespace = "demo"
  column "a" { type = "long" }
}
job "x" {
  mode = "batch"
  input "more" {
    files {
      path   = "more"
      format = "json"
      @job.input.files@
    }
  }
  step "all" { sql = "SELECT a FROM more" }
  output "hourly" {
    table = table.rows
    mode  = "overwrite"
  }
}
"""
STATELESS = "SELECT region, id AS n, ts FROM orders WHERE id > 0"
STATEFUL = (
    "SELECT region, window(ts, '1 hour').end AS ts, count(*) AS n FROM orders WHERE id > 0 "
    "GROUP BY region, window(ts, '1 hour')"
)
MERGE = 'mode  = "merge"\n    merge = { on = ["region"] }'
TO_TABLE = f"table = table.rows\n    {MERGE}"
TO_KAFKA = """kafka {
      topic      = "out"
      connection = kafka.main
      @job.output.kafka@
    }"""
CLUSTER = 'type = "spark_submit"\n  master = "yarn"\n  runtime_location = "s3://bucket/prefix"\n  '
STORE = "spark.sql.streaming.stateStore.providerClass"
TOPIC = 'topic      = "orders"'
LATE = 'watermark = { column = "ts", delay = "10m" }'

OF_RATE = 'sql = "SELECT CAST(value AS STRING) AS region, value AS n FROM orders"'
OF_TIME = 'watermark = { column = "timestamp", delay = "10m" }'
A_COLUMN = 'columns = { a = "long" }'
A_COMMENT = 'column "a" {\n        type = "long"\n        comment = "c"\n      }'
ONE_VALUE = 'sql = "SELECT region AS value FROM orders"'
PYTHON = 'python = "score:one"'
RECORD = '{ type = "record", name = "R", fields = [{ name = "id", type = "long" }] }'


def at(place: str, new: str, old: str = "", source: str = "files", **more: str) -> Case:
    """Another text at a place. ``more``: texts at other places, before and after."""
    others = {f"@{name}@": value for name, value in more.items()}
    return source, {**others, f"@{place}@": old}, {**others, f"@{place}@": new}


def engine(text: str, before: str = "") -> Case:
    return at("engine", before + text, before)


def other(old: str, new: str, source: str = "files") -> Case:
    return source, {}, {old: new}


def in_batch(text: str) -> Case:
    return at("job.input.files", text, A_COLUMN, "batch")


CASES: dict[str, Case] = {
    "engine.type": engine('type = "external"'),
    "engine.master": engine('master = "local[3]"'),
    "engine.deploy_mode": engine('deploy_mode = "cluster"', CLUSTER),
    "engine.conf": engine('conf = { "spark.x" = "y" }'),
    "engine.packages": engine('packages = ["a:b:1"]'),
    "engine.driver": engine('driver = { memory = "3g" }'),
    "engine.executor": engine('executor = { memory = "3g" }', CLUSTER),
    "engine.pools": engine("pools = { fast = { weight = 2 } }"),
    "engine.submit_options": engine("submit_options = { keytab = secret.k }", CLUSTER),
    "engine.log_level": engine('log_level = "INFO"'),
    "engine.log_format": engine('log_format = "json"'),
    "engine.listen": engine('listen = "127.0.0.1:9999"'),
    "engine.liveness_file": engine('liveness_file = "/run/alive"'),
    "engine.runtime_location": engine('runtime_location = "elsewhere"'),
    "engine.idle_shutdown": engine('idle_shutdown = "9m"'),
    "engine.graceful_stop": engine('graceful_stop = "9m"'),
    "engine.openlineage": engine('openlineage = { file = "/tmp/lineage.jsonl" }'),
    "stream.watermark": at("stream", 'watermark = { column = "ts", delay = "20m" }', LATE),
    "stream.bad_records": at("stream", LATE + '\n  bad_records = { action = "null" }', LATE),
    "stream.files.path": other('"landing"', '"elsewhere"'),
    "stream.files.format": other('"landing"\n    format = "json"', '"landing"\n    format = "parquet"'),
    "stream.files.options": at("stream.files", 'options = { multiLine = "true" }'),
    "stream.files.max_files_per_trigger": at("stream.files", "max_files_per_trigger = 3"),
    "stream.files.max_file_age": at("stream.files", 'max_file_age = "30d"'),
    "stream.files.reading": at("stream.files", "reading = 1"),
    "stream.kafka.topic": other('"orders"\n    connection', '"elsewhere"\n    connection', "kafka"),
    "stream.kafka.topics": ("kafka", {TOPIC: 'topics = ["a", "b"]'}, {TOPIC: 'topics = ["a", "c"]'}),
    "stream.kafka.topic_pattern": (
        "kafka",
        {TOPIC: 'topic_pattern = "a.*"'},
        {TOPIC: 'topic_pattern = "b.*"'},
    ),
    "stream.kafka.connection": other("kafka.main\n    format", "kafka.other\n    format", "kafka"),
    "stream.kafka.starting_offsets": at("stream.kafka", 'starting_offsets = "latest"', source="kafka"),
    "stream.kafka.isolation_level": at(
        "stream.kafka", 'isolation_level = "read_uncommitted"', source="kafka"
    ),
    "stream.kafka.group_id_prefix": at("stream.kafka", 'group_id_prefix = "g"', source="kafka"),
    "stream.kafka.max_offsets_per_trigger": at("stream.kafka", "max_offsets_per_trigger = 9", source="kafka"),
    "stream.kafka.min_partitions": at("stream.kafka", "min_partitions = 9", source="kafka"),
    "stream.kafka.format": other('format     = "json"', 'format     = "csv"', "kafka"),
    "stream.kafka.options": at("stream.kafka", 'options = { "kafka.client.id" = "a" }', source="kafka"),
    "stream.kafka.key": at("stream.kafka", 'key = "string"', source="kafka"),
    "stream.kafka.include_headers": at("stream.kafka", "include_headers = true", source="kafka"),
    "stream.kafka.include_metadata": at("stream.kafka", "include_metadata = true", source="kafka"),
    "stream.table.table": other("table = table.source", "table = table.other", "table"),
    "stream.table.start_from": at("stream.table", 'start_from = "latest"', source="table"),
    "stream.table.max_files_per_trigger": at("stream.table", "max_files_per_trigger = 3", source="table"),
    "stream.table.skip_deletes": at("stream.table", "skip_deletes = true", source="table"),
    "stream.table.skip_overwrites": at("stream.table", "skip_overwrites = true", source="table"),
    "stream.column.type": at(
        "columns", COLUMNS.replace('"id" { type = "long"', '"id" { type = "int"'), COLUMNS
    ),
    "stream.column.comment": at(
        "columns",
        COLUMNS.replace('"id" { type = "long"', '"id" {\n    type = "long"\n    comment = "c"\n  '),
        COLUMNS,
    ),
    "checkpoint.generation": at("checkpoint", "generation = 2"),
    "checkpoint.min_batches_to_retain": at("checkpoint", "min_batches_to_retain = 7"),
    "checkpoint.state_store": at("checkpoint", 'state_store = { provider = "rocksdb" }'),
    "job.engine": other("engine.local\n", "engine.second\n"),
    "job.checkpoint": other("checkpoint = checkpoint.x", "checkpoint = checkpoint.y"),
    "job.trigger": at("job", 'trigger = { processing_time = "9s" }'),
    "job.conf": at("job", 'conf = { "spark.sql.x" = "1" }'),
    "job.pool": at("job", 'pool = "fast"', engine="pools = { fast = { weight = 2 } }"),
    "job.restart": at("job", "restart = { max_failures = 9 }"),
    "job.stability": at("job", 'stability = { within = "9m" }'),
    "job.health": at("job", 'health = { max_batch_duration = "9m" }'),
    "job.foreach_batch": at("job", "foreach_batch = true", output="table = table.rows"),
    "job.accept_result_change": at("job", 'accept_result_change = "abcdefabcdef"'),
    "job.run": at("job", 'run = "manual"'),
    "job.stopped": at("job", "stopped = true"),
    "job.restart_nonce": at("job", "restart_nonce = 1"),
    "job.comment": at("job", 'comment = "c"'),
    "job.tags": at("job", 'tags = ["c"]'),
    "job.input.stream": other("stream = stream.orders", "stream = stream.third"),
    "job.input.table": other("    table = table.rows\n  }\n  step", "    table = table.more\n  }\n  step"),
    "job.input.files.path": other('"more"\n      format', '"less"\n      format', "batch"),
    "job.input.files.format": other('format = "json"', 'format = "parquet"', "batch"),
    "job.input.files.options": in_batch(f'{A_COLUMN}\n      options = {{ multiLine = "true" }}'),
    "job.input.files.columns": in_batch('columns = { a = "int" }'),
    "job.input.files.column.type": in_batch('column "a" { type = "int" }'),
    "job.input.files.column.comment": in_batch(A_COMMENT),
    "job.step.sql": other("id > 0", "id > 1"),
    "job.step.dedup": at("job.step", 'dedup = { keys = ["region"] }'),
    "job.step.watermark": at("job.step", 'watermark = { column = "ts", delay = "1m" }'),
    "job.output.table": other("table = table.rows\n    mode", "table = table.more\n    mode"),
    "job.output.merge": other('on = ["region"]', 'on = ["region", "n"]'),
    "job.output.branch": at("job.output", 'branch = "b"'),
    "job.output.rebuild": at("job.output", 'rebuild = "truncate"'),
    "stream.kafka.schema": (
        "avro",
        {"@avro@": f"jsonencode({RECORD})"},
        {"@avro@": f"jsonencode({RECORD.replace('R', 'S')})"},
    ),
    "stream.rate.rows_per_second": at(
        "stream.rate", "rows_per_second = 5", query=OF_RATE, stream=OF_TIME, source="rate"
    ),
    "stream.rate.ramp_up": at("stream.rate", 'ramp_up = "5s"', query=OF_RATE, stream=OF_TIME, source="rate"),
    "stream.rate.partitions": at(
        "stream.rate", "partitions = 5", query=OF_RATE, stream=OF_TIME, source="rate"
    ),
    "checkpoint.start_from": at("checkpoint", 'start_from = "earliest"'),
    "checkpoint.keep_generations": at("checkpoint", "keep_generations = 3"),
    "checkpoint.on_destroy": at("checkpoint", 'on_destroy = "delete"'),
    "job.code": (
        "files",
        {"@job@": 'code = "a"', "@query@": PYTHON},
        {"@job@": 'code = "b"', "@query@": PYTHON},
    ),
    "job.step.python": at("query", PYTHON.replace("one", "two"), PYTHON, job='code = "a"'),
    "job.step.params": at("job.step", "params = { a = 1 }", query=PYTHON, job='code = "a"'),
    "job.step.stateful": at(
        "job.step",
        "stateful = { state_version = 2 }",
        "stateful = { state_version = 1 }",
        query=PYTHON,
        job='code = "a"',
    ),
    "job.output.mode": at("output", "table = table.rows", TO_TABLE),
    "job.output.from": at("output", TO_TABLE + '\n    from = "orders"', TO_TABLE),
    "job.output.kafka.topic": at("output", TO_KAFKA.replace('"out"', '"elsewhere"'), TO_KAFKA),
    "job.output.kafka.connection": at("output", TO_KAFKA.replace("kafka.main", "kafka.other"), TO_KAFKA),
    "job.output.kafka.key": at("job.output.kafka", 'key = "region"', output=TO_KAFKA),
    "job.output.kafka.headers": at("job.output.kafka", 'headers = { "h" = "region" }', output=TO_KAFKA),
    "job.output.kafka.format": at("job.output.kafka", 'format = "text"', output=TO_KAFKA, query=ONE_VALUE),
    "job.output.kafka.options": at("job.output.kafka", 'options = { "linger.ms" = "5" }', output=TO_KAFKA),
    "job.output.options": at("job.output", 'options = { "fanout-enabled" = "true" }'),
}
"""The smallest change of each attribute that tells."""


def project(source: str, stateful: bool, texts: Texts) -> str:
    places = {
        "@columns@": COLUMNS,
        "@stream@": LATE,
        "@query@": f'sql = "{STATEFUL if stateful else STATELESS}"',
        "@output@": TO_TABLE,
        "@job.input.files@": A_COLUMN,
        **{place: text for place, text in texts.items() if place.startswith("@")},
    }
    whole = BATCH if source == "batch" else SOURCES[source] + LAKE
    for place, text in places.items():
        whole = whole.replace(place, text)
    for place, text in texts.items():
        if not place.startswith("@"):
            assert whole.count(place) == 1, (place, whole)
            whole = whole.replace(place, text)
    return re.sub(r"@[a-z.]+@", "", whole)


def both(path: str, stateful: bool, root: Path) -> tuple[Loaded, Loaded]:
    """The projects before and after the change of an attribute, in folders beside ``root``."""
    source, before, after = CASES[path] if path in CASES else NOTED[path][0]
    for name in ("old", "new"):
        for code in ("a", "b"):
            module = root.with_name(f"{root.name}-{name}") / code / "score.py"
            module.parent.mkdir(parents=True)
            module.write_text(
                f"def one(spark, inputs, params): return inputs['orders']\ntwo = one  # {code}\n"
            )
    old, new = (
        loaded(project(source, stateful, texts), root.with_name(f"{root.name}-{name}"))
        for name, texts in (("old", before), ("new", after))
    )
    wrong = [item for each in (old, new) for item in each.diagnostics if item.severity == "error"]
    assert not wrong, wrong
    return old, new


def planned(path: str, stateful: bool, root: Path) -> Iterator[Proposal]:
    """The plans of all that the attribute may concern."""
    source = (CASES[path] if path in CASES else NOTED[path][0])[0]
    old, new = both(path, stateful, root)
    facts = running(operators=("stateStoreSave",) if stateful and source != "batch" else ())
    pinned = {
        name: replace(output, conf={**output.conf, STORE: "org.apache.spark.HDFSBackedStateStoreProvider"})
        for name, output in facts.checkpoints.items()
    }
    yield proposal(new, old, replace(facts, checkpoints=pinned))
    if path.startswith("checkpoint."):
        yield proposal(new, old, NOT_LOOKED_AT, address="checkpoint.x")


COMPLETE = 'table = table.rows\n    mode  = "complete"'
NOTED: dict[str, tuple[Case, ChangeClass | None, ChangeClass]] = {
    "a topic more": (
        ("kafka", {TOPIC: 'topics = ["a"]'}, {TOPIC: 'topics = ["a", "b"]'}),
        ChangeClass.RESTART,
        ChangeClass.RESULTS_CHANGE,
    ),
    "a pattern that matches the topic": (
        ("kafka", {}, {TOPIC: 'topic_pattern = "orders.*"'}),
        ChangeClass.RESTART,
        ChangeClass.RESULTS_CHANGE,
    ),
    "a column that no step reads": (
        at("columns", COLUMNS.replace('"payload" { type = "string"', '"payload" { type = "long"'), COLUMNS),
        ChangeClass.RESTART,
        ChangeClass.RESTART,
    ),
    "another table that each batch replaces": (
        at("output", COMPLETE.replace("rows", "more"), COMPLETE),
        None,
        ChangeClass.RESTART,
    ),
    "a branch that each batch replaces": (
        at("output", f'{COMPLETE}\n    branch = "b"', COMPLETE),
        None,
        ChangeClass.RESTART,
    ),
    "another grouping key": (
        other("GROUP BY region, ", "GROUP BY region, payload, "),
        None,
        ChangeClass.NEW_GENERATION,
    ),
    "one more aggregate": (
        other("count(*) AS n", "count(*) AS n, max(id) AS m"),
        None,
        ChangeClass.NEW_GENERATION,
    ),
    "a setting that is listed": (
        at("job", 'conf = { "spark.sql.adaptive.enabled" = "false" }'),
        ChangeClass.RESTART,
        ChangeClass.RESTART,
    ),
    "a setting that is pinned": (
        at("job", 'conf = { "spark.sql.shuffle.partitions" = "7" }'),
        ChangeClass.NO_EFFECT,
        ChangeClass.NO_EFFECT,
    ),
}
"""The classes that notes of attributes claim beside the class, without and over state; None where the query
needs state.
"""


def class_of(plan: Proposal) -> ChangeClass:
    """The gravest class that a plan shows, whatever could not be observed here."""
    blockers = {blocker.code: " ".join(blocker.ways_out) for blocker in plan.blockers}
    effects = {step.effect for step in plan.steps}
    if "FIK062" in blockers:
        return ChangeClass.NEW_GENERATION if "generation =" in blockers["FIK062"] else ChangeClass.REFUSED
    if "FIK063" in blockers:
        return ChangeClass.RESULTS_CHANGE
    for effect, meant in (
        (Effect.NEW_GENERATION, ChangeClass.NEW_GENERATION),
        (Effect.RESTART, ChangeClass.RESTART),
        (Effect.STARTS, ChangeClass.RESTART),
        (Effect.STOPS, ChangeClass.STOPS),
        (Effect.LIVE, ChangeClass.LIVE),
        (Effect.NO_EFFECT, ChangeClass.NO_EFFECT),
    ):
        if effect in effects:
            return meant
    assert not effects, effects
    reasons = " ".join(plan.reasons)
    assert plan.action in (Action.RECORD, Action.NO_OP), plan.action
    if "next generation" in reasons or "generation is raised" in reasons:
        return ChangeClass.NEXT_GENERATION
    if "no effect" in reasons:
        return ChangeClass.NO_EFFECT
    if "next run" in reasons:
        return ChangeClass.NEXT_RUN
    return ChangeClass.RECORDED


ELSEWHERE = {
    "engine": {},
    "stream": {
        "kafka.fail_on_data_loss": "true is its only value",
        "kafka.subject": "needs a schema registry",
    },
    "checkpoint": {"location": "golden cases checkpoint/moves*"},
    "job": {
        "mode": "golden case job/mode_on_state",
        "output.kafka.schema": "needs a schema registry",
        "output.kafka.subject": "needs a schema registry",
    },
}
"""Attributes by type that are tried elsewhere, or not at all, and where or why."""


def declared(type_: str) -> dict[str, OnChange | None]:
    return dict(changes_of(installed().registry.types[type_].schema))


def test_each_attribute_has_a_class_and_a_case() -> None:
    for type_, elsewhere in ELSEWHERE.items():
        known = declared(type_)
        assert {name for name, on_change in known.items() if on_change is None} <= set(elsewhere)
        tried = {path.removeprefix(f"{type_}.") for path in CASES if path.startswith(f"{type_}.")}
        assert tried | set(elsewhere) == set(known)
        assert not tried & set(elsewhere)


@pytest.mark.parametrize("path", CASES)
def test_the_plan_comes_to_the_class_of_the_reference(path: str, tmp_path: Path) -> None:
    type_, _, name = path.partition(".")
    on_change = declared(type_)[name]
    assert on_change is not None
    order = list(ChangeClass)
    without, over = (
        max(map(class_of, planned(path, stateful, tmp_path / str(stateful))), key=order.index)
        for stateful in (False, True)
    )
    assert without == on_change.does
    if CASES[path][0] != "batch":
        assert over == (on_change.over_state or on_change.does)


@pytest.mark.parametrize("claim", NOTED)
def test_the_plan_comes_to_what_a_note_of_the_reference_claims(claim: str, tmp_path: Path) -> None:
    _case, without, over = NOTED[claim]
    for stateful, expected in ((False, without), (True, over)):
        if expected is not None:
            (plan,) = planned(claim, stateful, tmp_path / str(stateful))
            assert class_of(plan) == expected
