"""A saved plan whose digest fits, and whose content no apply can follow, changes nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.data import digest
from tests.support.command_line import flareiac

TWO = 'thing "a" { value = "1" }\nthing "b" {\n  value = "2"\n  needs = [thing.a]\n}\n'


def _twice(plan: Any) -> None:
    plan["resources"].append(plan["resources"][0])


def _same_operation(plan: Any) -> None:
    plan["operations"].append(plan["operations"][0])


def _nowhere(plan: Any) -> None:
    plan["resources"] = [item for item in plan["resources"] if item["address"] != "thing.a"]


def _in_a_circle(plan: Any) -> None:
    first, second = plan["operations"]
    first["edges"] = [{"after": second["id"], "kind": "reference", "reason": "r"}]
    second["edges"] = [{"after": first["id"], "kind": "reference", "reason": "r"}]


def _other_shape(plan: Any) -> None:
    for item in plan["resources"]:
        item["proposal"]["planned"] = {"value": [[]], "needs": 7}
        item["desired"] = {"value": {}, "needs": True}


def _other_provider(plan: Any) -> None:
    for item in plan["resources"]:
        item["type"] = "table"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sealed")
    (root / "main.flare.hcl").write_text(TWO)
    assert flareiac(root, "plan", "-out=whole.json").code == 0
    return root


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_twice, "it holds thing.a twice"),
        (_same_operation, "it holds the operation"),
        (_nowhere, "and no resource of that address"),
        (_in_a_circle, "its operations wait for one another"),
        (_other_shape, "has the wrong shape"),
        (_other_provider, ""),
    ],
)
def test_a_plan_that_no_apply_can_follow_is_refused(
    saved: Path, damage: Callable[[Any], None], said: str
) -> None:
    document = json.loads((saved / "whole.json").read_text())
    document.pop("digest")
    damage(document)
    document["digest"] = digest(document)
    (saved / "damaged.json").write_text(json.dumps(document))
    done = flareiac(saved, "apply", "damaged.json")
    assert done.code == 1, done.text
    assert "FIX099" not in done.text
    assert said in " ".join(done.err.replace("│", " ").split()), done.err
    assert not list((saved / ".toy").glob("*.json"))
