"""Types that an earlier release recorded, or sent to its driver, in another spelling are the same types."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.sdk.changes import Action
from flareiac_spark.change.kept_reading import with_kept_reading
from flareiac_spark.column_types import whole_columns
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark_runtime.control.spec import job_spec_to_json
from flareiac_spark_runtime.driver.column_types import quote, spark_type
from tests.spark.declared import LAKE, STATEFUL, Loaded, loaded, proposal, running

TYPE = "struct<a: int, `b c`: list<string>>"
PROJECT = (
    (LAKE + STATEFUL)
    .replace('column "unread" { type = "string" }', f'column "nested" {{ type = "{TYPE}" }}')
    .replace('column "name" { type = "string" }', f'column "nested" {{ type = "{TYPE}" }}')
    .replace("  step", '  input "regions" { table = table.regions }\n  step', 1)
    .replace("count(*) AS n FROM orders", "sum(o.nested.a + r.nested.a) AS n FROM orders o JOIN regions r USING (region)")
    .replace("ts, ", "o.ts, ")
)  # fmt: skip
OLD = ["struct<`a`: int, `b c`: list<string>>", "struct<a: int, b c: list<string>>"]


def respelled(project: Loaded, text: str) -> Loaded:
    """The project as an earlier release recorded it, its table as well as its stream."""

    def of(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: of(inner) for name, inner in value.items()}
        return text if isinstance(value, str) and value.replace("`", "") == TYPE.replace("`", "") else value

    job = project.resources["job.x"]
    attributes = of(job.attributes)
    assert attributes != job.attributes
    return replace(project, resources={**project.resources, "job.x": replace(job, attributes=attributes)})


@pytest.mark.parametrize("text", OLD)
def test_quotes_around_names_are_no_change(text: str, tmp_path: Path) -> None:
    new, old = loaded(PROJECT, tmp_path / "new"), respelled(loaded(PROJECT, tmp_path / "old"), text)
    assert not [each for each in new.diagnostics if each.severity == "error"], new.diagnostics
    plan = proposal(new, old, running(operators=("stateStoreSave",)))
    assert plan.action is Action.NO_OP
    assert not plan.blockers
    assert not plan.changes


@pytest.mark.parametrize("text", OLD)
def test_what_runs_is_recognized(text: str, tmp_path: Path) -> None:
    """The digest of a job is made of the types that its driver was given, as they were recorded."""
    new, old = loaded(PROJECT, tmp_path / "new"), respelled(loaded(PROJECT, tmp_path / "old"), text)
    references = {
        address: replace(each, identity={"uuid": "u"}) if each.type == "table" else each
        for address, each in new.references().items()
    }
    kept = with_kept_reading(new.job(), JobDefinition.of(old.attributes()))
    spec = job_spec_to_json(spec_of("job.x", kept.attributes, references, new.project))
    assert f'"{text}"' in json.dumps(spec["inputs"])


def test_another_type_is_a_change(tmp_path: Path) -> None:
    new = loaded(PROJECT, tmp_path / "new")
    old = loaded(PROJECT.replace("a: int", "a: long"), tmp_path / "old")
    assert proposal(new, old, running(operators=("stateStoreSave",))).blockers


@given(
    st.text(st.characters(exclude_characters="<>(),:`[]", exclude_categories=("Cc", "Cs", "Z")), min_size=1)
)
def test_a_driver_reads_every_name_of_a_table(name: str) -> None:
    """Earlier releases sent names of fields bare, and so does this one: its jobs are theirs."""
    columns = {
        "s": {"type": "struct", "required": False},
        f"s.{name}": {"type": "int", "required": True},
        "s.plain": {"type": "long", "required": False},
    }
    if "." in name or name == "plain":
        return
    (column,) = whole_columns(columns, list(columns))
    assert column.type == f"struct<{name}: int not null, plain: long>"
    assert spark_type(column.type) == f"STRUCT<{quote(name)}: INT NOT NULL, `plain`: BIGINT>"


@pytest.mark.parametrize("name", ["a b", "a: b", "a, b", "list<int>"])
def test_a_name_with_blanks_or_marks_is_read_too(name: str) -> None:
    columns = {
        "s": {"type": "struct", "required": False},
        f"s.{name}": {"type": "int", "required": False},
    }
    (column,) = whole_columns(columns, list(columns))
    assert spark_type(column.type) == f"STRUCT<{quote(name)}: INT>"
