"""Two states and one checkpoint: only one of them uses it, and the other says so."""

from pathlib import Path

import pytest

from flareiac_spark.checkpoint_files.manager import manager_of
from tests.spark.checkpoint_sample import sample
from tests.support.command_line import Ended, flareiac

TAKEOVER = 'import {{\n  to = checkpoint.orders\n  id = "{place}"\n  takeover = true\n}}\n'


class Team:
    """One project of several that can reach a folder of checkpoints."""

    def __init__(self, place: Path, root: Path) -> None:
        self.place, self.root = place, root
        root.mkdir()

    def declare(self, *, blocks: str = "", on_destroy: str = "retain") -> None:
        text = f'checkpoint "orders" {{\n  location = "{self.place}"\n  on_destroy = "{on_destroy}"\n}}\n'
        (self.root / "main.flare.hcl").write_text(text + blocks.format(place=self.place))

    def run(self, *arguments: str) -> Ended:
        return flareiac(self.root, *arguments)

    def apply(self) -> Ended:
        return self.run("apply", "-auto-approve")


@pytest.fixture
def prod(tmp_path: Path) -> Team:
    team = Team(tmp_path / "checkpoints", tmp_path / "prod")
    team.declare()
    assert team.apply().code == 0
    return team


@pytest.fixture
def dev(tmp_path: Path) -> Team:
    return Team(tmp_path / "checkpoints", tmp_path / "dev")


def blocked(ended: Ended) -> bool:
    return ended.code == 4 and "Another state manages the checkpoint" in ended.text


@pytest.mark.parametrize("is_used", [False, True])
def test_a_checkpoint_is_taken_over_and_taken_back(prod: Team, dev: Team, is_used: bool) -> None:
    if is_used:
        sample(prod.place / "all" / "g0001")
    dev.declare()
    assert blocked(dev.run("plan", "-detailed-exitcode"))
    dev.declare(blocks=TAKEOVER.replace("  takeover = true\n", ""))
    assert blocked(dev.apply())
    dev.declare(blocks=TAKEOVER)
    assert "take the checkpoint over from the state" in dev.run("plan").out
    assert dev.apply().code == 0
    assert dev.run("plan", "-detailed-exitcode").code == 0

    prod.declare(blocks=TAKEOVER)
    assert blocked(prod.apply()), "a block that stays takes nothing back"
    (prod.root / "main.flare.hcl").write_text("removed {\n  from = checkpoint.orders\n}\n")
    assert prod.apply().code == 0
    prod.declare(blocks=TAKEOVER)
    assert prod.apply().code == 0
    assert blocked(dev.run("plan", "-detailed-exitcode"))


def test_a_checkpoint_of_another_state_is_not_deleted(prod: Team, dev: Team) -> None:
    prod.declare(on_destroy="delete")
    assert prod.apply().code == 0
    (prod.root / "main.flare.hcl").write_text("")
    assert prod.run("plan", "-out=plan.json").code == 0
    sample(prod.place / "all" / "g0001")
    dev.declare(blocks=TAKEOVER)
    assert dev.apply().code == 0
    late = prod.run("apply", "plan.json")
    assert late.code != 0
    assert blocked(prod.run("plan", "-detailed-exitcode"))
    assert (prod.place / "all" / "g0001" / "metadata").exists()


def test_a_mark_that_cannot_be_read_is_not_none(prod: Team) -> None:
    assert manager_of(prod.place)
    (prod.place / "managed-by.json").write_text("{")
    prod.declare(on_destroy="delete")
    ended = prod.run("plan")
    assert ended.code == 1
    said = " ".join(ended.text.replace("│", " ").split())
    assert "does not say which state manages the checkpoint" in said
