"""The faults of streams, checkpoints and jobs are reported before any system is asked, at their place."""

from pathlib import Path

import pytest

from flareiac.kernel.column_types import TypeTextError
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Severity
from flareiac.sdk.changes import Relation
from flareiac.sdk.references import Resolved
from flareiac_spark.column_types import Column, whole_columns
from flareiac_spark.definition.usages import usages
from tests.spark.declared import BATCH, LAKE, STATEFUL, STATELESS, loaded

ONE_OUTPUT = 'output "orders" { table = table.orders }'
TWO_OUTPUTS = """step "counted" { sql = "AFTER" }
  foreach_batch = true
  output "orders" {
    table = table.orders
    from  = "clean"
  }
  output "counted" { table = table.hourly }"""
UNRELATED = """input "more" { stream = stream.orders }
  step "other" { sql = "SELECT id FROM more" }
  foreach_batch = true
  output "orders" {
    table = table.orders
    from  = "clean"
  }
  output "others" { table = table.regions }"""


@pytest.mark.parametrize("job", [STATELESS, STATEFUL, BATCH])
def test_good_jobs_are_left_alone(job: str, tmp_path: Path) -> None:
    assert loaded(LAKE + job, tmp_path).codes == []


ON_YARN = 'type = "spark_submit"\nmaster = "yarn"'
STANDALONE = 'type = "spark_submit"\nmaster = "spark://a:7077"'
ENGINES = (
    ('type = "spark_submit"', "FIK430"),
    ('type = "spark_submit"\nmaster = "local[4]"', "FIK430"),
    ('type = "spark_submit"\nmaster = "spark://host"', "FIK430"),
    ('type = "spark_submit"\nmaster = "mesos://host:5050"', "FIK430"),
    ('type = "external"\nmaster = "standalone"', "FIK430"),
    ('type = "spark_submit"\nmaster = "spark://a:7077"\ndeploy_mode = "cluster"', "FIK431"),
    ('type = "spark_submit"\nmaster = "yarn"\ndeploy_mode = "cluster"', "FIK431"),
    ('deploy_mode = "cluster"\nruntime_location = "s3://b/x"', "FIK431"),
    ('executor = { cores = 2 }', "FIK432"),
    ('submit_options = { queue = "etl" }', "FIK432"),
    ('type = "spark_submit"\nmaster = "yarn"\nsubmit_options = { queu = "etl" }', "FIK433"),
    ('type = "spark_submit"\nmaster = "yarn"\nsubmit_options = { "--queue" = "etl" }', "FIK433"),
    ('type = "spark_submit"\nmaster = "yarn"\nsubmit_options = { "executor-memory" = "4g" }', "FIK002"),
    (f'{ON_YARN}\nsubmit_options = {{ queue = "a" }}\nconf = {{ "spark.yarn.queue" = "b" }}', "FIK032"),
    (f'{STANDALONE}\nexecutor = {{ instances = 2, cores = 2 }}\nconf = {{ "spark.cores.max" = "5" }}', "FIK032"),
    ('type = "spark_submit"\nmaster = "yarn"\nexecutor = { instances = 0 }', "FIL204"),
    ('type = "spark_submit"\nmaster = "yarn"\nexecutor = { memory = "lots" }', "FIL204"),
    ('driver = { memory = "2 gb" }', "FIL204"),
    ("pools = { etl = { weight = 0 } }", "FIK440"),
    ("pools = { etl = { weight = 1.5 } }", "FIK440"),
    ("pools = { etl = { min_share = -1 } }", "FIK440"),
    ('pools = { "job.x" = { weight = 2 } }', "FIK440"),
    ('pools = { etl = {} }\nconf = { "spark.scheduler.mode" = "FIFO" }', "FIK440"),
    ('conf = { "spark.scheduler.allocation.file" = "pools.xml" }', "FIK002"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("job", "edit", "code"),
    [
        (STATELESS, ("checkpoint = checkpoint.x", ""), "FIK036"),
        (BATCH, ('mode = "batch"', 'mode = "batch"\n  checkpoint = checkpoint.x'), "FIK171"),
        (STATELESS, ('processing_time = "30s"', 'continuous = "1s"'), "FIK169"),
        (STATELESS, ('processing_time = "30s"', 'real_time = "5m"'), "FIK169"),
        (STATELESS, ('processing_time = "30s"', 'processing_time = "soon"'), "FIK013"),
        (STATELESS, ('processing_time = "30s"', 'processing_time = "30s", once = true'), "FIK168"),
        (BATCH, ('mode = "batch"', 'mode = "batch"\n  trigger = { once = true }'), "FIK034"),
        (STATELESS, ('trigger    = { processing_time = "30s" }', 'mode = "incremental"'), "FIK035"),
        (STATELESS, ("FROM orders WHERE", "FROM ordrs WHERE"), "FIK039"),
        (STATELESS, ("FROM orders WHERE", "FROM lake.demo.orders WHERE"), "FIK039"),
        (STATELESS, ("{ table = table.orders }", ('{\n    table = table.orders\n    from = "clan"\n  '
            '}')), "FIK174"),
        (STATELESS, ("{ table = table.orders }", ('{\n    table = table.orders\n    mode = "complete"\n  '
            '}')), "FIK178"),
        (STATELESS, ("{ table = table.orders }", ('{\n    table = table.orders\n    merge = { on = ["id"] '
            '}\n  }')), "FIK175"),
        (STATELESS, ("{ table = table.orders }", ('{\n    table = table.orders\n    mode = "merge"\n  '
            '}')), "FIK040"),
        (STATELESS, ("{ table = table.orders }", ('{\n    table = table.orders\n    mode = "update"\n  '
            '}')), "FIK176"),
        (STATEFUL, ('watermark = { column = "ts", delay = "10m" }', ""), "FIK041"),
        (STATELESS, ('step "clean"', 'step "orders"'), "FIK038"),
        (STATELESS, ('sql = "SELECT id, region FROM orders WHERE id > 0"', 'python = "m:f"'), "FIK180"),
        (STATELESS, ("{ stream = stream.orders }", "{ table = table.regions }"), "FIK037"),
        (BATCH, ('mode = "batch"', 'mode = "batch"\n  input "s" { stream = stream.orders }'), "FIK173"),
        (STATELESS, ('delay = "10m"', 'delay = "late"'), "FIK013"),
        (STATELESS, ('column = "ts", delay', 'column = "tss", delay'), "FIK163"),
        (STATELESS, ('column "ts" { type = "timestamptz" }', 'column "ts" { type = "timestamp" }'), "FIK012"),
        (STATELESS, ('path   = "landing"', 'path   = "s3://bucket/landing"'), "FIK014"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "gs://bucket/x" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "s3:/bucket/x" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "s3://" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "s3://bucket/" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "s3://bucket/a/../b" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "s3://Bucket/x" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', 'checkpoint "x" { location = "S3:bucket/x" }'), "FIK020"),
        (STATELESS, ('checkpoint "x" {}', ('checkpoint "x" { state_store = { provider = "rocks" } '
            '}')), "FIK021"),
        (STATELESS, ('job "x" {', 'job "x" {\n  pool = "etl"'), "FIK441"),
        (STATELESS, ('job "x" {', 'engine "e" { pools = { etl = {} } }\njob "x" {\n  pool = "elt"'), "FIK441"),
        (STATELESS, ('job "x" {', 'job "x" {\n  conf = { "spark.scheduler.pool" = "etl" }'), "FIK002"),
        (STATELESS, ('job "x" {', 'engine "e" { type = "emr_serverless" }\njob "x" {'), "FIK001"),
        (STATELESS, ('job "x" {', 'engine "e" { master = "yarn" }\njob "x" {'), "FIK160"),
        *((STATELESS, ('job "x" {', f'engine "e" {{\n{lines}\n}}\njob "x" {{'), code) for lines, code in ENGINES),
        (STATELESS, ('job "x" {', ('job "x" {\n  conf = { "spark.sql.streaming.stateStore.stateSchemaCheck" '
            '= "false" }')), "FIK002"),
        (STATELESS, ('job "x" {', 'job "x" {\n  stability = { on_failure = "retry" }'), "FIK033"),
        (STATELESS, (ONE_OUTPUT, TWO_OUTPUTS.replace("AFTER", "SELECT max(id) AS n FROM clean")), "FIK047"),
        (STATELESS, (ONE_OUTPUT, TWO_OUTPUTS.replace("AFTER", "SELECT DISTINCT id FROM clean")), "FIK047"),
        (STATELESS, (ONE_OUTPUT, UNRELATED), "FIK046"),
        (STATELESS, ('column "unread" { type = "string" }', 'bad_records = { action = "skip" }'), "FIK016"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(job: str, edit: tuple[str, str], code: str, tmp_path: Path) -> None:
    text = (LAKE + job).replace(*edit)
    assert text != LAKE + job, "the edit changes something"
    found = loaded(text, tmp_path)
    assert code in found.codes, found.diagnostics
    diagnostic = next(item for item in found.diagnostics if item.code == code)
    assert diagnostic.severity is Severity.ERROR
    assert diagnostic.detail
    assert diagnostic.subject is not None


def test_an_unknown_relation_gets_a_suggestion_inside_the_step(tmp_path: Path) -> None:
    found = loaded((LAKE + STATELESS).replace("FROM orders WHERE", "FROM ordrs WHERE"), tmp_path)
    diagnostic = next(item for item in found.diagnostics if item.code == "FIK039")
    assert 'Did you mean "orders"?' in diagnostic.detail
    assert diagnostic.attribute == ("step", "clean", "sql")


def test_sql_that_can_not_be_read_here_is_left_to_spark(tmp_path: Path) -> None:
    found = loaded((LAKE + STATELESS).replace("WHERE id > 0", "SOMETHING ? ODD"), tmp_path)
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("FIK358", Severity.WARNING)
    assert "cannot parse" in diagnostic.detail


def test_a_name_that_is_computed_is_left_to_spark(tmp_path: Path) -> None:
    text = (LAKE + STATELESS).replace("FROM orders WHERE", "FROM IDENTIFIER('ord' || 'ers') WHERE")
    (diagnostic,) = loaded(text, tmp_path).diagnostics
    assert (diagnostic.code, diagnostic.severity) == ("FIK358", Severity.WARNING)
    assert "computes a name with IDENTIFIER" in diagnostic.detail
    assert "cannot parse" not in diagnostic.detail


def test_growing_state_is_a_warning(tmp_path: Path) -> None:
    text = (LAKE + STATELESS).replace('watermark = { column = "ts", delay = "10m" }', "")
    found = loaded(
        text.replace("SELECT id, region FROM orders WHERE id > 0", "SELECT DISTINCT id, region FROM orders"),
        tmp_path,
    )
    assert [(item.code, item.severity) for item in found.diagnostics] == [("FIK042", Severity.WARNING)]


@pytest.mark.parametrize(("marks", "codes"), [(0, ["FIK042"]), (1, ["FIK042"]), (2, [])])
def test_a_join_of_streams_is_bounded_only_with_a_watermark_on_each(
    tmp_path: Path, marks: int, codes: list[str]
) -> None:
    streams = "".join(
        f"""
stream "{name}" {{
  files {{
    path   = "{name}"
    format = "json"
  }}
  column "id" {{ type = "long" }}
  column "ts" {{ type = "timestamptz" }}
  {'watermark = { column = "ts", delay = "10m" }' if number < marks else ""}
}}
"""
        for number, name in enumerate(("left", "right"))
    )
    job = """
table "t" {
  namespace = "n"
  column "id" { type = "long" }
}
checkpoint "j" {}
job "j" {
  checkpoint = checkpoint.j
  input "l" { stream = stream.left }
  input "r" { stream = stream.right }
  step "s" { sql = "SELECT l.id FROM l JOIN r ON l.id = r.id AND l.ts >= r.ts AND l.ts <= r.ts + INTERVAL 1 HOUR" }
  output "o" { table = table.t }
}
"""
    assert loaded(streams + job, tmp_path).codes == codes


@pytest.mark.parametrize(
    ("sql", "codes"),
    [
        (
            (
                "SELECT region, count(*) AS n FROM orders WHERE rand() < 0.5 GROUP BY region, window(ts, '1 "
                "hour')"
            ),
            ["FIK145"],
        ),
        (
            (
                "SELECT region, count(*) AS n FROM orders WHERE ts < current_timestamp() GROUP BY region, "
                "window(ts, '1 hour')"
            ),
            [],
        ),
        ("SELECT region, uuid() AS id FROM orders", []),
    ],
)
def test_random_values_below_state_are_named(tmp_path: Path, sql: str, codes: list[str]) -> None:
    text = (LAKE + STATELESS).replace("SELECT id, region FROM orders WHERE id > 0", sql)
    assert [item for item in loaded(text, tmp_path).codes if item == "FIK145"] == codes


def test_paths_are_kept_relative_to_the_root(tmp_path: Path) -> None:
    found = loaded((LAKE + STATELESS).replace('"landing"', f'"{tmp_path}/sub/../landing"'), tmp_path)
    assert found.attributes()["inputs"]["orders"]["source"]["path"] == "landing"
    assert found.attributes("checkpoint.x")["location"] == ".flareiac/checkpoints/default/x"


def test_claims_name_tables_and_the_checkpoint(tmp_path: Path) -> None:
    text = STATELESS.replace("input", 'input "regions" { table = table.regions }\n  input')
    found = loaded(LAKE + text, tmp_path)
    held = {
        (usage.relation, usage.subject) for usage in usages("job.x", found.attributes(), found.references())
    }
    assert held == {
        (Relation.WRITES, "table.orders"),
        (Relation.LOOKS_UP, "table.regions"),
        (Relation.KEEPS_STATE_IN, "checkpoint.x"),
        (Relation.HOLDS_ALONE, ".flareiac/checkpoints/default/x"),
    }


def test_a_writer_is_known_by_the_queries_that_are_recorded_of_it(tmp_path: Path) -> None:
    found = loaded(LAKE + STATELESS, tmp_path)

    def queries(identity: Attributes) -> list[tuple[str, ...] | None]:
        own = Resolved(address="job.x", type="job", attributes=found.attributes(), identity=identity)
        held = usages("job.x", found.attributes(), {**found.references(), "job.x": own})
        return [usage.queries for usage in held if usage.relation is Relation.WRITES]

    assert queries({}) == [None]
    assert queries({"former_queries": ["q-0"]}) == [None]
    assert queries({"queries": {"orders": {"id": "q-1"}}, "former_queries": ["q-0"]}) == [("q-1", "q-0")]
    batch = loaded(LAKE + BATCH, tmp_path)
    assert [usage.queries for usage in usages("job.x", batch.attributes(), batch.references())] == [()]


def test_a_batch_job_completes_what_it_writes(tmp_path: Path) -> None:
    found = loaded(LAKE + BATCH, tmp_path)
    assert [usage.completes for usage in usages("job.x", found.attributes(), found.references())] == [True]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("bigint", ("long", False)),
        ("LONG NOT NULL", ("long", True)),
        ("decimal( 12 , 2 )", ("decimal(12,2)", False)),
        ("struct<a:int,b: list<string not null>>", ("struct<a: int, b: list<string not null>>", False)),
        ("map<string, array<bigint>>", ("map<string, list<long>>", False)),
    ],
)
def test_types_have_one_spelling(text: str, normal: tuple[str, bool]) -> None:
    column = Column.declared("a", text)
    assert (column.type, column.required) == normal
    assert Column.declared("a", normal[0]).type == normal[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lon",
        "timestamp",
        "list<",
        "list<int",
        "struct<a int>",
        "decimal(40,2)",
        "int int",
        "int not",
        "map<int>",
        "?",
    ],
)
def test_what_is_no_type_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(TypeTextError, match=r"[.?]$"):
        Column.declared("a", text)


def test_flat_columns_become_whole_ones() -> None:
    flat = {
        "a": {"type": "struct", "required": True},
        "a.b": {"type": "list", "required": False},
        "a.b.element": {"type": "int", "required": True},
        "m": {"type": "map", "required": False},
        "m.key": {"type": "string", "required": True},
        "m.value": {"type": "long", "required": False},
    }
    assert whole_columns(flat, list(flat)) == [
        Column(name="a", type="struct<b: list<int not null>>", required=True),
        Column(name="m", type="map<string, long>"),
    ]
