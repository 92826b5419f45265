"""The display of tables: in a table of many, below one record, and unknown figures as a dash."""

from typing import Any

from flareiac.kernel.records import decode
from flareiac.render.statistics_text import statistics_json, statistics_text
from flareiac.sdk.statistics import Statistics
from flareiac_iceberg.maintenance.statistics import TableStatistics
from flareiac_iceberg.maintenance.statistics_sheet import SHEET
from flareiac_iceberg.maintenance.statistics_text import statistics_of

NOW = 1_000_000
EMPTY: dict[str, Any] = {
    "rows": 0,
    "rows_at_most": None,
    "bytes": 0,
    "files": 0,
    "delete_files": 0,
    "small_files": None,
    "looked_at_files": None,
    "looked_at": None,
    "snapshots": 0,
    "oldest_snapshot": None,
    "last_commit": None,
    "names": [],
    "format_version": 2,
    "location": "file:///lake/a",
    "maintenance": [],
}


def run(name: str, last: float | None = None, following: float | None = None, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "declared": True,
        "last": last,
        "next": following,
        "failed": None,
        "result": None,
        **more,
    }


FULL = EMPTY | {
    "rows": 12_345_678,
    "bytes": 5 * 1024**3 + 300 * 1024**2,
    "files": 400,
    "delete_files": 3,
    "small_files": 30,
    "looked_at_files": 400,
    "snapshots": 21,
    "oldest_snapshot": (NOW - 90_000) * 1000,
    "last_commit": (NOW - 75) * 1000,
    "maintenance": [
        run("compaction", NOW - 7200, NOW + 3600, failed="a file was gone"),
        run("snapshot_expiry", NOW - 90_000, NOW + 90_000),
    ],
}


def statistics(found: dict[str, Any]) -> Statistics:
    return statistics_of(decode(TableStatistics, found), now=NOW)


UNKNOWN = Statistics(
    figures={},
    cells=("-",) * len(SHEET.columns),
    lines=(),
    trouble=(("not known", "It is gone: look."),),
)


def test_many_tables_are_lines_and_trouble_is_shown_below() -> None:
    rows = {
        "table.full": statistics(FULL),
        "table.empty": statistics(EMPTY),
        "table.gone": UNKNOWN,
        "table.due": statistics(EMPTY | due()),
    }
    assert statistics_text(SHEET, rows) == (
        "TABLE              ROWS   SIZE  FILES  SMALL FILES  DELETE FILES  SNAPSHOTS  LAST COMMIT  LAST "
        "MAINTENANCE            NEXT\n"
        "table.full   12,345,678  5.3GB    400           8%             3         21  1m ago       "
        "compaction 2h ago (failed)  compaction in 1h\n"
        "table.empty           0     0B      0            -             0          0  -            -        "
        "                   -\n"
        "table.gone            -      -      -            -             -          -  -            -        "
        "                   -\n"
        "table.due             0     0B      0            -             0          0  -            "
        "manifest_rewrite 59m ago    next apply, if due\n"
        "\n"
        "SMALL FILES: the share of data files that compaction would rewrite; - where it was not measured.\n"
        "\n"
        "table.full: the last compaction failed\n"
        "    a file was gone\n"
        "\n"
        "table.gone: not known\n"
        "    It is gone: look.\n"
    )


def test_a_share_of_an_earlier_time_says_so() -> None:
    aged = FULL | {"looked_at": (NOW - 7200) * 1000}
    found = statistics(aged)
    assert "  8% (2h ago)  " in statistics_text(SHEET, {"table.full": found})
    assert found.lines[0] == "12,345,678 rows, 5.3GB in 400 data files (8% small, 2h ago), 3 delete files"


def due() -> dict[str, Any]:
    return {
        "maintenance": [run("manifest_rewrite", NOW - 3599), run("retention", NOW - 9999, declared=False)]
    }


def test_one_table_is_told_in_sentences() -> None:
    assert list(statistics(FULL).lines) == [
        "12,345,678 rows, 5.3GB in 400 data files (8% small), 3 delete files",
        "21 snapshots since 1970-01-11 12:46:40 UTC, the last commit 1970-01-12 13:45:25 UTC",
        "compaction: ran 2h ago and failed, not before 1h from now",
        "snapshot_expiry: ran 1d ago, not before 1d from now",
    ]
    assert list(statistics(EMPTY | due()).lines) == [
        "0 rows, 0B in 0 data files",
        "0 snapshots",
        "manifest_rewrite: ran 59m ago, next when it is due",
        "retention: ran 2h ago, no longer declared",
    ]


def test_what_is_not_known_is_no_number() -> None:
    unknown = EMPTY | dict.fromkeys(("rows", "bytes", "files", "delete_files"))
    assert statistics(unknown).lines[0] == "- rows, - in - data files"


def test_machines_get_the_figures_as_they_are() -> None:
    assert statistics_json({"table.a": statistics(EMPTY)}) == [{"address": "table.a", **EMPTY}]


def test_rows_that_only_a_reader_can_count_have_a_bound() -> None:
    found = statistics_of(decode(TableStatistics, EMPTY | {"rows": None, "rows_at_most": 16}), now=NOW)
    assert found.cells[0] == "<=16"
    assert found.lines[0].startswith("at most 16 rows, ")
