"""A lake that other tools filled becomes configuration that plans empty."""

import os
import shutil
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.importing import Importable, Importing, ImportRequest, LeftOut
from flareiac_iceberg.discovery.block import chosen
from flareiac_iceberg.format.spec import TableDefinition
from tests.iceberg.discovery.shapes import add_unsayable, add_unsayable_columns, catalog_of, make_lake
from tests.iceberg.lake import Lake
from tests.support.command_line import flareiac


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n')
    return tmp_path


def imported(project: Path, pattern: str, out: str = "imported.flare.hcl") -> str:
    done = flareiac(project, "import", f"-from-catalog={pattern}", f"-out={out}")
    assert done.code == 0, done.text
    return done.err


def test_tables_of_many_shapes_are_only_imported_and_then_plan_empty(project: Path) -> None:
    names = make_lake(project)
    assert not imported(project, "lake.*.*")
    plan = flareiac(project, "plan", "-detailed-exitcode")
    assert f"Plan: {len(names)} to import, 0 to add, 0 to change, 0 to destroy." in plan.out
    for name in names:
        assert f'(imported from "lake.{name}")' in plan.out
    assert flareiac(project, "apply", "-auto-approve").code == 0
    assert flareiac(project, "plan", "-detailed-exitcode", "-refresh=full").code == 0
    assert flareiac(project, "drift").code == 0
    again = flareiac(project, "import", "-from-catalog=lake.*.*")
    assert (again.code, again.out) == (0, "")
    assert "lake.sales.plain: it is declared as table.sales_plain; nothing to do." in again.err


def test_what_is_written_is_what_somebody_chose(project: Path) -> None:
    make_lake(project)
    text = flareiac(project, "import", "-from-catalog=sales.*").out  # the only catalog there is
    wanted = Path(__file__).with_name("sales.flare.hcl")
    if os.environ.get("FLAREIAC_UPDATE_GOLDEN"):
        wanted.write_text(text.replace(str(project), "ROOT"), encoding="utf-8")
    assert text.replace(str(project), "ROOT") == wanted.read_text(encoding="utf-8")


def test_what_can_not_be_said_is_told_and_the_rest_still_plans_empty(project: Path) -> None:
    make_lake(project)
    add_unsayable(project)
    printed = imported(project, "lake.*")
    text = (project / "imported.flare.hcl").read_text(encoding="utf-8")
    assert (
        'Left out: lake.strange.a/b: Invalid name of a table: "a/b" cannot be the name of a table' in printed
    )
    assert "Left out: lake.strange.broken: The metadata of a table cannot be read" in printed
    assert "# Left out: lake.strange.broken" in text
    assert (
        "# The columns, and what is made of them, are left out and not managed. Two columns differ in "
        "case only" in text
    )
    assert flareiac(project, "apply", "-auto-approve").code == 0
    assert flareiac(project, "plan", "-detailed-exitcode", "-refresh=full").code == 0


def test_columns_that_no_path_can_say_are_told_and_the_others_are_what_they_are(project: Path) -> None:
    make_lake(project)
    add_unsayable_columns(project)
    imported(project, "lake.strange.*")
    text = (project / "imported.flare.hcl").read_text(encoding="utf-8")
    assert 'type = "struct<x: int>"' in text
    for name in ("s.`y.z`", "`a.b`", "``", "`s.x`"):
        assert f"# The column {name} is left out and not managed" in text
    assert "# partition_by is left out and not managed: it names a column (id " in text
    assert "that was dropped, or whose name cannot be" in " ".join(text.replace("\n#", " ").split())
    assert flareiac(project, "apply", "-auto-approve").code == 0
    assert flareiac(project, "plan", "-detailed-exitcode", "-refresh=full").code == 0


def test_a_table_that_can_not_be_looked_at_does_not_end_the_import_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(tmp_path)
    for name in ("odd", "plain"):
        lake.apply(f"table.{name}", {"namespace": "n", "column": {"id": {"type": "long"}}})

    def fail(observed: TableDefinition, warehouse: str) -> Attributes:
        if observed.name == "odd":
            raise RecursionError("nobody foresaw this")
        return chosen(observed, warehouse)

    monkeypatch.setattr("flareiac_iceberg.discovery.find.chosen", fail)
    assert isinstance(lake.session, Importing)
    odd, plain = lake.session.importable(
        ImportRequest(pattern="lake.n.*", references=lake.references, declared={})
    )
    lake.close()
    assert isinstance(odd, LeftOut)
    assert "RecursionError: nobody foresaw this" in odd.why
    assert isinstance(plain, Importable)


def test_what_a_data_block_declares_is_not_imported(project: Path) -> None:
    make_lake(project)
    (project / "data.flare.hcl").write_text(
        'data "table" "others" {\n  namespace = "sales"\n  name      = "plain"\n}\n'
    )
    assert "lake.sales.plain: it is declared as data.table.others; nothing to do." in imported(
        project, "lake.sales.*"
    )
    assert flareiac(project, "plan").code == 0


def test_drift_tells_the_same_of_what_nobody_manages_however_it_looks(project: Path) -> None:
    make_lake(project)
    add_unsayable_columns(project)
    imported(project, "lake.*")
    written = project / "imported.flare.hcl"
    written.write_text(written.read_text().replace('"read.split.target-size"', '"read.split.open-file-cost"'))
    assert flareiac(project, "apply", "-auto-approve").code == 0
    cheap, full = (flareiac(project, "drift", f"-refresh={mode}").out for mode in ("changed", "full"))
    assert cheap == full
    for name in ('property "read.split.target-size"', 'column "`a.b`"', 'column "``"'):
        assert name in cheap


def test_one_table_is_imported_under_the_address_that_is_asked_for(project: Path) -> None:
    make_lake(project)
    done = flareiac(project, "import", "table.old_orders", "lake.odd name.2024 orders", "-out=old.flare.hcl")
    assert done.code == 0, done.text
    text = (project / "old.flare.hcl").read_text(encoding="utf-8")
    assert 'table "old_orders" {' in text
    assert 'name           = "2024 orders"' in text
    assert flareiac(project, "apply", "-auto-approve").code == 0
    assert flareiac(project, "plan", "-detailed-exitcode").code == 0
    taken = flareiac(project, "import", "table.old_orders", "lake.sales.plain")
    assert (taken.code, "FIX041" in taken.err) == (1, True)


def test_a_declared_block_gets_its_import_block_only(project: Path) -> None:
    make_lake(project)
    (project / "plain.flare.hcl").write_text('table "plain" {\n  namespace = "sales"\n}\n')
    done = flareiac(project, "import", "table.plain", "lake.sales.plain")
    assert done.out == 'import {\n  to = table.plain\n  id = "lake.sales.plain"\n}\n'


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("-from-catalog=lake.nothing.*",), "FII181"),
        (("-from-catalog=orders",), "FII180"),
        (("-from-catalog=lake",), "FII180"),
        (("table.x", "lake.sales.nothing"), "FII181"),
        (("table.x", "other.sales.plain"), "FII180"),
        (('table.x["a"]', "lake.sales.plain"), "FIX042"),
        (("job.x", "lake.sales.plain"), "FIX044"),
        (("no address", "lake.sales.plain"), "FIX040"),
        (("-from-catalog=lake.*", "-out=main.flare.hcl"), "FIX046"),
        (("-from-catalog=lake.*", "-out=imported.hcl"), "FIX045"),
        (("-from-catalog=lake.*", "-out=no/where/imported.flare.hcl"), "FIX030"),
    ],
)
def test_what_can_not_be_done_is_refused_and_nothing_is_written(
    project: Path, words: tuple[str, ...], code: str
) -> None:
    make_lake(project)
    before = sorted(item.name for item in project.iterdir())
    done = flareiac(project, "import", *words)
    assert (done.code, code in done.err) == (1, True), done.text
    assert 'Did you mean "lake"?' not in done.err
    assert sorted(item.name for item in project.iterdir() if item.name != ".flareiac") == [
        item for item in before if item != ".flareiac"
    ]
    assert (project / "main.flare.hcl").read_text() == 'catalog "lake" {}\n'


def test_half_a_command_line_is_a_usage_error(project: Path) -> None:
    assert flareiac(project, "import").code == 64
    assert flareiac(project, "import", "table.x").code == 64
    assert flareiac(project, "import", "table.x", "lake.a.b", "-from-catalog=lake.*").code == 64


def test_a_catalog_that_does_not_exist_is_not_made(project: Path) -> None:
    done = flareiac(project, "import", "-from-catalog=lake.*")
    assert (done.code, "FII182" in done.err) == (1, True), done.text
    assert not (project / ".flareiac" / "lake").exists()


def test_two_catalogs_are_told_apart_and_labels_that_are_taken_are_not_used_again(project: Path) -> None:
    make_lake(project)
    (project / "main.flare.hcl").write_text(
        'catalog "lake" {}\ncatalog "other" {\n  uri = "sqlite:///other.db"\n}\n'
        'table "codec" {\n  catalog = catalog.other\n  namespace = "a"\n  column "id" { type = "long" }\n}\n'
    )
    done = flareiac(project, "import", "-from-catalog=lake.sales.codec")
    unclear = flareiac(project, "import", "-from-catalog=sales.codec")
    assert 'table "sales_codec" {' in done.out
    assert "catalog        = catalog.lake" in done.out
    assert (unclear.code, "FII180" in unclear.err) == (1, True)


@pytest.mark.parametrize("other", ["", 'catalog "other" {\n  uri = "sqlite:///other.db"\n}\n'])
def test_a_declared_catalog_with_the_name_of_the_default_one_is_named(project: Path, other: str) -> None:
    (project / "main.flare.hcl").write_text('catalog "embedded" {\n  name = "lake"\n}\n')
    make_lake(project)
    (project / "main.flare.hcl").write_text('catalog "embedded" {\n  name = "lake"\n}\n' + other)
    done = flareiac(project, "import", "-from-catalog=embedded.sales.codec", "-out=codec.flare.hcl")
    assert "catalog        = catalog.embedded" in (project / "codec.flare.hcl").read_text(), done.text
    assert flareiac(project, "validate").code == 0


def test_defaults_of_columns_and_what_others_named_are_no_change(project: Path) -> None:
    (project / "a.flare.hcl").write_text(
        'table "a" {\n  namespace = "n"\n  format_version = 3\n'
        '  column "n" {\n    type = "int"\n    default = 7\n  }\n'
        '  column "s" {\n    type = "string"\n    default = "$${a}"\n  }\n'
        '  branch "audit" { retain = "7d" }\n}\n'
    )
    assert flareiac(project, "apply", "-auto-approve").code == 0
    (project / "a.flare.hcl").unlink()
    shutil.rmtree(project / ".flareiac" / "state")
    imported(project, "lake.n.*")
    text = (project / "imported.flare.hcl").read_text()
    assert 'default = "$${a}"' in text
    blocks = text.replace("import {", "import {\n  takeover = true")
    (project / "imported.flare.hcl").write_text(blocks)
    assert flareiac(project, "apply", "-auto-approve").code == 0
    assert flareiac(project, "plan", "-detailed-exitcode", "-refresh=full").code == 0
    assert flareiac(project, "drift").code == 0


def test_a_table_that_changes_format_is_imported_as_it_is(project: Path) -> None:
    make_lake(project)
    catalog = catalog_of(project)
    with catalog.load_table("sales.v1").transaction() as transaction:
        transaction.upgrade_table_version(2)
    catalog.close()
    assert "format_version = 2" in flareiac(project, "import", "-from-catalog=lake.sales.v1").out
