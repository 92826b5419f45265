"""A job's canonical attributes and the records that are made of them."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.kernel.data import UNKNOWN, Attributes, Data, to_json
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import Mismatch
from flareiac_spark.definition.job_definition import JobDefinition
from tests.golden.case import CASES, configuration, name_of, read_case
from tests.spark.declared import LAKE, STATEFUL, loaded

_RICH = """
job "x" {
  checkpoint = checkpoint.x
  trigger    = { processing_time = "30s" }
  health     = { max_lag = "10m" }
  conf       = { "spark.sql.shuffle.partitions" = "4" }
  input "orders" { stream = stream.orders }
  input "regions" { table = table.regions }
  step "clean" {
    sql       = "SELECT * FROM orders JOIN regions USING (region)"
    dedup     = { keys = ["id"] }
    watermark = { column = "ts", delay = "10m" }
  }
  output "orders" {
    table = table.orders
    mode  = "merge"
    merge = { on = ["id"], latest_by = "ts" }
  }
}
"""


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_a_definition_is_its_attributes(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    for hcl in filter(None, (case.main, case.recorded)):
        for item in configuration(hcl, tmp_path, Diagnostics()).desired.resources.values():
            if item.address.type == "job" and item.attributes["application"]:
                assert _text(JobDefinition.of(item.attributes).attributes) == _text(item.attributes)


@pytest.mark.parametrize("hcl", [STATEFUL, _RICH], ids=["small", "rich"])
def test_each_part_of_another_shape_is_refused_with_its_place(hcl: str, tmp_path: Path) -> None:
    """One part after the other is left out, and replaced by what no part may be."""
    attributes = loaded(LAKE + hcl, tmp_path).attributes()
    for path in _paths(attributes):
        for damaged in (_without(attributes, path), _with(attributes, path, object())):
            place = _refused_at(damaged)
            if place is None:
                assert _is_open(path)
            else:
                # A step that is gone shows by its name in the order of steps.
                assert place.startswith((f"attributes.{path[0]}", "attributes.step_order"))


def test_a_step_that_is_not_there_is_refused(tmp_path: Path) -> None:
    attributes = {**loaded(LAKE + STATEFUL, tmp_path).attributes(), "step_order": ["hourly", "gone"]}
    with pytest.raises(Mismatch, match="step_order names other steps"):
        JobDefinition.of(attributes)


def test_what_is_known_after_apply_is_carried(tmp_path: Path) -> None:
    attributes = {
        **loaded(LAKE + STATEFUL, tmp_path).attributes(),
        "comment": UNKNOWN,
        "restart_nonce": UNKNOWN,
    }
    assert JobDefinition.of(attributes).attributes == attributes


def _refused_at(attributes: Attributes) -> str | None:
    try:
        JobDefinition.of(attributes)
    except Mismatch as mismatch:
        return mismatch.path
    return None


def _is_open(path: tuple[str | int, ...]) -> bool:
    """Maps may have fewer entries, lists fewer items, and some values are not looked into."""
    maps = (
        "inputs",
        "outputs",
        "conf",
        "columns",
        "options",
        "catalogs",
        "keys",
        "on",
        "packages",
        "column_order",
    )
    return (len(path) > 1 and path[-2] in maps) or path[-1] in (
        "reading",
        "tags",
        "params",
        "column_order",
        "application",
    )


def _paths(value: Data, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(item, (*at, key))


def _without(attributes: Attributes, path: tuple[str | int, ...]) -> Attributes:
    found = copy.deepcopy(attributes)
    del _holder(found, path)[path[-1]]
    return found


def _with(attributes: Attributes, path: tuple[str | int, ...], value: object) -> Attributes:
    found = copy.deepcopy(attributes)
    _holder(found, path)[path[-1]] = value
    return found


def _holder(value: Data, path: tuple[str | int, ...]) -> Data:
    for key in path[:-1]:
        value = value[key]
    return value


def _text(attributes: Attributes) -> str:
    """With the order of keys."""
    return json.dumps(to_json(attributes))
