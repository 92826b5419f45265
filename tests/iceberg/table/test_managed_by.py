"""Two states and one table: only one of them changes it, and the other says so."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.support.command_line import Ended, flareiac

TABLE = """
table "orders" {{
  catalog    = catalog.lake
  namespace  = "shop"
  on_destroy = "{on_destroy}"
  column "id" {{ type = "long" }}
{more}}}
"""
IMPORT = 'import {\n  to = table.orders\n  id = "lake.shop.orders"\n}\n'
TAKEOVER = IMPORT.replace("}", "  takeover = true\n}")
COMMENT = '  comment = "changed"\n'


class Team:
    """One project of several that share a lake."""

    def __init__(self, lake: Path, root: Path) -> None:
        self.root = root
        root.mkdir()
        uri = f"sqlite:///{lake}/catalog.db"
        (root / "lake.flare.hcl").write_text(
            f'catalog "lake" {{\n  uri = "{uri}"\n  warehouse = "{lake}/warehouse"\n}}\n'
        )

    def declare(self, more: str = "", *, blocks: str = "", on_destroy: str = "retain") -> None:
        text = TABLE.format(more=more, on_destroy=on_destroy) + blocks
        (self.root / "orders.flare.hcl").write_text(text)

    def run(self, *arguments: str) -> Ended:
        return flareiac(self.root, *arguments)

    def apply(self) -> Ended:
        return self.run("apply", "-auto-approve")


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def prod(lake: Path, tmp_path: Path) -> Team:
    team = Team(lake, tmp_path / "prod")
    team.declare()
    assert team.apply().code == 0
    return team


@pytest.fixture
def dev(lake: Path, tmp_path: Path) -> Team:
    return Team(lake, tmp_path / "dev")


def blocked(ended: Ended) -> bool:
    return ended.code == 4 and "Another state manages the table" in ended.text


@pytest.mark.parametrize("blocks", ["", IMPORT])
def test_a_pasted_block_changes_nothing(prod: Team, dev: Team, blocks: str) -> None:
    dev.declare(COMMENT, blocks=blocks)
    assert blocked(dev.run("plan", "-detailed-exitcode"))
    assert dev.apply().code == 4
    assert prod.run("plan", "-detailed-exitcode").code == 0


def test_a_table_is_taken_over_and_taken_back(prod: Team, dev: Team) -> None:
    prod.declare('  comment = "as it was"\n')
    assert prod.apply().code == 0
    dev.declare(blocks=TAKEOVER)
    plan = dev.run("plan")
    assert "take the table over from the state" in plan.out
    assert dev.apply().code == 0
    assert dev.run("plan", "-detailed-exitcode").code == 0

    assert blocked(prod.run("plan", "-detailed-exitcode"))
    assert "has taken the table over" in prod.run("drift").text
    dev.declare('  comment = "of dev"\n', blocks=TAKEOVER)
    assert dev.apply().code == 0
    drift = prod.run("drift").text
    assert "has taken the table over" in drift
    assert "comment" in drift
    dev.declare(blocks=TAKEOVER)
    assert dev.apply().code == 0
    prod.declare(COMMENT)
    assert blocked(prod.apply())
    for on_destroy in ("drop", "purge"):
        prod.declare(on_destroy=on_destroy)
        assert blocked(prod.run("apply", "-auto-approve", "-replace=table.orders"))

    prod.declare(COMMENT, blocks=TAKEOVER)
    assert blocked(prod.apply()), "a block that stays takes nothing back"
    (prod.root / "orders.flare.hcl").write_text("removed {\n  from = table.orders\n}\n")
    assert prod.apply().code == 0
    prod.declare(COMMENT, blocks=TAKEOVER)
    assert prod.apply().code == 0
    assert prod.run("plan", "-detailed-exitcode").code == 0
    assert blocked(dev.run("plan", "-detailed-exitcode"))


def test_a_table_that_was_taken_over_is_neither_dropped_nor_kept_from_being_forgotten(
    prod: Team, dev: Team
) -> None:
    prod.declare(on_destroy="drop")
    assert prod.apply().code == 0
    dev.declare(blocks=TAKEOVER)
    assert dev.apply().code == 0
    (prod.root / "orders.flare.hcl").unlink()
    assert blocked(prod.apply())
    (prod.root / "forget.flare.hcl").write_text("removed {\n  from = table.orders\n}\n")
    prod.apply()
    assert dev.run("plan", "-detailed-exitcode").code == 0


@pytest.mark.parametrize("change", [(), ("-destroy",)])
def test_a_saved_plan_does_nothing_once_another_state_has_taken_over(
    prod: Team, dev: Team, change: tuple[str, ...]
) -> None:
    prod.declare(on_destroy="drop")
    assert prod.apply().code == 0
    prod.declare(COMMENT, on_destroy="drop")
    assert prod.run("plan", *change, "-out=plan.json").code == 0
    dev.declare(blocks=TAKEOVER)
    assert dev.apply().code == 0
    ended = prod.run("apply", "plan.json")
    assert ended.code != 0
    assert "has taken it over" in ended.text
    assert dev.run("plan", "-detailed-exitcode").code == 0


def test_of_two_that_take_over_at_once_one_wins(prod: Team, dev: Team, lake: Path, tmp_path: Path) -> None:
    test = Team(lake, tmp_path / "test")
    for team in (dev, test):
        team.declare(blocks=TAKEOVER)
        assert team.run("plan", "-out=plan.json").code == 0
    assert dev.run("apply", "plan.json").code == 0
    late = test.run("apply", "plan.json")
    assert late.code != 0
    assert "has taken it over" in late.text
    assert dev.run("plan", "-detailed-exitcode").code == 0


def test_a_table_that_nobody_manages_is_marked_when_it_is_adopted(prod: Team, dev: Team) -> None:
    (prod.root / "orders.flare.hcl").unlink()
    assert prod.apply().code == 0
    dev.declare(blocks=IMPORT)
    assert blocked(dev.run("plan", "-detailed-exitcode")), "who forgot it can still come back"
    prod.declare(blocks=IMPORT)
    assert prod.apply().code == 0, "its own table needs no takeover"
    assert prod.run("plan", "-detailed-exitcode").code == 0


def test_takeover_takes_true_or_false(dev: Team) -> None:
    dev.declare(blocks=IMPORT.replace("}", '  takeover = "maybe"\n}'))
    ended = dev.run("validate")
    assert ended.code == 1
    assert '"takeover" takes true or false' in ended.text


def test_a_table_that_another_state_has_taken_over_is_not_rolled_back(
    prod: Team, dev: Team, lake: Path
) -> None:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{lake}/catalog.db", warehouse=f"file://{lake}/warehouse")
    for number in range(2):
        catalog.load_table("shop.orders").append(pa.table({"id": [number]}))
    first = catalog.load_table("shop.orders").snapshots()[0].snapshot_id
    catalog.close()
    dev.declare(blocks=TAKEOVER)
    assert dev.apply().code == 0
    back = prod.run("table", "rollback", "table.orders", f"-to={first}", "-auto-approve")
    assert back.code == 1
    assert "has taken over" in back.text


def test_an_import_of_a_whole_catalog_says_whose_tables_are(prod: Team, dev: Team) -> None:
    lineage = json.loads(prod.run("state", "pull").out)["lineage"]
    ended = dev.run("import", "-from-catalog", "lake.*.*")
    assert ended.code == 0, ended.text
    assert f"# The state {lineage} manages this table." in ended.out
    assert "takeover = true" in ended.out
