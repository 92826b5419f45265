"""The law of two environments: a plan from another folder, or with other values, gives nothing that was
applied another name and lets nothing of another folder go, but where a line of the configuration says so.
"""

import json
import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pytest

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import make_plan
from tests.golden.case import main_configuration, planning_inputs, read_case

_CODE: Final = "FIS108"
_FOLDERS: Final = ("env/dev", "env/prod", ".")
_OWNERS: Final = ("", "", "", "a", "b")
_KINDS: Final = ("namespace", "name", "location", "checkpoint", "topic", "catalog", "brokers")


@dataclass(frozen=True, kw_only=True)
class Environment:
    """``named``: what is part of real names, by the part. ``here``: the blocks that it has."""

    folder: str
    owner: str
    variables: dict[str, object]
    named: dict[str, str]
    blocks: frozenset[str] = field(default_factory=frozenset)

    def hcl(self) -> str:
        named = self.named
        blocks = {
            "table": f"""
table "orders" {{
  catalog   = catalog.lake
  namespace = "site_{named["namespace"]}"
  name      = "orders_{named["name"]}"
  location  = "s3://bucket/tables/{named["location"]}"
  column "id" {{ type = "long" }}
}}
""",
            "checkpoint": f"""
checkpoint "orders" {{ location = "s3://bucket/checkpoints/{named["checkpoint"]}" }}
""",
            "topic": f"""
topic "orders" {{
  kafka      = kafka.main
  name       = "orders-{named["topic"]}"
  partitions = 1
}}
""",
        }
        return (
            f"""
catalog "lake" {{
  uri       = "postgresql://me@db.example/lake_{named["catalog"]}"
  warehouse = "s3://bucket/lake"
}}
kafka "main" {{ bootstrap_servers = "kafka-{named["brokers"]}.example:9092" }}
"""
        ) + "".join(blocks[name] for name in sorted(self.blocks))

    def given(self) -> dict[str, object]:
        return {"folder": self.folder, "owner": self.owner, "variables": self.variables}

    def names(self) -> dict[str, tuple[str, ...]]:
        """The name of each block in the world, without the address that it is reached through: the same
        object answers at both addresses.
        """
        parts = {
            "table": ("namespace", "name", "location"),
            "checkpoint": ("checkpoint",),
            "topic": ("topic",),
        }
        return {block: tuple(self.named[part] for part in parts[block]) for block in self.blocks}


def _environment(chance: random.Random, like: Environment | None = None) -> Environment:
    """One of its own, or one that differs from another in few things."""

    def chosen(before: str | None, others: tuple[str, ...]) -> str:
        return before if before is not None and chance.random() < 0.6 else chance.choice(others)

    variables = {"env": chosen(str(like.variables["env"]) if like else None, ("dev", "prod")), "size": 1}
    if chance.random() < 0.3:
        variables["extra"] = chance.choice(("x", [1, {"a": None}], None))
    blocks = (
        like.blocks
        if like and chance.random() < 0.7
        else frozenset(block for block in ("table", "checkpoint", "topic") if chance.random() < 0.7)
    )
    return Environment(
        folder=chosen(like.folder if like else None, _FOLDERS),
        owner=chosen(like.owner if like else None, _OWNERS),
        variables=variables,
        named={
            part: chance.choice(("dev", "prod"))
            if like is None or chance.random() < 0.25
            else like.named[part]
            for part in _KINDS
        },
        blocks=blocks,
    )


def _is_strange(then: Environment, now: Environment, *, shared: bool) -> tuple[bool, bool]:
    """Returns whether it may be another environment at all, and whether another folder's."""
    folder = shared and then.folder != now.folder
    both = then.variables.keys() & now.variables.keys()
    values = any(then.variables[name] != now.variables[name] for name in both)
    if now.owner and not then.owner:
        return False, False
    if now.owner != then.owner:
        return True, True
    if now.owner:
        return folder and values, folder and values
    return folder or values, folder


def _plan(then: Environment, now: Environment, folder: Path, *, shared: bool) -> Plan:
    options = json.dumps({"then": then.given(), "now": now.given()})
    path = folder / "case.txtar"
    path.write_text(
        f"law\n-- recorded.flare.hcl --\n{then.hcl()}\n-- main.flare.hcl --\n{now.hcl()}\n"
        f"-- options.json --\n{options}\n"
    )
    case, diagnostics = read_case(path), Diagnostics()
    inputs = planning_inputs(case, folder, main_configuration(case, folder, diagnostics))
    assert not diagnostics.has_errors, [item.line for item in diagnostics]
    return make_plan(replace(inputs, shared_state=shared), case.options.planning(), diagnostics)


def _check(seed: int, folder: Path) -> bool:
    chance = random.Random(seed)
    then = _environment(chance)
    now, shared = _environment(chance, then), chance.random() < 0.7
    plan = _plan(then, now, folder, shared=shared)
    blocked = [item for item in plan.blocked if any(b.code == _CODE for b in item.proposal.blockers)]
    strange, elsewhere = _is_strange(then, now, shared=shared)
    before, after = then.names(), now.names()
    moved = any(before[block] != after[block] for block in before.keys() & after.keys())
    left = bool(before.keys() - after.keys())
    assert len(blocked) == int((strange and moved) or (elsewhere and left)), (seed, then, now)
    return bool(blocked)


def test_few_pairs_of_environments_keep_what_is_theirs(tmp_path: Path) -> None:
    blocked = sum(_check(seed, tmp_path) for seed in range(80))
    assert 5 <= blocked <= 70


@pytest.mark.slow
def test_many_pairs_of_environments_keep_what_is_theirs(tmp_path: Path) -> None:
    for seed in range(1000, 3000):
        _check(seed, tmp_path)
