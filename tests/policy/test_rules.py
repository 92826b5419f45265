"""The rules of a team: what they read, what they answer, and what never passes silently."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from flareiac.app.discovery import installed
from flareiac.config.policy_files import policies_in
from flareiac.config.policy_names import NAMES, Subject
from flareiac.config.rule_library import library
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Severity
from flareiac.lang.values import Symbols, to_data
from flareiac.model.plan import Plan
from flareiac.model.policy import Answer, Finding, PolicyResults
from flareiac.planning.make_plan import make_plan
from flareiac.policy.check import check
from flareiac.policy.values import PlanValues
from flareiac.render.report.content import report_of
from flareiac.render.report.json import report_json
from flareiac.sdk.changes import Action, AttributeChange, Effect, Origin, Reader, Step
from tests.golden.case import CASES, main_configuration, name_of, planning_inputs, read_case

NOW = 1_800_000_000.0  # 2027-01-15
LAKE = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
flareiac { owner = "team" }
namespace "web" {}
table "orders" {
  namespace = namespace.web.name
  comment   = "Orders"
  column "id" { type = "long" }
  column "Mail" {
    type = "string"
    tags = ["pii"]
  }
}
table "each" {
  for_each  = toset(["eu", "us"])
  namespace = namespace.web.name
  name      = "each_${each.key}"
  tags      = { class = "pii" }
  snapshot_expiry { older_than = "5d" }
  column "id" { type = "long" }
}
consumer "board" {
  owner = { name = "BI", contact = "bi@example.org" }
  reads = [table.orders]
}
consumer "other" { reads = [table.each["eu"]] }
stream "raw" {
  table { table = table.orders }
}
checkpoint "copy" {}
job "copy" {
  checkpoint = checkpoint.copy
  trigger    = { processing_time = "2s" }
  input "raw" { stream = stream.raw }
  step "copy" { sql = "SELECT id, mail FROM raw" }
  output "t" { table = table.copy }
}
table "copy" {
  namespace = namespace.web.name
  column "id"   { type = "long" }
  column "mail" { type = "string" }
}
"""
BUILT_IN = {"naming_pattern": '{ pattern = "^[a-z_]+$" }', "engine_allowed": '{ engines = ["engine.prod"] }'}


def planned(root: Path, text: str = LAKE) -> Plan:
    """A plan of a project in which nothing exists yet."""
    from flareiac.app.plan import PlanRequest, Refresh
    from flareiac.app.plan import plan as make
    from flareiac.app.workspace import Workspace

    (root / "main.flare.hcl").write_text(text)
    workspace = Workspace(root=root)
    report = make(workspace, PlanRequest(refresh=Refresh.NONE, policies=False))
    workspace.close()
    assert report.plan is not None, [each.line for each in report.diagnostics]
    assert not report.plan.errored, [each.line for each in report.diagnostics]
    return report.plan


def asked(root: Path, plan: Plan, policy: str, *, now: float = NOW) -> PolicyResults:
    """The answers of the rules in a text, whose ``rule`` blocks stand in one policy."""
    place = root / "rules"
    place.mkdir(exist_ok=True)
    (place / "p.flare.hcl").write_text(f'policy "p" {{\n{policy}\n}}\n')
    diagnostics = Diagnostics()
    found = policies_in(place, plan.variables, plan.workspace, installed().registry, diagnostics)
    assert not diagnostics.has_errors, [each.line for each in diagnostics]
    return check(plan, found.rules, found.scope, installed().registry.types, now=now)


def complaints(root: Path, policy: str, beside: str = "") -> list[Diagnostic]:
    (root / "p.flare.hcl").write_text(f'{beside}\npolicy "p" {{\n{policy}\n}}\n')
    diagnostics = Diagnostics()
    policies_in(root, {}, "default", installed().registry, diagnostics)
    return list(diagnostics)


def rule(body: str, name: str = "r") -> str:
    return f'rule "{name}" {{\n{body}\n}}\n'


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return planned(tmp_path_factory.mktemp("lake"))


def _addresses(results: PolicyResults, answer: Answer = Answer.FAILED) -> set[str]:
    return {finding.address for finding in results.findings if finding.answer is answer}


def _with(plan: Plan, address: str, **proposal: Any) -> Plan:
    """The plan with another proposal for one resource."""
    return dataclasses.replace(
        plan,
        resources=tuple(
            dataclasses.replace(each, proposal=dataclasses.replace(each.proposal, **proposal))
            if each.address == address
            else each
            for each in plan.resources
        ),
    )


# What a rule reads


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_a_change_is_what_the_report_says_of_it(path: Path, tmp_path: Path) -> None:
    """Every documented name has a value, and a rule and a report never disagree."""
    case, diagnostics = read_case(path), Diagnostics()
    desired = main_configuration(case, tmp_path, diagnostics)
    if diagnostics.has_errors:
        return
    made = make_plan(planning_inputs(case, tmp_path, desired), case.options.planning(), diagnostics)
    types = installed().registry.types
    values = PlanValues(made, types)
    for subject in Subject:
        for asked_about in values.subjects(subject):
            assert isinstance(asked_about.value.raw, Symbols)
            assert set(asked_about.value.raw.members) == set(NAMES[subject])
            for name in NAMES[subject]:
                asked_about.value.raw.members[name]
    content: Any = report_json(report_of(made, tool_version="", types=types))["changes"]
    report: dict[str, Any] = {each["address"]: each for each in content}
    changes = {each.address: to_data(each.value) for each in values.subjects(Subject.CHANGE)}
    assert set(changes) == set(report)
    for address, change in changes.items():
        for name in ("type", "action", "section", "reason", "what"):
            assert change[name] == report[address][name]
        assert [step["text"] for step in change["steps"]] == [
            it["text"] for it in report[address].get("steps", [])
        ]
        assert [it["address"] for it in change["readers"]] == [
            it["address"] for it in report[address].get("readers", [])
        ]


def test_an_instance_is_found_by_its_address_and_by_its_block(tmp_path: Path, lake: Plan) -> None:
    body = 'types = ["table"]\ncondition = false\naddresses = [{}]'
    of = {
        '"table.each"': {'table.each["eu"]', 'table.each["us"]'},
        '"table.each[\\"eu\\"]"': {'table.each["eu"]'},
        '"table.e*"': {'table.each["eu"]', 'table.each["us"]'},
        '"table.Each"': set(),
    }
    for pattern, expected in of.items():
        text = rule(body.format(pattern) + "\nmessage = resource.address")
        assert _addresses(asked(tmp_path, lake, text)) == expected, pattern


def test_keys_and_references_are_texts_of_the_plan(tmp_path: Path, lake: Plan) -> None:
    text = rule(
        'types = ["table"]\nwhen = resource.key != null\n'
        'condition = resource.values.name == "each_${resource.key}"'
    )
    assert asked(tmp_path, lake, text).rules[0].passed == 2
    text = rule('types = ["job"]\ncondition = resource.values.outputs.t.table == "table.copy"')
    assert asked(tmp_path, lake, text).rules[0].passed == 1


def test_what_goes_is_a_change_and_no_resource(tmp_path: Path, lake: Plan) -> None:
    gone = _with(lake, "table.orders", action=Action.DELETE, planned=None)
    text = rule('condition = change.action != "delete"', "c") + rule(
        'addresses = ["table.orders"]\ncondition = resource.name == ""', "r"
    )
    results = asked(tmp_path, gone, text)
    assert _addresses(results) == {"table.orders"}
    assert [each.checked for each in results.rules] == [len(lake.resources), 0]


# Built-in rules


@pytest.mark.parametrize("name", library())
def test_every_built_in_rule_answers_about_a_project(tmp_path: Path, lake: Plan, name: str) -> None:
    parameters = BUILT_IN.get(name, "{}")
    results = asked(tmp_path, lake, rule(f'use = "{name}"\nparameters = {parameters}'))
    assert not _addresses(results, Answer.ERROR), results.findings
    assert not _addresses(results, Answer.UNKNOWN), results.findings
    assert _addresses(results) == {
        "trigger_too_small": {"job.copy"},
        "consumer_owner_required": {"consumer.other"},
        "comment_required": {'table.each["eu"]', 'table.each["us"]', "table.copy"},
        "table_without_expiry": {"table.orders", "table.copy"},
        "tagged_column": {"job.copy"},
        "engine_allowed": {"job.copy", 'table.each["eu"]', 'table.each["us"]'},
    }.get(name, set())
    assert all(
        finding.message and "This does not hold" not in finding.message for finding in results.findings
    )


def _step(effect: Effect, *readers: Reader) -> tuple[Step, ...]:
    return (Step(text=f"it {effect.value}", effect=effect, readers=readers),)


def test_what_a_plan_destroys_loses_and_resets(tmp_path: Path, lake: Plan) -> None:
    names = ("destructive_change", "data_loss_without_consent", "state_reset", "result_change")
    text = "".join(rule(f'use = "{name}"', name) for name in names)
    reader = Reader(address="consumer.board")
    loses = _with(lake, "table.orders", action=Action.UPDATE, steps=_step(Effect.LOSES_DATA, reader))
    assert _failed(asked(tmp_path, loses, text)) == {names[0], names[1]}
    begins = _with(lake, "checkpoint.copy", action=Action.UPDATE, steps=_step(Effect.NEW_GENERATION))
    assert _failed(asked(tmp_path, begins, text)) == {names[0], names[2]}
    mixes = _with(lake, "job.copy", action=Action.UPDATE, steps=_step(Effect.RESULTS_CHANGE))
    assert _failed(asked(tmp_path, mixes, text)) == {names[3]}
    agreed = (
        'use = "data_loss_without_consent"\nparameters = { agreed = { "consumer.board" = ["table.orders"] } }'
    )
    assert _failed(asked(tmp_path, loses, rule(agreed))) == set()
    job = _with(
        lake,
        "table.orders",
        action=Action.UPDATE,
        steps=_step(Effect.LOSES_DATA, Reader(address="job.copy"), Reader(address="group-of-others")),
    )
    [finding] = asked(tmp_path, job, rule('use = "data_loss_without_consent"')).findings
    assert "group-of-others" in finding.message
    assert "job.copy" not in finding.message


def _failed(results: PolicyResults) -> set[str]:
    return {finding.rule for finding in results.findings if finding.answer is Answer.FAILED}


def test_state_without_bound_is_found_by_what_the_plan_says(tmp_path: Path, lake: Plan) -> None:
    says = Diagnostic(code="FIK042", severity=Severity.WARNING, summary="s", detail="d", address="job.copy")
    grows = dataclasses.replace(lake, diagnostics=(says,))
    assert _addresses(asked(tmp_path, grows, rule('use = "unbounded_state"'))) == {"job.copy"}


def test_a_tag_may_stand_at_the_table_or_at_a_column(tmp_path: Path) -> None:
    text = rule('use = "tagged_column"')
    untagged = 'table "copy" {\n  namespace = namespace.web.name\n'
    at_table = LAKE.replace(untagged, untagged + '  tags = { class = "pii" }\n')
    assert asked(tmp_path, planned(tmp_path, at_table), text).rules[0].passed == 1
    other = LAKE.replace("SELECT id, mail FROM raw", "SELECT id, CAST(id AS STRING) AS mail FROM raw")
    assert asked(tmp_path, planned(tmp_path, other), text).rules[0].checked == 0


def test_topics_need_numbers_of_their_own(tmp_path: Path) -> None:
    topics = """
kafka "k" { bootstrap_servers = "localhost:1" }
topic "left_out" {}
topic "few" {
  partitions         = 3
  replication_factor = 1
}
topic "enough" {
  partitions         = 3
  replication_factor = 3
}
"""
    plan = planned(tmp_path, topics)
    results = asked(tmp_path, plan, rule('use = "minimum_partitions"\nparameters = { partitions = 2 }'))
    assert _addresses(results) == {"topic.left_out", "topic.few"}


# Answers that must never pass silently


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("1 / (plan.add - plan.add) > 0", "FIL"),
        ('change.after.strange == ""', "FIL"),
        ("change.after.comment.length > 1", "FIL"),
        ('regex("(", change.address) == ""', "FIL"),
        ("change.owner.name", "FI"),
        ("null", "FIC"),
        ('"maybe"', "FIC"),
        ("length([for a in range(2000) : [for b in range(2000) : a * b + plan.add]]) > 0", "FIL"),
    ],
)
def test_a_rule_that_raises_is_a_failed_rule(tmp_path: Path, lake: Plan, condition: str, code: str) -> None:
    text = rule(f'condition = {condition}\nwhen = change.type == "table"\ndescription = "x"')
    results = asked(tmp_path, lake, text)
    assert results.refuses
    assert results.findings
    for finding in results.findings:
        assert finding.answer is Answer.ERROR
        assert finding.code.startswith(code)
        assert finding.path == "p.flare.hcl"
        assert finding.line == 3


def test_an_advisory_rule_that_raises_refuses_nothing(tmp_path: Path, lake: Plan) -> None:
    results = asked(tmp_path, lake, rule('enforcement = "advisory"\ncondition = 1 / (plan.add * 0) > 0'))
    assert not results.refuses
    assert [finding.answer for finding in results.findings] == [Answer.ERROR]
    assert not results.rules[0].is_met


def test_what_is_known_after_apply_is_not_met(tmp_path: Path, lake: Plan) -> None:
    [orders] = [each for each in lake.resources if each.address == "table.orders"]
    unknown = {**(orders.proposal.planned or {}), "comment": UNKNOWN}
    change = AttributeChange(
        path=("properties",), origin=Origin.CONFIG, old=None, new={"a": UNKNOWN}, live=None
    )
    plan = _with(lake, "table.orders", planned=unknown, changes=(change,))
    only = 'addresses = ["table.orders"]\n'
    conditions = (
        "resource.values.comment != null",
        'try(resource.values.comment, "x") == "x" || false',
        'can(regex("a", resource.values.comment))',
        'alltrue([for each in resource.change.attributes : each.new["a"] != ""])',
    )
    for condition in conditions:
        results = asked(tmp_path, plan, rule(f"{only}condition = {condition}"))
        assert _addresses(results, Answer.UNKNOWN) == {"table.orders"}, condition
        assert results.refuses
        assert results.findings[0].code == "FIP041"
    when = asked(
        tmp_path,
        plan,
        rule(f'{only}when = resource.values.comment == "x"\ncondition = resource.name == "orders"'),
    )
    assert _addresses(when, Answer.UNKNOWN) == {"table.orders"}


def test_what_is_sensitive_is_not_read(tmp_path: Path, lake: Plan) -> None:
    changes = (
        AttributeChange(
            path=("comment",), origin=Origin.CONFIG, old=None, new="hunter2", live=None, sensitive=True
        ),
    )
    plan = _with(lake, "table.orders", changes=changes)
    for condition in (
        'change.after.comment == "hunter2"',
        'change.attributes[0].new != "x"',
        'length("${change.after.comment}") > 3',
    ):
        text = f'addresses = ["table.orders"]\ncondition = {condition}\nmessage = change.after.comment'
        results = asked(tmp_path, plan, rule(text))
        assert [each.code for each in results.findings] == ["FIP042"], condition
        assert "hunter2" not in str(results)
    shown = rule(
        'addresses = ["table.orders"]\ncondition = change.name == ""\nmessage = "is ${change.after.comment}"'
    )
    assert "hunter2" not in str(asked(tmp_path, plan, shown))


def test_a_sensitive_variable_is_not_read(tmp_path: Path, lake: Plan) -> None:
    plan = dataclasses.replace(lake, variables={"word": None})
    place = tmp_path / "rules"
    place.mkdir()
    (place / "v.flare.hcl").write_text('variable "word" {\n  sensitive = true\n  default = "x"\n}\n')
    results = asked(tmp_path, plan, rule("condition = plan.workspace != var.word"))
    assert [each.code for each in results.findings] == ["FIP042"]


def test_names_of_the_project_have_the_values_of_the_plan(tmp_path: Path, lake: Plan) -> None:
    plan = dataclasses.replace(lake, variables={"limit": 3})
    place = tmp_path / "rules"
    place.mkdir()
    (place / "v.flare.hcl").write_text(
        'variable "limit" { default = 99 }\nlocals {\n  twice = 2 * var.limit\n  t = table.orders.uuid\n'
        "  circle = local.circle\n}\n"
    )
    assert asked(tmp_path, plan, rule("condition = plan.add >= local.twice")).rules[0].passed == 1
    for unknown in ("local.t", "local.circle"):
        results = asked(tmp_path, plan, rule(f'condition = "${{plan.add}}" != {unknown}'))
        assert [each.answer for each in results.findings] == [Answer.UNKNOWN]


def test_a_plan_without_changes_and_a_rule_about_nothing(tmp_path: Path, lake: Plan) -> None:
    empty = dataclasses.replace(lake, resources=(), references={})
    results = asked(
        tmp_path, empty, rule("condition = change.name == resource.name".replace("resource.name", '""'))
    )
    assert not results.refuses
    assert [(each.checked, each.passed) for each in results.rules] == [(0, 0)]


# Exceptions


def _exception(expires: str, addresses: str = "") -> str:
    listed = f"    addresses = [{addresses}]\n" if addresses else ""
    return f'exception {{\n{listed}    reason = "T-1"\n    expires = "{expires}"\n  }}'


def test_an_exception_holds_to_the_end_of_its_day(tmp_path: Path, lake: Plan) -> None:
    never = 'types = ["table"]\ncondition = resource.name == ""\n'
    for expires, holds in (
        ("2027-01-15", True),
        ("2027-01-14", False),
        ("2027-01-15T08:00:01Z", True),
        ("2027-01-15T08:00:00Z", False),
        ("2027-01-15T09:00:00+02:00", False),
    ):
        results = asked(tmp_path, lake, rule(never + _exception(expires, '"table.each"')))
        excepted = _addresses(results, Answer.EXCEPTED)
        assert (excepted == {'table.each["eu"]', 'table.each["us"]'}) is holds, expires
        assert results.refuses
        noted = [each for each in results.findings if each.address == 'table.each["eu"]']
        assert [(each.reason, each.is_expired) for each in noted] == [("T-1", not holds)]
        assert (results.until is not None) is holds


def test_the_longest_exception_counts(tmp_path: Path, lake: Plan) -> None:
    text = 'types = ["table"]\ncondition = resource.name == ""\n'
    text += _exception("2026-01-01") + "\n" + _exception("2027-02-01")
    results = asked(tmp_path, lake, rule(text))
    assert not results.refuses
    assert results.rules[0].excepted == 4


def test_an_exception_covers_what_is_not_known_and_what_raises(tmp_path: Path, lake: Plan) -> None:
    results = asked(tmp_path, lake, rule("condition = 1 / (plan.add * 0) > 0\n" + _exception("2027-02-01")))
    assert not results.refuses
    assert [each.answer for each in results.findings] == [Answer.EXCEPTED]


# What is wrong with a policy


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ('use = "destructive_chnage"', "FIC081", 'Did you mean "destructive_change"?'),
        ('use = "naming_pattern"', "FIC081", "needs the parameter pattern"),
        ('use = "naming_pattern"\nparameters = { patern = "x" }', "FIC081", 'Did you mean "pattern"?'),
        ('use = "minimum_partitions"\nparameters = { partitions = "many" }', "FIC081", "number"),
        ('use = "owner_required"\ncondition = true', "FIC081", "has its condition already"),
        ('use = "table_without_expiry"\ntypes = ["topic"]', "FIC081", "is about table"),
        ('message = "x"', "FIC081", "needs a condition"),
        ("condition = true", "FIC081", "names neither plan"),
        ('condition = change.adress == ""', "FIC081", 'Did you mean "address"?'),
        ('condition = chnage.address == ""', "FIC081", 'Did you mean "change"?'),
        ("condition = change.name == resource.name", "FIC081", "asked about one of them"),
        ("condition = plan.add < var.limit", "FI", "var.limit"),
        ('condition = table.orders.name == ""', "FIC081", "plan.resources"),
        ('condition = plan.add < 1\nenforcement = "Mandatory"', "FIC081", 'Did you mean "mandatory"?'),
        ('condition = change.name == ""\ntypes = ["Table"]', "FIC081", 'Did you mean "table"?'),
        ('condition = change.name == ""\ntypes = []', "FIC081", "about nothing"),
        ('condition = plan.add < 1\ntypes = ["table"]', "FIC081", "about the plan"),
        ('condition = plan.add < 1\nseverity = "high"', "FI", "no attribute"),
        ("condition = plan.add < 1\nexception {}", "FIC082", "reason and ends"),
        ("condition = plan.add < 1\n" + _exception("31.3.2027"), "FIC082", "no date"),
        ("condition = plan.add < 1\n" + _exception("2027-03-31T18:00:00"), "FIC082", "no date"),
        ("condition = plan.add < 1\n" + _exception("2027-03-31", " "), "FIC082", "no address"),
    ],
)
def test_a_rule_that_is_wrong_is_an_error_with_its_place(
    tmp_path: Path, body: str, code: str, says: str
) -> None:
    found = complaints(tmp_path, rule(body))
    assert found, "it must be refused"
    assert any(each.code.startswith(code) and says.lower() in each.line.lower() for each in found), [
        each.line for each in found
    ]
    assert all(each.subject is not None for each in found)
    assert all(each.severity is Severity.ERROR for each in found)


def test_two_rules_of_one_name_and_a_policy_without_one(tmp_path: Path) -> None:
    twice = rule('use = "owner_required"') * 2
    assert [each.code for each in complaints(tmp_path, twice)] == ["FIC015"]
    assert [each.code for each in complaints(tmp_path, "")] == ["FIC081"]


def test_a_file_that_is_cut_off_does_not_hide_its_policy(tmp_path: Path) -> None:
    (tmp_path / "p.flare.hcl").write_text(
        'locals {\n  a = [\n\npolicy "p" {\n  rule "r" { use = "owner_required" }\n}\n'
    )
    diagnostics = Diagnostics()
    policies_in(tmp_path, {}, "default", installed().registry, diagnostics)
    assert diagnostics.has_errors


def test_findings_survive_the_plan_file(lake: Plan, tmp_path: Path) -> None:
    from flareiac.model.plan_file import decode_plan, encode_plan

    results = asked(tmp_path, lake, rule('types = ["table"]\ncondition = resource.name == ""'))
    plan = dataclasses.replace(lake, policy=results)
    again = decode_plan(encode_plan(plan, tool_version="0", root=str(tmp_path)), "p", str(tmp_path))
    assert again.policy == results
    assert again.is_refused
    assert not again.applyable


def test_values_that_a_condition_read_are_shown(tmp_path: Path, lake: Plan) -> None:
    [finding] = asked(tmp_path, lake, rule("condition = plan.add < 2")).findings
    assert finding.values == (("plan.add", str(len(lake.resources))),)
    assert finding.message == "This does not hold: plan.add < 2"
    assert isinstance(json.dumps(dataclasses.asdict(finding)), str)
    assert isinstance(finding, Finding)
