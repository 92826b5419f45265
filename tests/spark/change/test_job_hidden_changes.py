"""Changes that neither the text of a query nor its columns show, and generations that would begin at the
wrong place.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Action, Effect, Proposal, Relation, Usage
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Observation, Present, Recorded
from flareiac_spark.observation.job import JobFacts
from tests.spark.declared import BATCH, LAKE, QUERY, STATEFUL, STATELESS, loaded, proposal, running

AGGREGATES = ("stateStoreSave",)
DEDUP = """
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "clean" {
    sql   = "SELECT id, region, ts FROM orders"
    dedup = { keys = ["id"], within_watermark = true }
  }
  step "last" { sql = "SELECT id, region FROM clean" }
  output "orders" { table = table.orders }
}
"""
MARKED = """
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "timed" {
    sql       = "SELECT id, ts FROM orders"
    watermark = { column = "ts", delay = "10m" }
  }
  step "hourly" { sql = "SELECT window(ts, '1 hour').start AS hour, count(*) AS n FROM timed GROUP BY window(ts, '1 hour')" }
  output "hourly" { table = table.hourly }
}
"""
PYTHON = """
job "x" {
  checkpoint = checkpoint.x
  code       = "code"
  input "orders" { stream = stream.orders }
  step "clean" {
    sql   = "SELECT id, region FROM orders"
    dedup = { keys = ["id"] }
  }
  step "fn" { python = "mod:f" }
  output "orders" {
    table = table.orders
    from  = "fn"
  }
}
"""
CSV = LAKE.replace('"json"', '"csv"')
UNREAD, REGION = 'column "unread" { type = "string" }', 'column "region" { type = "string" }'
MOVED = (f"{REGION}\n  {UNREAD}", f"{UNREAD}\n  {REGION}")
GENERATION = ('checkpoint "x" {}', 'checkpoint "x" { generation = 2 }')
ANEW = ('checkpoint "x" {}', 'checkpoint "x" {\n  generation = 2\n  start_from = "earliest"\n}')
EMPTIED = ("{ table = table.orders }", '{\n    table = table.orders\n    rebuild = "truncate"\n  }')
KNOWN = {"queries": {"orders": {"id": QUERY, "run_id": "r"}}}
AHEAD = {"since": 1, "queries": {QUERY: {"epoch": 9, "at": 1, "outputs": {}}}}
OTHER = Usage(subject="table.orders", holder="job.other", relation=Relation.WRITES, reason="output y")


def changed(
    root: Path, before: str, *edits: tuple[str, str], facts: JobFacts, identity: Attributes | None = None
) -> Proposal:
    after = before
    for edit in edits:
        assert edit[0] in after, "the edit changes something"
        after = after.replace(*edit)
    return proposal(loaded(after, root), loaded(before, root), facts, identity=identity)


def planned(
    root: Path,
    hcl: str,
    facts: JobFacts | None,
    *edits: tuple[str, str],
    replacing: bool = False,
    new: bool = False,
) -> Proposal:
    """With what the tables' writers have written, and another job that writes there. ``facts`` None: nothing
    was looked at.
    """
    before, after = loaded(hcl, root), hcl
    for edit in edits:
        after = after.replace(*edit)
    project = loaded(after, root)
    references = project.references()
    references["table.orders"] = replace(references["table.orders"], identity={"uuid": "u", "writers": AHEAD})
    was = Recorded(attributes=before.attributes(), identity={"digest": "d", **KNOWN})
    observed: Observation = Present(attributes=was.attributes, identity=was.identity, facts=facts)
    planner = installed().registry.types["job"].planning.planner
    assert planner is not None, "jobs are planned"
    return planner().plan(
        PlanRequest(
            address="job.x",
            desired=project.attributes(),
            recorded=None if new else was,
            observed=observed,
            references=references,
            project=project.project,
            usages=(OTHER,),
            replace=replacing,
        )
    )


def codes(found: Proposal) -> list[str]:
    return [item.code for item in found.blockers]


def test_how_long_seen_keys_are_remembered_is_a_change(tmp_path: Path) -> None:
    edit = ("within_watermark = true", "within_watermark = false")
    assert codes(
        changed(tmp_path, LAKE + DEDUP, edit, facts=running(operators=("dedupeWithinWatermark",)))
    ) == ["FIK062"]
    fresh = changed(tmp_path, LAKE + DEDUP, edit, facts=running(committed=None))
    assert (fresh.action, codes(fresh)) == (Action.UPDATE, [])


def test_a_watermark_is_seen_also_on_a_step_of_another_name(tmp_path: Path) -> None:
    plain = LAKE.replace('  watermark = { column = "ts", delay = "10m" }\n', "")
    named = (('step "timed"', 'step "marked"'), ("FROM timed", "FROM marked"))
    facts = running(operators=AGGREGATES)
    assert codes(changed(tmp_path, plain + MARKED, *named, facts=facts)) == []
    assert codes(changed(tmp_path, plain + MARKED, *named, ('"10m"', '"10s"'), facts=facts)) == ["FIK063"]


def test_the_order_of_columns_counts_where_files_have_no_names(tmp_path: Path) -> None:
    assert changed(tmp_path, LAKE + STATELESS, MOVED, facts=running()).action is Action.NO_OP
    assert [step.effect for step in changed(tmp_path, CSV + STATELESS, MOVED, facts=running()).steps] == [
        Effect.RESTART
    ]
    assert codes(changed(tmp_path, CSV + STATEFUL, MOVED, facts=running(operators=AGGREGATES))) == ["FIK063"]
    between = (
        'column "ts" { type = "timestamptz" }',
        'column "new" { type = "long" }\n  column "ts" { type = "timestamptz" }',
    )
    behind = (
        'column "unread" { type = "string" }',
        'column "unread" { type = "string" }\n  column "new" { type = "long" }',
    )
    assert codes(changed(tmp_path, CSV + STATEFUL, between, facts=running(operators=AGGREGATES))) == [
        "FIK063"
    ]
    assert codes(changed(tmp_path, CSV + STATEFUL, behind, facts=running(operators=AGGREGATES))) == []
    columns = 'column "region" { type = "string" }\n      column "name" { type = "string" }'
    batch = LAKE + BATCH.replace('"json"', '"csv"').replace(
        'columns = { region = "string", name = "string" }', columns
    )
    turned = (columns, 'column "name" { type = "string" }\n      column "region" { type = "string" }')
    assert [step.effect for step in changed(tmp_path, batch, turned, facts=running()).steps] == [
        Effect.STARTS
    ]


def test_settings_of_the_engine_decide_about_values_too(tmp_path: Path) -> None:
    before = LAKE + 'engine "main" {}\n' + STATEFUL
    edit = ('engine "main" {}', 'engine "main" { conf = { "spark.sql.session.timeZone" = "CET" } }')
    facts = running(operators=AGGREGATES)
    assert codes(changed(tmp_path, before, edit, facts=facts)) == ["FIK063"]
    own = before.replace(
        "checkpoint = checkpoint.x",
        'checkpoint = checkpoint.x\n  conf = { "spark.sql.session.timeZone" = "UTC" }',
    )
    assert codes(changed(tmp_path, own, edit, facts=facts)) == []


@pytest.mark.parametrize(
    "edit", [('keys = ["id"]', 'keys = ["region"]'), ('from  = "fn"', 'from  = "clean"')]
)
def test_beside_python_steps_dedup_and_source_of_an_output_are_changes(
    edit: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mod.py").write_text(
        "def f(spark, inputs, params):\n    return inputs['clean']\n", encoding="utf-8"
    )
    assert codes(changed(tmp_path, LAKE + PYTHON, edit, facts=running(operators=("dedupe",)))) == ["FIK063"]


def test_code_that_reads_several_streams_may_read_them_in_another_order(tmp_path: Path) -> None:
    more = (
        'stream "more" {\n  files {\n    path = "more"\n    format = "json"\n  }\n  column "id" { type '
        '= "long" }\n}\n'
    )
    one = LAKE + more + PYTHON.replace('    dedup = { keys = ["id"] }\n', "")
    two = one.replace('  step "clean"', '  input "more" { stream = stream.more }\n  step "clean"')
    (tmp_path / "code").mkdir()

    def edited(hcl: str) -> list[str]:
        found = []
        for first, second in (("clean", "more"), ("more", "clean")):
            code = f"def f(spark, inputs, params):\n    return inputs['{first}'].union(inputs['{second}'])\n"
            (tmp_path / "code" / "mod.py").write_text(code, encoding="utf-8")
            found.append(loaded(hcl, tmp_path))
        return codes(proposal(found[1], found[0], running()))

    assert (edited(one), edited(two)) == ([], ["FIK063"])
    rates = (('path   = "landing"', 'path   = "landing"\n    max_files_per_trigger = 5'),)
    assert codes(changed(tmp_path, two, *rates, facts=running())) == []


def test_a_lost_checkpoint_can_not_be_carried_over(tmp_path: Path) -> None:
    gone = running(checkpoints={})
    assert codes(changed(tmp_path, LAKE + STATELESS, GENERATION, facts=gone, identity=KNOWN)) == ["FIK060"]
    assert codes(changed(tmp_path, LAKE + STATELESS, ANEW, facts=gone, identity=KNOWN)) == []


def test_a_checkpoint_that_was_set_back_can_not_be_carried_over(tmp_path: Path) -> None:
    assert codes(planned(tmp_path, LAKE + STATELESS, running(), GENERATION)) == ["FIK069"]
    set_back = planned(tmp_path, LAKE + STATELESS, running())
    assert codes(set_back) == ["FIK069"]
    assert not any("carry_over" in way for way in set_back.blockers[0].ways_out)


def test_where_nobody_looked_nothing_was_set_back(tmp_path: Path) -> None:
    assert planned(tmp_path, LAKE + STATELESS, None).action is Action.NO_OP


@pytest.mark.parametrize(
    "edit",
    [('output "orders"', 'output "new"'), ("checkpoint.x\n", "checkpoint.x\n  foreach_batch = true\n")],
)
def test_queries_of_another_name_carry_nothing_over(edit: tuple[str, str], tmp_path: Path) -> None:
    before = LAKE + STATELESS
    assert codes(changed(tmp_path, before, edit, GENERATION, facts=running(), identity=KNOWN)) == ["FIK062"]
    assert codes(changed(tmp_path, before, edit, ANEW, facts=running(), identity=KNOWN)) == []


@pytest.mark.parametrize("how", ["stopped", "replaced", "new"])
def test_a_table_is_never_emptied_without_a_word(how: str, tmp_path: Path) -> None:
    stopped = (
        (("checkpoint = checkpoint.x", "checkpoint = checkpoint.x\n  stopped = true"),)
        if how == "stopped"
        else ()
    )
    facts = running(checkpoints={}, digest=None) if how == "new" else running()
    found = planned(
        tmp_path,
        LAKE + STATELESS,
        facts,
        ANEW,
        EMPTIED,
        *stopped,
        replacing=how == "replaced",
        new=how == "new",
    )
    assert Effect.LOSES_DATA in [step.effect for step in found.steps]
    assert "FIK066" in codes(found)


def test_a_token_is_used_up_by_its_change(tmp_path: Path) -> None:
    facts, edit = running(operators=AGGREGATES), ("count(*)", "count_if(id > 3)")
    token = token_in(changed(tmp_path, LAKE + STATEFUL, edit, facts=facts))
    again = (LAKE + STATEFUL).replace(
        '  output "hourly"', f'  accept_result_change = "{token}"\n  output "hourly"'
    )
    found = changed(tmp_path, again, edit, facts=facts)
    assert codes(found) == ["FIK063"]
    assert codes(changed(tmp_path, again, edit, (token, token_in(found)), facts=facts)) == []


def test_a_token_tells_apart_what_is_shown_alike(tmp_path: Path) -> None:
    facts = running(operators=AGGREGATES)
    hcl = LAKE + STATEFUL.replace(
        '  step "hourly"', '  input "regions" { table = table.regions }\n  step "hourly"'
    )
    filters = ("region IN (SELECT region FROM regions)", "region IN (SELECT name FROM regions)")
    edits = [("FROM orders GROUP", f"FROM orders WHERE {each} GROUP") for each in filters]
    edits += [
        (
            "FROM orders GROUP",
            f"FROM orders WHERE {' OR '.join(f'id = {n}' for n in range(1000, 1030))} OR id = {n} GROUP",
        )
        for n in (1, 2)
    ]
    tokens = [token_in(changed(tmp_path, hcl, edit, facts=facts)) for edit in edits]
    assert len(set(tokens)) == len(tokens)
    laid_out = (edits[0][0], edits[0][1].replace("SELECT", "select  /* all */"))
    assert token_in(changed(tmp_path, hcl, laid_out, facts=facts)) == tokens[0]


def test_a_filter_on_another_column_of_a_distinct_query_is_no_other_state(tmp_path: Path) -> None:
    hcl = LAKE + STATELESS.replace(
        "SELECT id, region FROM orders WHERE id > 0", "SELECT DISTINCT region FROM orders"
    )
    assert codes(
        changed(
            tmp_path, hcl, ('FROM orders"', 'FROM orders WHERE id > 3"'), facts=running(operators=AGGREGATES)
        )
    ) == ["FIK063"]


@pytest.mark.parametrize(("before", "after"), [("50", "5"), ("5", "50")], ids=["lowered", "raised"])
def test_a_limit_is_no_mere_restart_where_written_rows_stay(tmp_path: Path, before: str, after: str) -> None:
    hcl = LAKE + STATELESS.replace("WHERE id > 0", f"WHERE id > 0 LIMIT {before}")
    facts = running(operators=("globalLimit",))
    found = changed(tmp_path, hcl, (f"LIMIT {before}", f"LIMIT {after}"), facts=facts)
    assert codes(found) == ["FIK063"]
    assert "Results may change" in found.blockers[0].why
    assert "rows beyond a lower limit stay in the table" in found.blockers[0].why
    assert any('rebuild = "truncate"' in way for way in found.blockers[0].ways_out)
    accepted = (
        (f"LIMIT {before}", f"LIMIT {after}"),
        ("  output", f'  accept_result_change = "{token_in(found)}"\n  output'),
    )
    assert codes(changed(tmp_path, hcl, *accepted, facts=facts)) == []
    fresh = changed(tmp_path, hcl, (f"LIMIT {before}", f"LIMIT {after}"), facts=running(committed=None))
    assert (fresh.action, codes(fresh)) == (Action.UPDATE, [])


def test_a_limit_of_rows_that_are_all_written_again_restarts(tmp_path: Path) -> None:
    query = 'sql = "SELECT region, count(*) AS id FROM orders GROUP BY region ORDER BY id LIMIT 5"'
    hcl = LAKE + STATELESS.replace('sql = "SELECT id, region FROM orders WHERE id > 0"', query)
    hcl = hcl.replace("{ table = table.orders }", '{\n    table = table.orders\n    mode = "complete"\n  }')
    found = changed(tmp_path, hcl, ("LIMIT 5", "LIMIT 3"), facts=running(operators=AGGREGATES))
    assert (found.action, codes(found)) == (Action.UPDATE, [])


def token_in(found: Proposal) -> str:
    return next(
        way.split('"')[1] for item in found.blockers for way in item.ways_out if "accept_result_change" in way
    )
