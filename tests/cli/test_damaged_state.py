"""A state with a part of a wrong shape: it is said which, also where a digest vouches for it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.data import digest
from tests.support.command_line import flareiac

LAKE = """
catalog "x" {
  uri       = "sqlite:///lake.db"
  warehouse = "warehouse"
}
namespace "n" { catalog = catalog.x }
table "t" {
  catalog   = catalog.x
  namespace = "n"
  column "id" { type = "long" }
}
"""
STATE = Path(".flareiac/state/default/snapshot.json")
_Record = dict[str, Any]


def _applied(root: Path, more: str = "") -> None:
    (root / "main.flare.hcl").write_text(LAKE + more, encoding="utf-8")
    done = flareiac(root, "apply", "-auto-approve")
    assert done.code == 0, done.text


def _damage(root: Path, change: Callable[[_Record], None], *, sealed: bool, address: str = "table.t") -> None:
    document = json.loads((root / STATE).read_bytes())
    del document["digest"]
    change(next(item for item in document["resources"] if item["address"] == address))
    if sealed:
        document["digest"] = digest(document)
    (root / STATE).write_text(json.dumps(document), encoding="utf-8")


def _said(root: Path) -> str:
    done = flareiac(root, "plan")
    assert done.code == 1
    assert "[FIS001]" in done.text, done.text
    return " ".join(done.text.replace("│", " ").split())


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda item: item["identity"].update(field_ids=[]), "identity.field_ids is [], expected an object"),
        (lambda item: item["identity"].update(uuid=7), "identity.uuid is 7, expected a value of type str"),
        (lambda item: item["identity"].update(colour=7), "identity.colour is not known"),
        (lambda item: item["attributes"].update(columns=7), "wrong shape"),
        (lambda item: item["attributes"].update(properties=[7]), "wrong shape"),
    ],
)
def test_a_part_of_a_resource(
    change: Callable[[_Record], None], place: str, sealed: bool, tmp_path: Path
) -> None:
    _applied(tmp_path)
    _damage(tmp_path, change, sealed=sealed)
    said = _said(tmp_path)
    assert "holds of table.t has the wrong shape" in said
    assert place in said


def test_a_key_that_is_not_known_is_named(tmp_path: Path) -> None:
    _applied(tmp_path)
    _damage(tmp_path, lambda item: item.update(colour="red"), sealed=False)
    assert "it is not a FlareIaC state: resources[table.t].colour is not known" in _said(tmp_path)


def test_what_release_0_1_0_recorded_of_a_moment_is_no_damage(tmp_path: Path) -> None:
    _applied(tmp_path)
    _damage(tmp_path, lambda item: item["identity"].update(gone=[7], destination_taken=False), sealed=True)
    done = flareiac(tmp_path, "plan")
    assert done.code == 0, done.text


CHECKPOINT = """
checkpoint "c" {}
"""


@pytest.mark.parametrize("sealed", [True, False])
def test_a_part_of_a_definition(sealed: bool, tmp_path: Path) -> None:
    _applied(tmp_path, CHECKPOINT)
    _damage(
        tmp_path,
        lambda item: item["attributes"].update(location=7),
        sealed=sealed,
        address="checkpoint.c",
    )
    said = _said(tmp_path)
    assert "holds of checkpoint.c has the wrong shape" in said
    assert "attributes.location is 7, expected a value of type str" in said
