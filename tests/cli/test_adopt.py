"""``adopt`` writes what changed behind the team's back into the files, and a plan of them changes nothing."""

import stat
from pathlib import Path
from typing import Final

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import DoubleType, LongType

from tests.support.command_line import Ended, flareiac
from tests.support.json_form import json_text

LAKE: Final = """catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake.db"
  warehouse = "warehouse"
}
"""
TABLE: Final = """table "t" {
  catalog   = catalog.lake
  namespace = "n"
  # who it is
  column "id" { type = "int" } # the key
  column "note" {
    type    = "string not null"
    comment = "a note" /* why */
  }
  partition_by = [bucket(4, "id")] // spread
  properties = {
    "write.parquet.compression-codec" = "zstd" # dense
    "a.b"                             = "1"
  }
}
"""
MANY: Final = """table "t" {
  for_each  = toset(["eu", "us"])
  catalog   = catalog.lake
  namespace = each.key
  column "id" { type = "int" }
}
"""


def applied(folder: Path, text: str) -> Table:
    """The table after an apply of the project."""
    (folder / "main.flare.hcl").write_text(text, newline="")
    for words in (("init",), ("apply", "-auto-approve")):
        ended = flareiac(folder, *words)
        assert ended.code == 0, ended.text
    return table(folder, "n.t")


def table(folder: Path, name: str) -> Table:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/lake.db", warehouse=(folder / "warehouse").as_uri())
    return catalog.load_table(name)


def change(target: Table) -> None:
    """All that another program may change."""
    with target.update_schema() as schema:
        schema.update_column("id", LongType())
        schema.add_column("extra", DoubleType(), doc="behind")
        schema.make_column_optional("note")
        schema.update_column("note", doc='other "${x}"')
    with target.transaction() as transaction:
        transaction.set_properties({"write.parquet.compression-codec": "gzip", "c.d": "2"})
        transaction.remove_properties("a.b")
    with target.update_spec() as spec:
        spec.add_identity("extra")


def adopt(folder: Path, place: str, *words: str) -> Ended:
    return flareiac(folder, "adopt", place, "-auto-approve", *words)


def text_of(folder: Path) -> str:
    return (folder / "main.flare.hcl").read_bytes().decode()


def test_everything_that_changed_is_written_and_then_only_recorded(tmp_path: Path) -> None:
    change(applied(tmp_path, LAKE + TABLE))
    ended = adopt(tmp_path, "table.t")
    assert ended.code == 0, ended.text
    assert (
        text_of(tmp_path)
        == LAKE
        + """table "t" {
  catalog   = catalog.lake
  namespace = "n"
  # who it is
  column "id" { type = "long" } # the key
  column "note" {
    type    = "string"
    comment = "other \\"$${x}\\"" /* why */
  }
  column "extra" {
    type    = "double"
    comment = "behind"
  }
  partition_by = [bucket(4, "id"), "extra"] // spread
  properties = {
    "write.parquet.compression-codec" = "gzip" # dense
    "c.d"                             = "2"
  }
}
"""
    )
    before = table(tmp_path, "n.t").metadata_location
    planned = flareiac(tmp_path, "plan")
    assert "No changes. Your resources match the configuration." in planned.out
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "drift").code == 0
    assert table(tmp_path, "n.t").metadata_location == before
    again = adopt(tmp_path, "table.t")
    assert again.code == 1
    assert "There is nothing to adopt [FIX080]" in again.err


def test_one_attribute_is_adopted_and_the_others_stay(tmp_path: Path) -> None:
    change(applied(tmp_path, LAKE + TABLE))
    ended = adopt(tmp_path, 'table.t.properties["a.b"]')
    assert ended.code == 0, ended.text
    removed = TABLE.replace('    "a.b"                             = "1"\n', "")
    assert text_of(tmp_path) == LAKE + removed
    ended = adopt(tmp_path, "table.t.column.note.comment")
    assert ended.code == 0, ended.text
    assert text_of(tmp_path) == LAKE + removed.replace('"a note"', '"other \\"$${x}\\""')
    again = adopt(tmp_path, "table.t.column.note.comment")
    assert (again.code, "The files say so already" in again.err) == (0, True)


def test_a_file_keeps_its_line_ends_its_mark_its_mode_and_its_link(tmp_path: Path) -> None:
    change(applied(tmp_path, LAKE + TABLE))
    real = tmp_path / "elsewhere" / "lake.hcl"
    real.parent.mkdir()
    named = tmp_path / "main.flare.hcl"
    windows = "\ufeff" + (LAKE + TABLE).replace("\n", "\r\n")
    named.unlink()
    real.write_text(windows, newline="")
    real.chmod(0o640)
    named.symlink_to(real)
    ended = adopt(tmp_path, "table.t.column")
    assert ended.code == 0, ended.text
    written = real.read_bytes().decode()
    assert named.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert written.startswith("\ufeff")
    assert written.count("\n") == written.count("\r\n") == windows.count("\n") + 4
    assert 'column "extra" {\r\n    type    = "double"\r\n' in written


def test_nothing_is_written_unless_it_is_approved(tmp_path: Path) -> None:
    change(applied(tmp_path, LAKE + TABLE))
    ended = flareiac(tmp_path, "adopt", "table.t", "-input=false")
    assert ended.code == 8
    assert '+  column "id" { type = "long" } # the key' in ended.out
    assert text_of(tmp_path) == LAKE + TABLE


@pytest.mark.parametrize(
    ("written", "place", "why"),
    [
        (TABLE.replace('"int"', "var.type"), "table.t.column.id", "The value here is made of var.type"),
        (TABLE.replace('"a note"', '"a ${var.word}"'), "table.t.column.note.comment", "made of var.word"),
        (
            TABLE.replace(
                'properties = {\n    "write', 'properties = merge(local.more, {\n    "write'
            ).replace('"1"\n  }', '"1"\n  })'),
            "table.t.properties",
            "The value here is made of local.more",
        ),
        (
            TABLE.replace("properties = {", "lifecycle { ignore_changes = [properties] }\n  properties = {"),
            "table.t.properties",
            "ignore_changes of its block covers that",
        ),
        ("", "table.t.column.id", "No block declares the resource"),
        (TABLE, "table.x", 'The state has no resource for "table.x"'),
        (TABLE, "table.t.sort_by", "What drifted of it: partition_by, "),
        (TABLE, "table", 'The state has no resource for "table"'),
        (TABLE + "table {", "table.t", "Unclosed bracket"),
    ],
)
def test_what_the_files_cannot_take_over_is_explained(
    tmp_path: Path, written: str, place: str, why: str
) -> None:
    change(applied(tmp_path, LAKE + TABLE))
    others = (
        'variable "type" { default = "int" }\nvariable "word" { default = "note" }\nlocals { more = {} }\n'
    )
    (tmp_path / "main.flare.hcl").write_text(LAKE + others + written)
    ended = adopt(tmp_path, place)
    assert (ended.code, why in " ".join(ended.err.replace("│", " ").split())) == (1, True), ended.text
    assert text_of(tmp_path) == LAKE + others + written


def test_an_instance_never_changes_the_others_of_its_block(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(LAKE + MANY)
    for words in (("init",), ("apply", "-auto-approve")):
        assert flareiac(tmp_path, *words).code == 0
    with table(tmp_path, "eu.t").update_schema() as schema:
        schema.update_column("id", LongType())
    ended = adopt(tmp_path, "table.t")
    assert 'These drifted: table.t["eu"].' in " ".join(ended.err.replace("│", " ").split())
    ended = adopt(tmp_path, 'table.t["eu"]')
    assert ended.code == 1
    assert 'change table.t["us"] as well' in " ".join(ended.err.replace("│", " ").split())
    assert text_of(tmp_path) == LAKE + MANY


def test_a_column_that_others_dropped_is_taken_out(tmp_path: Path) -> None:
    with applied(tmp_path, LAKE + TABLE).update_schema() as schema:
        schema.delete_column("note")
    ended = adopt(tmp_path, "table.t")
    assert ended.code == 0, ended.text
    start, end = TABLE.index('  column "note"'), TABLE.index("  partition_by")
    assert text_of(tmp_path) == LAKE + TABLE[:start] + TABLE[end:]
    assert "No changes. Your resources match the configuration." in flareiac(tmp_path, "plan").out


def test_columns_that_are_made_by_a_dynamic_block_stay_before_a_new_one(tmp_path: Path) -> None:
    made = """  column "address" { type = "struct<city: string, zip: int>" }
  dynamic "column" {
    for_each = ["x", "y"]
    labels   = [column.value]
    content { type = "int" }
  }
"""
    text = LAKE + MANY.replace('  for_each  = toset(["eu", "us"])\n', "").replace("each.key", '"n"')
    text = text.removesuffix("}\n") + made + "}\n"
    with applied(tmp_path, text).update_schema() as schema:
        schema.update_column(("address", "zip"), LongType())
        schema.add_column("Weird name", DoubleType())
    ended = adopt(tmp_path, "table.t")
    assert ended.code == 0, ended.text
    assert text_of(tmp_path) == text.removesuffix("}\n").replace("zip: int", "zip: long") + (
        '  column "Weird name" { type = "double" }\n}\n'
    )
    assert "No changes. Your resources match the configuration." in flareiac(tmp_path, "plan").out
    with table(tmp_path, "n.t").update_schema() as schema:
        schema.update_column("x", LongType())
        schema.move_first("y")
    ended = adopt(tmp_path, "table.t")
    said = " ".join(ended.err.replace("│", " ").split())
    assert ended.code == 1
    assert 'The block column "x" is not written out here' in said
    assert "it follows from the blocks inside, such as their order" in said


def test_a_table_that_is_gone_is_not_adopted(tmp_path: Path) -> None:
    target = applied(tmp_path, LAKE + TABLE)
    target.catalog.drop_table("n.t")
    ended = adopt(tmp_path, "table.t")
    assert ended.code == 1
    assert "apply makes it again" in " ".join(ended.err.replace("│", " ").split())
    assert text_of(tmp_path) == LAKE + TABLE


def test_a_block_in_json_is_left_to_the_program_that_writes_it(tmp_path: Path) -> None:
    text = json_text(LAKE + TABLE)
    (tmp_path / "main.flare.hcl.json").write_text(text)
    for words in (("init",), ("apply", "-auto-approve")):
        assert flareiac(tmp_path, *words).code == 0
    change(table(tmp_path, "n.t"))
    ended = adopt(tmp_path, "table.t")
    assert ended.code == 1
    assert "adopt does not change it" in " ".join(ended.text.replace("│", " ").split())
    assert "on main.flare.hcl.json line" in ended.text
    assert (tmp_path / "main.flare.hcl.json").read_text() == text
