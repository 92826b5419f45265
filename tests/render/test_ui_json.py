"""One JSON object a line while a command runs, in the shape of Terraform's."""

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import error, warning
from flareiac.kernel.sources import Source
from flareiac.model.desired import OutputValue
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport
from flareiac.model.events import Completed, Failed, Note, Progressed, Skipped, Started
from flareiac.model.plan import OutputChange
from flareiac.render.counts import EndedChanges
from flareiac.render.ui_json import drift_lines, event_record, plan_lines, summary_record
from flareiac.sdk.changes import Action
from tests.formats.printed_checks import check_lines
from tests.render.plans import change, plan, read, resource


def clock() -> float:
    return 1_000_000_000.5


def test_a_plan_is_told_from_version_to_complaints() -> None:
    source = Source("main.flare.hcl", 'table "é" { x = 1 }\n')
    made = plan(
        resource("table.a", Action.CREATE, planned={}),
        resource('job.b["eu"]', Action.REPLACE, drift=("it died",)),
        resource("table.c", Action.NO_OP),
        resource("table.d", Action.FORGET),
        outputs={"o": OutputChange(before=None, after=OutputValue(value=None, sensitive=True))},
    )
    complaint = warning(Code("TOY001", "Careful"), "Or else.", subject=source.span(12, 17))
    found = plan_lines(made, [complaint], {source.path: source}, tool_version="0.1.0", clock=clock)
    lines = read(found)
    assert lines == found
    assert [item["type"] for item in lines] == [
        "version",
        "resource_drift",
        "planned_change",
        "planned_change",
        "planned_change",
        "change_summary",
        "outputs",
        "diagnostic",
    ]
    assert all({"@level", "@message", "@module", "@timestamp"} <= item.keys() for item in lines)
    assert lines[0]["@timestamp"] == "2001-09-09T01:46:40.500000Z"
    assert [(item["change"]["resource"]["addr"], item["change"]["action"]) for item in lines[2:5]] == [
        ("table.a", "create"),
        ('job.b["eu"]', "replace"),
        ("table.d", "remove"),
    ]
    assert lines[3]["change"]["resource"]["resource_key"] == "eu"
    assert lines[5]["@message"] == "Plan: 2 to add, 0 to change, 1 to destroy. To forget: 1."
    counted = {
        "add": 2,
        "change": 0,
        "import": 0,
        "remove": 1,
        "forget": 1,
        "restart": 0,
        "lose": 0,
        "due": 0,
    }
    assert lines[5]["changes"] == {**counted, "operation": "plan"}
    assert lines[6]["outputs"] == {"o": {"sensitive": True, "action": "create"}}
    assert lines[7]["@level"] == "warn"
    assert lines[7]["diagnostic"]["range"]["start"] == {"line": 1, "column": 13, "byte": 13}


def test_without_a_plan_only_complaints_follow_the_version() -> None:
    lines = plan_lines(None, [error(Code("TOY001", "Broken"))], {}, tool_version="0.1.0", clock=clock)
    assert [(item["type"], item["@message"]) for item in lines] == [
        ("version", "FlareIaC 0.1.0"),
        ("diagnostic", "Error: Broken"),
    ]


def test_each_event_of_an_apply_has_its_line() -> None:
    made = plan(resource("table.a", Action.CREATE, planned={}), resource("job.b", Action.RECORD))
    create, record = made.operations
    found = [
        event_record(item, clock=clock)
        for item in (
            Started(operation=create),
            Progressed(operation=create, message="", elapsed=10.4),
            Completed(operation=create, elapsed=12.9),
            Failed(operation=create, elapsed=1.0, diagnostics=(error(Code("TOY001", "Broken")),)),
            Skipped(operation=create, reason="table.z did not succeed"),
            Started(operation=record),
            Note(message="settled"),
        )
    ]
    lines = read([item for item in found if item is not None])
    assert [item["type"] for item in lines] == [
        "apply_start",
        "apply_progress",
        "apply_complete",
        "apply_errored",
        "apply_skipped",
        "apply_start",
        "log",
    ]
    assert lines[0]["hook"]["action"] == "create"
    assert lines[0]["hook"]["resource"]["addr"] == "table.a"
    assert [item["hook"].get("elapsed_seconds") for item in lines[:4]] == [None, 10, 12, 1]
    assert [item["hook"]["flareiac"].get("seconds") for item in lines[:4]] == [None, 10.4, 12.9, 1.0]
    assert all("apply" not in item["hook"]["flareiac"] for item in lines[:4])
    check_lines("ui", lines)
    assert [item["@message"] for item in lines[:4]] == [
        "table.a: Creating...",
        "table.a: Still creating... [10s elapsed]",
        "table.a: Creation complete after 12s",
        "table.a: Creation errored after 1s: Broken",
    ]


def test_lines_say_how_much_of_an_apply_has_ended() -> None:
    """A change ends with the last of its operations, and records count as no change."""
    made = plan(
        resource("table.a", Action.CREATE, planned={}),
        resource("table.b", Action.CREATE, planned={}),
        resource("table.c", Action.CREATE, planned={}),
        resource("job.b", Action.RECORD),
    )
    changes = EndedChanges(made.operations)
    shares = []
    for operation in made.operations:
        changes.end(operation.id)
        event = Completed(operation=operation, elapsed=0.25)
        line = event_record(event, changes=changes, clock=clock)
        assert line is not None
        check_lines("ui", [line])
        own = read(line)["hook"]["flareiac"]
        assert own["seconds"] == 0.25
        shares.append((own["apply"]["ended"], own["apply"]["total"], own["apply"]["percent"]))
    assert sorted(shares) == [(1, 3, 33), (2, 3, 66), (3, 3, 100), (3, 3, 100)]


def test_the_summary_counts_what_was_done() -> None:
    made = plan(
        resource("table.a", Action.CREATE, planned={}),
        resource("table.b", Action.UPDATE, changes=(change(("x",), 1, 2),)),
    )
    whole = summary_record(made, {"create:table.a", "update:table.b"}, clock=clock)
    assert whole["@message"] == "Apply complete! Resources: 1 added, 1 changed, 0 destroyed."
    part = read(summary_record(made, {"create:table.a"}, clock=clock))
    assert part["@message"] == "Apply incomplete: 1 of 2 operations done."
    assert (part["changes"]["add"], part["changes"]["change"], part["changes"]["operation"]) == (
        1,
        0,
        "apply",
    )


def test_each_finding_is_a_line() -> None:
    finding = DriftFinding(
        address="job.a", kind=DriftClass.MISSING, text="the driver is dead", fingerprint="f"
    )
    report = DriftReport(findings=(finding,), addresses=("job.a", "job.b", "job.c"))
    _, line, summary = read(drift_lines(report, tool_version="0.1.0", clock=clock))
    assert (line["type"], line["change"]["action"], line["change"]["flareiac"]["class"]) == (
        "resource_drift",
        "delete",
        "missing",
    )
    assert line["change"]["flareiac"]["fingerprint"] == "f"
    assert (summary["type"], summary["@message"]) == ("drift_summary", "Drift: 1 missing; 3 checked.")
    assert summary["drift"] == {
        "drifted": True,
        "checked": 3,
        "unchecked": 0,
        "findings": 1,
        "ignored": 0,
        "changed": 0,
        "missing": 1,
        "unmanaged": 0,
        "unhealthy": 0,
    }
