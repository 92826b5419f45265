"""The examples, run as a person runs them, in a directory of their own."""

from pathlib import Path

import pytest

from tests.examples.play import expect, played


@pytest.mark.example("import-lake")
def test_an_existing_lake_becomes_configuration(tmp_path: Path, environments: Path) -> None:
    expect(
        played("import-lake", tmp_path / "work", environments=environments),
        "Wrote 3 imports to sales.flare.hcl",
        'partition_by   = [day("ts")]',
        "Plan: 3 to import, 0 to add, 0 to change, 0 to destroy.",
        "Resources: 3 imported",
        "No changes.",
        "add column email string [metadata only]",
        "No changes.",
    )


@pytest.mark.example("partition-evolution")
def test_a_table_gets_another_layout_while_its_data_stays(tmp_path: Path, environments: Path) -> None:
    expect(
        played("partition-evolution", tmp_path / "work", environments=environments),
        "1 files by ts_day",
        'partition by hour("ts") [metadata only]',
        "in one commit",
        "No changes.",
        "1 files by ts_day",
        "files by ts_hour, visitor_bucket_2",
        "96 rows in all",
    )


@pytest.mark.jvm
@pytest.mark.example("maintenance-only")
def test_tables_that_others_fill_are_kept(tmp_path: Path, java_home: Path, environments: Path) -> None:
    expect(
        played("maintenance-only", tmp_path / "work", environments=environments, JAVA_HOME=str(java_home)),
        "24 rows in 12 files",
        "compaction: 12 small files (limit 10)",
        "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy. Due: 2.",
        "Maintained: 2.",
        "24 rows in 1 files, 2 snapshots",
        "No changes.",
        "table.measurements    24",
        "30 rows in 4 files",
    )


@pytest.mark.jvm
@pytest.mark.example("write-audit-publish")
def test_only_what_passes_is_published(tmp_path: Path, java_home: Path, environments: Path) -> None:
    expect(
        played("write-audit-publish", tmp_path / "work", environments=environments, JAVA_HOME=str(java_home)),
        "main: 0 orders, audit: 2 orders",
        "published\nmain: 2 orders, audit: 2 orders",
        "not published: orders [3]",
        "main: 2 orders, audit: 3 orders",
        "No changes.",
        "stopped",
    )
