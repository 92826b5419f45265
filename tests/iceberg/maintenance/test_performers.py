"""Work that crosses to Spark: who carries it out, and the JSON that plans, journals and applications hold."""

from importlib.metadata import entry_points
from typing import Any

import pytest

from flareiac.kernel.records import Mismatch, decode, encode
from flareiac.sdk.table_tasks import GROUP, Work, performer_of
from flareiac_spark_runtime.control import Maintain, Operation
from tests.support.performers import task_of, work_of

RECORDED: list[dict[str, Any]] = [
    {
        "strategy": "sort",
        "sort_order": "id ASC NULLS FIRST",
        "where": None,
        "options": {"min-input-files": "5"},
        "kind": "rewrite_data_files",
    },
    {"options": {"rewrite-all": "true"}, "kind": "rewrite_delete_files"},
    {"kind": "rewrite_manifests"},
    {"older_than_ms": 1, "retain_last": 2, "held": [3], "kind": "expire_snapshots"},
    {"older_than_ms": 1, "dry_run": False, "prefix_mismatch": "error", "kind": "remove_orphans"},
    {"column": "ts", "type": "timestamptz", "before_ms": 1, "kind": "delete_rows"},
]
"""As release 0.1.0 writes them; its applications read nothing else."""


@pytest.mark.parametrize("data", RECORDED, ids=lambda data: str(data["kind"]))
def test_work_is_written_as_earlier_releases_read_it(data: dict[str, Any]) -> None:
    task = task_of(Work(data=data))
    assert work_of(task).data == data
    operation = Operation(
        id="maintain-1", work=Maintain(key="k", identifier=("c", "n", "t"), uuid="u", task=work_of(task))
    )
    written = encode(operation)
    assert written["work"]["task"] == data
    assert decode(Operation, written) == operation


def test_each_performer_is_declared_under_the_kind_of_its_work() -> None:
    names = {entry.name for entry in entry_points(group=GROUP)}
    assert names == {data["kind"] for data in RECORDED}
    for name in names:
        performer = performer_of(name)
        assert performer is not None
        assert performer.kind == name


def test_work_of_another_shape_is_not_begun() -> None:
    performer = performer_of("rewrite_manifests")
    assert performer is not None
    with pytest.raises(Mismatch, match="deep"):
        performer.task_of(Work(data={"kind": "rewrite_manifests", "deep": True}))
