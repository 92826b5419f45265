"""The page of what runs: its content, and no text of a user as markup."""

from typing import Final

from flareiac.model.applied_from import AppliedFrom, OutsideReader
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.render.report.html import PICTURE
from flareiac.render.report.state_content import Seen, StateReport, state_report_of
from flareiac.render.report.state_html import state_html
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.maintenance import LastRun
from flareiac.sdk.owner import Owner
from flareiac.sdk.run_status import RunStatus
from flareiac.sdk.statistics import Statistics, StatisticsSheet
from flareiac.sdk.text_table import Column
from tests.render.test_report_html import parsed

NOW: Final = 1_795_900_000.0
SHEET: Final = StatisticsSheet(
    name="tables", subject="TABLE", columns=(Column("ROWS", right=True), Column("SNAPSHOTS", right=True))
)
HOSTILE: Final = '</td><script>alert(1)</script>"\u202e'


def record(address: str, owner: str = "", **runs: LastRun) -> ResourceRecord:
    return ResourceRecord(
        address=address,
        type=address.split(".")[0],
        provider="toy",
        attributes={},
        owner=Owner(name=owner) if owner else None,
        maintenance=runs,
    )


def snapshot() -> Snapshot:
    failed = LastRun(at=NOW - 7200, id="1", failed=f"no space {HOSTILE}")
    records = (
        record("job.sums", "Lake"),
        record("job.copy", f"Sales {HOSTILE}"),
        record(
            "table.orders", "Lake", expire_snapshots=LastRun(at=NOW - 60, id="2"), rewrite_data_files=failed
        ),
        record("table.totals"),
        record("checkpoint.sums"),
    )
    readers = (
        OutsideReader(
            address="consumer.board", subject="table.totals", columns=("k",), owner=Owner(name="BI")
        ),
        OutsideReader(address="consumer.board", subject="table.orders", owner=Owner(name="BI")),
    )
    return Snapshot(
        lineage="b2c0",
        serial=7,
        resources={each.address: each for each in records},
        dropped=(record("table.old"),),
        applied=AppliedFrom(folder=".", key="k", readers=readers),
    )


def seen() -> Seen:
    running = {
        "job.sums": RunStatus(
            phase="idle", batch=41, last_commit=NOW - 4, lag="3 records", input_rows_per_second=12.0
        ),
        "job.copy": RunStatus(phase="failed", failures=3, last_error=f"boom {HOSTILE}", lag="unknown"),
    }
    tables = {
        "table.orders": Statistics(
            figures={},
            cells=("1,204", "12"),
            lines=(),
            legend="rows: of the last snapshot",
            trouble=(("the last rewrite_data_files failed", f"no space {HOSTILE}"),),
        ),
        "table.totals": Statistics(figures={}, cells=("8", "2"), lines=()),
    }
    usages = (
        Usage(subject="table.orders", holder="job.sums", relation=Relation.STREAMS_FROM, reason=""),
        Usage(subject="table.totals", holder="job.sums", relation=Relation.WRITES, reason=""),
        Usage(subject="checkpoint.sums", holder="job.sums", relation=Relation.KEEPS_STATE_IN, reason=""),
        Usage(subject="table.totals", holder="job.copy", relation=Relation.STREAMS_FROM, reason=""),
    )
    readers = tuple(
        ReaderStatus(
            reader="consumer.board",
            subject=subject,
            group="",
            age_ms=7_200_000,
            max_age_ms=limit,
            lag=None,
            max_lag=None,
            verdict=verdict,
            reasons=reasons,
        )
        for subject, limit, verdict, reasons in (
            ("table.totals", None, None, ()),
            ("table.orders", 3_600_000, Verdict.BROKEN, (f"Its data is 2h old. {HOSTILE}",)),
        )
    )
    return Seen(time=NOW, running=running, statistics={SHEET: tables}, usages=usages, readers=readers)


def content() -> StateReport:
    return state_report_of(snapshot(), seen(), tool_version="0.1.0", workspace="prod", picture=PICTURE)


def test_the_verdict_names_what_is_wrong() -> None:
    parts = [(part.text, part.grave) for part in content().verdict]
    assert parts == [
        ("2 jobs", False),
        ("1 failed", True),
        ("1 idle", False),
        ("1 job with remarks", True),
        ("2 tables", False),
        ("1 table with remarks", True),
        ("1 sla broken", True),
    ]


def test_outside_readers_maintenance_and_what_was_dropped_are_in_it() -> None:
    report = content()
    assert [(each.subject, each.columns, each.owner) for each in report.readers] == [
        ("table.orders", None, "BI"),
        ("table.totals", ("k",), "BI"),
    ]
    assert [(run.name, bool(run.failed)) for run in report.runs] == [
        ("rewrite_data_files", True),
        ("expire_snapshots", False),
    ]
    assert report.dropped == ("table.old",)
    assert [row.address for row in report.others] == ["checkpoint.sums"]
    assert {(link.source, link.target) for link in report.lineage.links} == {
        ("table.orders", "job.sums"),
        ("job.sums", "table.totals"),
        ("checkpoint.sums", "job.sums"),
        ("table.totals", "job.copy"),
        ("table.totals", "consumer.board"),
        ("table.orders", "consumer.board"),
    }


def test_the_page_has_all_of_it_and_no_markup_of_others() -> None:
    page = state_html(content())
    found = parsed(page)
    assert {*snapshot().resources} <= set(found.ids)
    for text in (
        "3 records",
        "4s ago",
        "1,204",
        "boom </td><script>alert(1)</script>",
        "2h old",
        "\\u202e",
        "table.old",
    ):
        assert text in found.text
    assert "\u202e" not in page
    assert found.text.index("job.copy") < found.text.index("job.sums"), "what is wrong comes first"


def test_an_empty_state_has_a_page() -> None:
    nothing = Seen(time=NOW, running={}, statistics={})
    report = state_report_of(
        Snapshot(lineage="l"), nothing, tool_version="0.1.0", workspace="default", picture=PICTURE
    )
    assert "nothing was applied yet" in parsed(state_html(report)).text
