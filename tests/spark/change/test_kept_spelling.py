"""A type that an earlier release recorded in another spelling is the same type."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.changes import Action
from tests.spark.declared import LAKE, STATEFUL, Loaded, loaded, proposal, running

TYPE = "struct<a: int, `b c`: list<string>>"
PROJECT = (LAKE + STATEFUL).replace(
    'column "unread" { type = "string" }', f'column "nested" {{ type = "{TYPE}" }}'
).replace("count(*) AS n", "sum(nested.a) AS n")  # fmt: skip


def respelled(project: Loaded, text: str) -> Loaded:
    """The project as an earlier release recorded it."""

    def of(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: of(inner) for name, inner in value.items()}
        return text if value == TYPE else value

    job = project.resources["job.x"]
    attributes = of(job.attributes)
    assert attributes != job.attributes
    return replace(project, resources={**project.resources, "job.x": replace(job, attributes=attributes)})


@pytest.mark.parametrize(
    "text", ["struct<`a`: int, `b c`: list<string>>", "struct<a: int, b c: list<string>>"]
)
def test_quotes_around_names_are_no_change(text: str, tmp_path: Path) -> None:
    new, old = loaded(PROJECT, tmp_path / "new"), respelled(loaded(PROJECT, tmp_path / "old"), text)
    plan = proposal(new, old, running(operators=("stateStoreSave",)))
    assert plan.action is Action.NO_OP
    assert not plan.blockers
    assert not plan.changes


def test_another_type_is_a_change(tmp_path: Path) -> None:
    other = TYPE.replace("int", "long")
    new, old = loaded(PROJECT, tmp_path / "new"), respelled(loaded(PROJECT, tmp_path / "old"), other)
    assert proposal(new, old, running(operators=("stateStoreSave",))).blockers
