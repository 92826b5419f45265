"""The effect of a change of a job's definition on its query: nothing, a restart, or a refusal that names the
ways out.
"""

from pathlib import Path

import pytest

from flareiac.sdk.changes import Action, Effect, Impact, Proposal, Reaction, Relation
from flareiac_spark.definition.build import query_digest, spec_of
from flareiac_spark.job.identity import left_behind
from flareiac_spark.observation.job import JobFacts, OutputFacts
from tests.spark.declared import (
    BATCH,
    LAKE,
    NOT_LOOKED_AT,
    QUERY,
    STATEFUL,
    STATELESS,
    loaded,
    proposal,
    running,
)

AGGREGATES = ("stateStoreSave",)
Edit = tuple[str, str]


def change(root: Path, job: str, edit: Edit, facts: JobFacts) -> Proposal:
    before = loaded(LAKE + job, root)
    text = (LAKE + job).replace(*edit)
    assert text != LAKE + job, "the edit changes something"
    after = loaded(text, root)
    assert not before.diagnostics
    assert not after.diagnostics
    return proposal(after, before, facts)


def effects(found: Proposal) -> list[Effect]:
    return [step.effect for step in found.steps]


@pytest.mark.parametrize("job", [STATELESS, STATEFUL, BATCH])
def test_nothing_changed(job: str, tmp_path: Path) -> None:
    same = loaded(LAKE + job, tmp_path)
    assert not same.diagnostics
    found = proposal(same, same, running(operators=AGGREGATES))
    assert (found.action, found.steps, found.changes, found.drift) == (Action.NO_OP, (), (), ())


@pytest.mark.parametrize(
    "edit",
    [
        ("checkpoint = checkpoint.x", 'checkpoint = checkpoint.x\n  comment = "why"'),
        ("checkpoint = checkpoint.x", 'checkpoint = checkpoint.x\n  tags = ["a"]'),
        ("checkpoint = checkpoint.x", 'checkpoint = checkpoint.x\n  stability = { within = "5m" }'),
    ],
)
def test_what_is_no_part_of_what_runs_is_only_recorded(edit: Edit, tmp_path: Path) -> None:
    found = change(tmp_path, STATELESS, edit, running())
    assert (found.action, found.steps, found.blockers) == (Action.RECORD, (), ())


@pytest.mark.parametrize(
    "edit",
    [
        (
            'column "unread" { type = "string" }',
            'column "unread" { type = "int" }\n  column "another" { type = "date" }',
        ),
        (
            'column "n" { type = "long" }',
            'column "n" { type = "long" }\n  column "later" { type = "string" }',
        ),
    ],
)
def test_columns_that_the_job_does_not_touch_are_no_change_of_it(edit: Edit, tmp_path: Path) -> None:
    # By the newest rules records are judged by every column
    hcl = LAKE.replace('format = "json"', 'format = "json"\n    reading = 1') + STATEFUL
    before, after = loaded(hcl, tmp_path), loaded(hcl.replace(*edit), tmp_path)
    assert proposal(after, before, running(operators=AGGREGATES)).action is Action.NO_OP


@pytest.mark.parametrize(
    "edit",
    [
        ("WHERE id > 0", "WHERE id > 1"),
        ('processing_time = "30s"', 'processing_time = "60s"'),
        ('format = "json"', 'format = "json"\n    max_files_per_trigger = 5'),
        ('format = "json"', 'format = "json"\n    max_file_age = "30d"'),
        ('column "id" { type = "long" }', 'column "id" { type = "int" }'),
        ('delay = "10m"', 'delay = "20m"'),
        ("checkpoint = checkpoint.x", ('checkpoint = checkpoint.x\n  conf = { "spark.sql.ansi.enabled" = '
            '"false" }')),
        ("{ table = table.orders }", ('{\n    table = table.orders\n    options = { "fanout-enabled" = '
            '"true" }\n  }')),
        ("checkpoint = checkpoint.x", "checkpoint = checkpoint.x\n  restart_nonce = 1"),
    ],
)  # fmt: skip
def test_what_runs_restarts_on_its_checkpoint(edit: Edit, tmp_path: Path) -> None:
    found = change(tmp_path, STATELESS, edit, running())
    assert (found.action, found.blockers) == (Action.UPDATE, ())
    assert effects(found) == [Effect.RESTART]
    assert found.steps[0].why


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (
            ('column "ts" { type = "timestamptz" }', 'column "ts" { type = "timestamp_ntz" }'),
            "The type of ts of orders",
        ),
        (('path   = "landing"', 'path   = "elsewhere"'), "What a stream reads"),
        (('output "hourly"', 'output "other"'), "The name of output hourly"),
        (("SELECT window", "SELECT max(id) AS id, window"), "An aggregate more"),
        (("GROUP BY window(ts, '1 hour')", "GROUP BY window(ts, '1 hour'), region"), "The grouping keys"),
    ],
)
def test_what_state_refuses_needs_a_new_generation(edit: Edit, what: str, tmp_path: Path) -> None:
    found = change(tmp_path, STATEFUL, edit, running(operators=AGGREGATES))
    assert found.action is Action.UPDATE
    assert found.blockers
    blocker = found.blockers[0]
    assert what.lower() in blocker.why.lower()
    assert blocker.ways_out[0].startswith("undo: ")
    assert "generation = 2" in blocker.ways_out[1]


def test_another_checkpoint_is_no_way_on(tmp_path: Path) -> None:
    found = change(
        tmp_path,
        STATEFUL,
        ('checkpoint "x" {}', 'checkpoint "x" { location = "elsewhere" }'),
        running(operators=AGGREGATES),
    )
    assert "nother checkpoint" in found.blockers[0].why
    assert not any("generation" in way for way in found.blockers[0].ways_out)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (("'1 hour'", "'2 hours'"), "the window"),
        (("count(*) AS n", "count_if(id > 3) AS n"), "an aggregate"),
        (("FROM orders GROUP", "FROM orders WHERE id > 0 GROUP"), "a filter before the state"),
        (('delay = "10m"', 'delay = "20m"'), "the watermark of orders"),
        (
            (
                "checkpoint = checkpoint.x",
                'checkpoint = checkpoint.x\n  conf = { "spark.sql.session.timeZone" = "CET" }',
            ),
            "timeZone",
        ),
        (("FROM orders GROUP", "FROM orders LATERAL ? ODD GROUP"), "the query"),
        (
            ('format = "json"', 'format = "json"\n    options = { timestampFormat = "yyyy" }'),
            "how orders is read",
        ),
    ],
)
def test_what_state_takes_in_silence_needs_a_word_for_exactly_it(
    edit: Edit, what: str, tmp_path: Path
) -> None:
    facts = running(operators=AGGREGATES)
    blocker = change(tmp_path, STATEFUL, edit, facts).blockers[0]
    assert blocker.code == "FIK063"
    assert what.lower() in blocker.why.lower()
    token = next(way.split('"')[1] for way in blocker.ways_out if "accept_result_change" in way)
    before = loaded(LAKE + STATEFUL, tmp_path)
    word = ('  output "hourly"', f'  accept_result_change = "{token}"\n  output "hourly"')
    accepted = proposal(loaded((LAKE + STATEFUL).replace(*edit).replace(*word), tmp_path), before, facts)
    assert accepted.blockers == ()
    assert {Effect.RESTART, Effect.RESULTS_CHANGE} <= set(effects(accepted))
    other = proposal(
        loaded((LAKE + STATEFUL).replace("'1 hour'", "'3 hours'").replace(*word), tmp_path), before, facts
    )
    assert [item.code for item in other.blockers] == ["FIK063"]


def test_the_way_back_quotes_only_what_was_written(tmp_path: Path) -> None:
    """Spark keeps aggregates in the order of the table's columns."""
    columns = 'column "hi" { type = "long" }\n  column "lo" { type = "long" }'
    lake = LAKE.replace('column "n" { type = "long" }', columns)
    job = STATEFUL.replace("count(*) AS n", "min(id) AS lo, max(id) AS hi")
    swapped = job.replace("min(id) AS lo, max(id) AS hi", "max(id) AS lo, min(id) AS hi")
    old, new = loaded(lake + job, tmp_path / "old"), loaded(lake + swapped, tmp_path / "new")
    (blocker,) = proposal(new, old, running(operators=AGGREGATES)).blockers
    assert blocker.code == "FIK063"
    assert "undo: write the old SQL again" in blocker.ways_out


def test_state_of_a_definition_that_was_not_recorded_is_not_gone_on_from_in_silence(tmp_path: Path) -> None:
    """An apply that failed had set another one to run."""
    same = loaded(LAKE + STATEFUL, tmp_path)
    facts = running(operators=AGGREGATES, digest="another", query="what it computes")
    found = proposal(same, same, facts)
    assert [item.code for item in found.blockers] == ["FIK093"]
    token = next(way.split('"')[1] for way in found.blockers[0].ways_out if "accept_result_change" in way)
    accepted = loaded(
        (LAKE + STATEFUL).replace("  output", f'  accept_result_change = "{token}"\n  output'), tmp_path
    )
    assert proposal(accepted, same, facts).blockers == ()
    wanted = query_digest(spec_of("job.x", same.attributes(), same.references(), same.project, analysis=True))
    assert proposal(same, same, running(operators=AGGREGATES, digest="another", query=wanted)).blockers == ()


def test_another_rate_gives_other_numbers_for_the_same_offsets(tmp_path: Path) -> None:
    rate = """
stream "ticks" {
  rate { rows_per_second = 2 }
}
job "x" {
  checkpoint = checkpoint.x
  input "ticks" { stream = stream.ticks }
  step "numbers" { sql = "SELECT value AS id FROM ticks" }
  output "orders" { table = table.orders }
}
"""
    found = change(tmp_path, rate, ("rows_per_second = 2", "rows_per_second = 5"), running())
    assert [item.code for item in found.blockers] == ["FIK063"]


def test_python_may_read_any_column_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text("def enriched(spark, inputs, params):\n    return inputs\n")
    job = STATELESS.replace(
        'step "clean" { sql = "SELECT id, region FROM orders WHERE id > 0" }',
        'step "clean" { python = "steps:enriched" }',
    ).replace("checkpoint = checkpoint.x", 'checkpoint = checkpoint.x\n  code       = "."')
    edit = (
        'column "unread" { type = "string" }',
        'column "unread" { type = "string" }\n  column "more" { type = "string" }',
    )
    before, after = loaded(LAKE + job, tmp_path), loaded((LAKE + job).replace(*edit), tmp_path)
    found = proposal(after, before, running())
    assert effects(found) == [Effect.RESTART]
    assert found.steps[0].why == "it has Python, which may read any column"


def test_a_renamed_step_is_taken_to_mean_the_same(tmp_path: Path) -> None:
    found = change(tmp_path, STATEFUL, ('step "hourly"', 'step "renamed"'), running(operators=AGGREGATES))
    assert (found.action, found.blockers) == (Action.UPDATE, ())
    assert [(step.text, step.effect) for step in found.steps] == [("the division into steps", Effect.TAKEN)]


@pytest.mark.parametrize("edit", [("SELECT window", "/* hours */  select window")])
def test_reformatted_sql_is_no_change(edit: Edit, tmp_path: Path) -> None:
    found = change(tmp_path, STATEFUL, edit, running(operators=AGGREGATES))
    assert (found.action, found.steps, found.changes, found.blockers) == (Action.NO_OP, (), (), ())


def test_another_text_of_the_same_meaning_is_a_change_that_restarts_nothing(tmp_path: Path) -> None:
    edit = (
        "SELECT id, region FROM orders WHERE id > 0",
        "select  region_.id,  region_.region FROM orders AS region_ where region_.id > 0",
    )
    found = change(tmp_path, STATELESS, edit, running())
    assert (found.action, found.blockers, found.stages) == (Action.UPDATE, (), ())
    assert [step.effect for step in found.steps] == [Effect.TAKEN]


def test_state_is_not_added_to_a_checkpoint_without_any(tmp_path: Path) -> None:
    edit = ("SELECT id, region FROM orders WHERE id > 0", "SELECT DISTINCT id, region FROM orders")
    assert change(tmp_path, STATELESS, edit, running()).blockers


@pytest.mark.parametrize("edit", [("'1 hour'", "'2 hours'"), ('delay = "10m"', 'delay = "20m"')])
def test_before_the_first_batch_there_is_no_state_to_protect(edit: Edit, tmp_path: Path) -> None:
    found = change(tmp_path, STATEFUL, edit, running(committed=None))
    assert (effects(found), found.blockers) == ([Effect.RESTART], ())


def test_other_sources_are_refused_without_state_too(tmp_path: Path) -> None:
    found = change(tmp_path, STATELESS, ('path   = "landing"', 'path   = "elsewhere"'), running())
    assert [item.code for item in found.blockers] == ["FIK062"]


def test_a_raised_generation_lifts_the_refusal(tmp_path: Path) -> None:
    before = loaded(LAKE + STATEFUL, tmp_path)
    text = (LAKE + STATEFUL).replace("'1 hour'", "'2 hours'")
    after = loaded(
        text.replace('checkpoint "x" {}', 'checkpoint "x" {\n  generation = 2\n  start_from = "earliest"\n}'),
        tmp_path,
    )
    found = proposal(after, before, running(operators=AGGREGATES))
    assert found.blockers == ()
    assert {Effect.RESTART, Effect.NEW_GENERATION, Effect.RESULTS_CHANGE} <= set(effects(found))
    checkpoint = proposal(after, before, JobFacts(), address="checkpoint.x")
    assert (checkpoint.blockers, effects(checkpoint)) == ((), [Effect.NEW_GENERATION])


def test_a_generation_only_goes_up(tmp_path: Path) -> None:
    before = loaded(LAKE + STATEFUL, tmp_path)
    after = loaded(
        (LAKE + STATEFUL).replace('checkpoint "x" {}', 'checkpoint "x" { generation = 2 }'), tmp_path
    )
    assert proposal(after, before, JobFacts(), address="checkpoint.x").blockers == ()
    assert [item.code for item in proposal(before, after, JobFacts(), address="checkpoint.x").blockers] == [
        "FIK022"
    ]


def test_pinned_settings_have_no_effect(tmp_path: Path) -> None:
    edit = (
        "checkpoint = checkpoint.x",
        'checkpoint = checkpoint.x\n  conf = { "spark.sql.shuffle.partitions" = "9" }',
    )
    found = change(tmp_path, STATEFUL, edit, running(operators=AGGREGATES))
    assert (found.action, effects(found)) == (Action.NO_OP, [Effect.NO_EFFECT])


def test_an_engine_setting_restarts_the_application(tmp_path: Path) -> None:
    engine = 'engine "local" { driver = { memory = "2g" } }\n'
    before, after = (
        loaded(engine + LAKE + STATEFUL, tmp_path),
        loaded(engine.replace("2g", "3g") + LAKE + STATEFUL, tmp_path),
    )
    found = proposal(after, before, running(operators=AGGREGATES))
    assert effects(found) == [Effect.RESTART]
    assert "all its jobs" in found.steps[0].why


def test_a_finite_job_runs_again_when_its_definition_changes(tmp_path: Path) -> None:
    facts = JobFacts(digest="d", state="stopped", phase="completed")
    found = change(tmp_path, BATCH, ("SELECT region, name", "SELECT region, upper(name) AS name"), facts)
    assert (found.action, effects(found)) == (Action.UPDATE, [Effect.STARTS])


def test_stopping_and_starting(tmp_path: Path) -> None:
    runs = loaded(LAKE + STATELESS, tmp_path)
    stopped = loaded(
        (LAKE + STATELESS).replace(
            "checkpoint = checkpoint.x", "checkpoint = checkpoint.x\n  stopped = true"
        ),
        tmp_path,
    )
    assert effects(proposal(stopped, runs, running())) == [Effect.STOPS]
    at_rest = running(state="stopped", alive=False)
    assert effects(proposal(runs, stopped, at_rest)) == [Effect.STARTS]
    assert proposal(stopped, stopped, at_rest).action is Action.NO_OP


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (running(alive=False), "is not running"),
        (running(phase="failed", error="X: y"), "it is down: it failed: X: y"),
        (running(state="stopped"), "stopped by hand"),
        (running(digest="other"), "another definition"),
    ],
)
def test_drift_is_told_and_healed(facts: JobFacts, says: str, tmp_path: Path) -> None:
    same = loaded(LAKE + STATELESS, tmp_path)
    found = proposal(same, same, facts)
    assert found.action is Action.UPDATE
    assert says in found.drift[0]
    assert effects(found) == [Effect.STARTS]


def test_a_job_that_should_not_run_any_more_is_drift(tmp_path: Path) -> None:
    same = loaded(LAKE + STATELESS, tmp_path)
    found = proposal(same, same, None)
    assert (found.action, bool(found.drift)) == (Action.CREATE, True)


def test_a_dead_application_is_no_drift_of_a_finished_run(tmp_path: Path) -> None:
    same = loaded(LAKE + BATCH, tmp_path)
    facts = JobFacts(digest="d", state="stopped", alive=False, phase="completed")
    assert proposal(same, same, facts, identity={"result": {"run_id": "d"}}).action is Action.NO_OP


@pytest.mark.parametrize("on_disk", [None, "11111111-2222-3333-4444-555555555555"])
def test_a_lost_checkpoint_is_never_replaced_by_an_empty_one(on_disk: str | None, tmp_path: Path) -> None:
    same = loaded(LAKE + STATELESS.replace('output "orders"', 'output "out"'), tmp_path)
    facts = running(alive=False) if on_disk else running(alive=False, checkpoints={})
    queries = {"out": {"id": QUERY if on_disk is None else on_disk}}
    found = proposal(same, same, facts, identity={"queries": queries})
    assert [item.code for item in found.blockers] == ["FIK060"]


def test_a_new_job_must_fit_the_checkpoint_it_finds(tmp_path: Path) -> None:
    new = loaded(LAKE + STATELESS, tmp_path)
    assert proposal(new, None, running()).blockers == ()
    rate = new.attributes()
    rate["inputs"]["orders"]["source"] = {
        "kind": "rate",
        "rows_per_second": 1,
        "ramp_up": None,
        "partitions": None,
    }
    assert [item.code for item in proposal(new, None, running()).blockers] == ["FIK061"]


@pytest.mark.parametrize(
    ("reaction", "action"),
    [
        (Reaction.STOPS_FIRST, Action.UPDATE),
        (Reaction.RESTARTS, Action.UPDATE),
        (Reaction.RUNS_ON, Action.NO_OP),
    ],
)
def test_changes_of_tables_reach_the_queries_on_them(
    reaction: Reaction, action: Action, tmp_path: Path
) -> None:
    same = loaded(LAKE + STATELESS, tmp_path)
    disturbance = Impact(relation=Relation.WRITES, reaction=reaction, reason="a written column is dropped")
    found = proposal(same, same, running(), disturbances=(disturbance,))
    assert found.action is action


def test_a_removed_job_stops_and_leaves_its_tables(tmp_path: Path) -> None:
    was = loaded(LAKE + STATELESS, tmp_path)
    found = proposal(None, was, running())
    assert (found.action, effects(found)) == (Action.DELETE, [Effect.STOPS, Effect.RECORDED])
    assert found.steps[0].text == "the job stops; no table and no checkpoint goes with it"


@pytest.mark.parametrize(
    ("going", "said"),
    [
        ((), "stopped; table.orders and its rows stay, checkpoint.x too"),
        (("table.orders",), "stopped; checkpoint.x stays"),
        (("checkpoint.x",), "stopped; table.orders and its rows stay"),
        (("table.orders", "checkpoint.x"), "stopped"),
    ],
)
def test_only_what_the_plan_leaves_is_said_to_stay(going: tuple[str, ...], said: str, tmp_path: Path) -> None:
    assert left_behind(loaded(LAKE + STATELESS, tmp_path).job(), going) == said


def test_the_fingerprint_does_not_move_with_the_stream(tmp_path: Path) -> None:
    same = loaded(LAKE + STATEFUL, tmp_path)
    early, late = (
        running(committed=3, operators=AGGREGATES),
        running(committed=9, operators=AGGREGATES, phase="idle"),
    )
    assert proposal(same, same, early).fingerprint == proposal(same, same, late).fingerprint
    assert (
        proposal(same, same, early).fingerprint
        != proposal(same, same, running(operators=(*AGGREGATES, "dedupe"))).fingerprint
    )


def test_what_was_not_looked_at_is_assumed_to_hold_state(tmp_path: Path) -> None:
    before, after = (
        loaded(LAKE + STATEFUL, tmp_path),
        loaded((LAKE + STATEFUL).replace("'1 hour'", "'2 hours'"), tmp_path),
    )
    identity = {"queries": {"hourly": {"id": QUERY}}}
    assert proposal(after, before, NOT_LOOKED_AT, identity=identity).blockers
    assert proposal(before, before, NOT_LOOKED_AT, identity=identity).action is Action.NO_OP


OTHER = """
stream "other" {
  files {
    path   = "landing2"
    format = "json"
  }
  column "id" { type = "long" }
  column "region" { type = "string" }
}
checkpoint "y" { generation = 2 }
table "others" {
  namespace = "demo"
  column "region" { type = "string" }
}
"""
BOTH = STATELESS.replace("  step", '  input "b" { stream = stream.other }\n  step').replace(
    "SELECT id, region FROM orders WHERE id > 0",
    "SELECT id, region FROM orders UNION ALL SELECT id, region FROM b",
)


@pytest.mark.parametrize(
    "edit",
    [
        ("FROM orders UNION ALL SELECT id, region FROM b", "FROM b UNION ALL SELECT id, region FROM orders"),
        (" UNION ALL SELECT id, region FROM b", ""),
        (
            'input "orders" { stream = stream.orders }\n  input "b" { stream = stream.other }',
            'input "orders" { stream = stream.other }\n  input "b" { stream = stream.orders }',
        ),
    ],
)
def test_offsets_belong_to_the_streams_in_their_order(edit: Edit, tmp_path: Path) -> None:
    found = change(tmp_path, OTHER + BOTH, edit, running())
    assert [item.why.partition(": ")[0] for item in found.blockers] == [
        "Which streams output orders reads, in their order (inputs)"
    ]
    assert (
        change(
            tmp_path, OTHER + BOTH, edit, JobFacts(digest="d", state="running", alive=True, phase="running")
        ).blockers
        == ()
    )


def test_two_streams_in_the_same_order_may_be_read_otherwise(tmp_path: Path) -> None:
    edit = (
        "SELECT id, region FROM orders UNION",
        "WITH o AS (SELECT * FROM orders) SELECT id, region FROM o WHERE id > 0 UNION",
    )
    found = change(tmp_path, OTHER + BOTH, edit, running())
    assert (effects(found), found.blockers) == ([Effect.RESTART], ())


def test_a_stream_does_not_become_a_batch_job_on_what_it_has_read(tmp_path: Path) -> None:
    batch = STATELESS.replace("checkpoint = checkpoint.x", 'mode = "batch"').replace(
        '  trigger    = { processing_time = "30s" }\n', ""
    )
    batch = batch.replace("{ stream = stream.orders }", "{ table = table.hourly }").replace(
        "id, region", "n AS id, 'x' AS region"
    )
    batch = batch.replace("WHERE id > 0", "")
    found = change(tmp_path, STATELESS, (STATELESS, batch), running())
    assert any("The mode" in item.why for item in found.blockers)


def test_a_higher_generation_of_another_checkpoint_is_no_new_generation(tmp_path: Path) -> None:
    found = change(
        tmp_path,
        OTHER + STATEFUL,
        ("checkpoint = checkpoint.x", "checkpoint = checkpoint.y"),
        running(operators=AGGREGATES),
    )
    assert any("nother checkpoint" in item.why for item in found.blockers)


def test_state_is_not_mixed_with_rows_of_another_table(tmp_path: Path) -> None:
    joined = STATEFUL.replace("  step", '  input "r" { table = table.regions }\n  step').replace(
        "FROM orders GROUP", "FROM orders JOIN r USING (region) GROUP"
    )
    found = change(
        tmp_path,
        OTHER + joined,
        ("{ table = table.regions }", "{ table = table.others }"),
        running(operators=AGGREGATES),
    )
    (blocker,) = found.blockers
    (what,) = blocker.why.splitlines()
    assert what.startswith("The table of input r")


def test_state_of_whole_rows_keeps_its_columns(tmp_path: Path) -> None:
    query = (
        "SELECT window(ts, '1 hour').start AS hour, count(*) AS n FROM orders GROUP BY window(ts, '1 hour')"
    )
    distinct = STATEFUL.replace(query, "SELECT ts AS hour, id AS n FROM (SELECT DISTINCT * FROM orders)")
    edit = (
        'column "unread" { type = "string" }',
        'column "unread" { type = "string" }\n  column "new" { type = "string" }',
    )
    assert len(change(tmp_path, distinct, edit, running(operators=("dedupe",))).blockers) == 1


@pytest.mark.parametrize("line", ["stopped = true", 'run = "manual"'])
def test_a_changed_job_that_does_not_start_is_not_said_to_start(line: str, tmp_path: Path) -> None:
    job = BATCH.replace('mode = "batch"', f'mode = "batch"\n  {line}')
    found = change(
        tmp_path,
        job,
        ("SELECT region, name", "SELECT region, upper(name) AS name"),
        running(state="stopped", phase="stopped"),
    )
    assert effects(found) == [Effect.METADATA]


TWO_OUTPUTS = """
table "totals" {
  namespace = "demo"
  column "hour" { type = "timestamptz" }
  column "n" { type = "long" }
}
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "hourly" { sql = "SELECT window(ts, '1 hour').start AS hour, count(*) AS n FROM orders GROUP BY window(ts, '1 hour')" }
  output "hourly" {
    table = table.hourly
    mode  = "complete"
  }
  output "orders" {
    table = table.totals
    mode  = "merge"
    merge = { on = ["hour"] }
  }
}
"""


def test_of_two_outputs_the_one_that_keeps_rows_decides(tmp_path: Path) -> None:
    found = change(
        tmp_path, TWO_OUTPUTS, ("count(*) AS n", "count(*) * 2 AS n"), running(operators=AGGREGATES)
    )
    assert [item.code for item in found.blockers] == ["FIK063"]


@pytest.mark.parametrize("operators", [AGGREGATES, ()])
@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("max(id) AS n", "max(CAST(id AS INT)) AS n", "FIK062"),
        ("max(id) AS n", "avg(id) AS n", "FIK062"),
        ("max(struct(ts, id)).id AS n", "max(struct(id, region)).id AS n", None),
        ("max(id) AS n", "min(id) AS n", ""),
    ],
)
def test_a_first_batch_that_was_begun_has_pinned_the_shape_of_the_state(
    before: str, after: str, code: str | None, operators: tuple[str, ...], tmp_path: Path
) -> None:
    """None: refused or not known, never just a restart."""
    output = OutputFacts(
        query_id=QUERY, started=0, committed=None, sources=(("files", ()),), operators=operators
    )
    found = change(
        tmp_path,
        STATEFUL.replace("count(*) AS n", before),
        (before, after),
        running(checkpoints={"hourly": output}, phase="failed"),
    )
    if code == "":
        assert not found.blockers
        return
    assert found.blockers
    assert code is None or found.blockers[0].code == code
    assert any("generation = 2" in way for blocker in found.blockers for way in blocker.ways_out)
