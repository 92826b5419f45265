"""Destroying everything is looked at as the removal of every block: the plan says what would stop it."""

from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from tests.support.command_line import flareiac

BLOCKS = """
catalog "lake" {}
namespace "n" { on_destroy = "drop" }
table "own" {
  namespace  = "n"
  column "id" { type = "long" }
  on_destroy = "drop"
  depends_on = [namespace.n]
}
"""


def test_a_table_of_others_keeps_its_namespace(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(BLOCKS, encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    lake = tmp_path / ".flareiac/lake/default"
    catalog = SqlCatalog("lake", uri=f"sqlite:///{lake}/catalog.db", warehouse=f"file://{lake}/warehouse")
    catalog.create_table("n.theirs", Schema(NestedField(1, "id", LongType(), required=False)))
    for words in (("plan", "-destroy"), ("destroy", "-auto-approve")):
        done = flareiac(tmp_path, *words)
        assert done.code == 4, done.text
        assert "# namespace.n is blocked" in done.out
        assert "n holds theirs, and a catalog drops only empty namespaces." in done.out
    assert catalog.table_exists("n.own")
    catalog.drop_table("n.theirs")
    done = flareiac(tmp_path, "destroy", "-auto-approve")
    assert done.code == 0, done.text
    assert catalog.list_namespaces() == []
    catalog.close()


@pytest.mark.parametrize("words", [("-target=namespace.n",), ("-exclude=table.own",)])
def test_a_table_that_is_left_out_keeps_its_namespace(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Its removal would empty the namespace, and it is not part of this plan."""
    (tmp_path / "main.flare.hcl").write_text(
        BLOCKS.replace("  depends_on = [namespace.n]\n", ""), encoding="utf-8"
    )
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    for command in (("plan", "-destroy"), ("destroy", "-auto-approve")):
        done = flareiac(tmp_path, *command, *words)
        assert done.code == 4, done.text
        assert "n holds own, and a catalog drops only empty namespaces." in done.out
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n', encoding="utf-8")
    done = flareiac(tmp_path, "plan", *words)
    assert done.code == 4, done.text
    assert "n holds own, and a catalog drops only empty namespaces." in done.out
    done = (
        flareiac(tmp_path, "plan", *words, "-target=table.own")
        if words[0].startswith("-target")
        else flareiac(tmp_path, "plan")
    )
    assert done.code == 0, done.text
