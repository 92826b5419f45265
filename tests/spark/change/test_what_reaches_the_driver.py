"""Attributes whose change starts a query again, or that a running one takes, reach the driver: in the spec of
the job, or in the settings of its application.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args, get_type_hints

import pytest

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.records import encode
from flareiac.sdk.declared import declared_fields
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac_spark.definition import build
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.input_definition import Input
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import Output
from flareiac_spark.definition.step_definition import Step
from flareiac_spark.engine.application import needs_of, settings
from flareiac_spark_runtime import control as runtime
from flareiac_spark_runtime.control import job_spec_to_json
from tests.spark.change.test_what_attributes_do import (
    CASES,
    ELSEWHERE,
    PYTHON,
    Texts,
    both,
    declared,
    project,
)
from tests.spark.declared import Loaded, loaded

Keys: TypeAlias = tuple[str, ...]
REACHING: Final = (
    ChangeClass.LIVE,
    ChangeClass.RESTART,
    ChangeClass.RESULTS_CHANGE,
    ChangeClass.NEW_GENERATION,
)
"""The classes of changes after which a driver does something else than before."""


def given(of: Loaded, job: JobDefinition | None = None) -> Mapping[str, Any]:
    """Everything that the driver gets for a job, wherever the project is."""
    definition = job or of.job()
    references = {
        address: replace(resource, identity={"uuid": address}) if resource.type == "table" else resource
        for address, resource in of.references().items()
    }
    whole = {
        "spec": job_spec_to_json(spec_of("job.x", definition.attributes, references, of.project)),
        "application": encode(settings(of.project, definition.runs_in, needs_of(references))),
    }
    text = json.dumps(whole).replace(str(of.project.root), "ROOT")
    content: Mapping[str, Any] = json.loads(text)
    return content


def reaches(path: str, root: Path) -> bool:
    """Returns True if the driver gets something else after the change of an attribute."""
    before, after = both(path, False, root)
    return given(before) != given(after)


def is_reaching(on_change: OnChange | None) -> bool:
    return on_change is not None and not {on_change.does, on_change.over_state}.isdisjoint(REACHING)


def reaching(type_: str) -> set[str]:
    """The attributes of a type of which the driver has to know, by their paths."""
    return {f"{type_}.{name}" for name, on_change in declared(type_).items() if is_reaching(on_change)}


NOT_GIVEN: Final = {
    "job.restart_nonce": "it is a part of the job's digest, and a job of another digest starts again",
    "job.step.stateful": "a plan alone reads it, and asks for a new generation",
    "job.output.kafka.schema": "the driver gets what the registry has of it, under an id",
    "job.output.kafka.subject": "the driver gets what the registry has of it, under an id",
    "stream.kafka.subject": "the driver gets what the registry has of it, under an id",
    "stream.kafka.fail_on_data_loss": "true is its only value",
}
"""Attributes that are not given to the driver, and why."""
TRIED: Final = sorted(set().union(*map(reaching, ELSEWHERE)) & CASES.keys())


def test_each_attribute_is_tried_or_listed() -> None:
    assert set().union(*map(reaching, ELSEWHERE)) - CASES.keys() <= NOT_GIVEN.keys()


@pytest.mark.parametrize("path", TRIED)
def test_a_change_reaches_the_driver_or_is_listed(path: str, tmp_path: Path) -> None:
    assert reaches(path, tmp_path / "project") == (path not in NOT_GIVEN)


WHOLE: Final[Texts] = {
    "@job@": '''trigger = { processing_time = "9s" }
  restart = { max_failures = 5, within = "2h", backoff = "20s" }
  code    = "a"''',
    "@query@": PYTHON,
    "@job.step@": """dedup     = { keys = ["region"] }
    watermark = { column = "ts", delay = "5m" }""",
    "@output@": """table = table.rows
    mode  = "merge"
    merge = { on = ["region"], latest_by = "n", update_if = "s.n > 1", delete_if = "s.n < 0" }""",
}
"""Texts of a job in which each attribute that is an object has all of its parts."""
OTHER_VALUES: Final[Mapping[str, Data]] = {"job.trigger.kind": "once"}
"""Values of parts that take not every text."""
PARTS_NOT_GIVEN: Final = {"job.code.path": "the digest of the modules names the folder that the driver reads"}


def objects(job: JobDefinition) -> Iterator[tuple[str, Keys, Any]]:
    """The attributes that are objects: path, where they stand in the canonical attributes, and their record."""
    holders: list[tuple[str, Keys, Any]] = [
        ("job", (), job),
        *(("job.input", ("inputs", name), record) for name, record in job.inputs.items()),
        *(("job.step", ("steps", name), record) for name, record in job.steps.items()),
        *(("job.output", ("outputs", name), record) for name, record in job.outputs.items()),
    ]
    for prefix, keys, holder in holders:
        for each in declared_fields(type(holder)):
            record = getattr(holder, each.field)
            if is_object(type(record)) and is_reaching(each.attribute.on_change):
                yield f"{prefix}.{each.name}", (*keys, each.field), record


def is_object(kind: object) -> bool:
    return is_dataclass(kind) and kind is not Reference


def declared_objects(prefix: str, record: type) -> Iterator[str]:
    """The paths of the attributes that may be objects."""
    kinds = get_type_hints(record)
    for each in declared_fields(record):
        if is_reaching(each.attribute.on_change) and any(map(is_object, members(kinds[each.field]))):
            yield f"{prefix}.{each.name}"


def members(kind: object) -> tuple[object, ...]:
    return get_args(kind) or (kind,)


def changed(attributes: Attributes, keys: Keys, path: str) -> Attributes:
    """The attributes with another value at a place."""
    key, *rest = keys
    old = attributes[key]
    if rest:
        return {**attributes, key: changed(old, tuple(rest), path)}
    return {**attributes, key: OTHER_VALUES[path] if path in OTHER_VALUES else other_than(old)}


def other_than(value: Data) -> Data:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [*value, "x"]
        case _:
            raise AssertionError(f"the sample has no part that could be changed: {value!r}")


def parts_not_given(root: Path) -> set[str]:
    """The parts of objects of which the driver gets the same whatever their value is."""
    module = root / "a" / "score.py"
    module.parent.mkdir(parents=True)
    module.write_text("def one(spark, inputs, params): return inputs['orders']\n")
    whole = loaded(project("files", False, WHOLE), root)
    job, before = whole.job(), given(whole)
    tried = [each for each in objects(job) if each[0] not in NOT_GIVEN]
    records = [("job", JobDefinition), ("job.step", Step)]
    records += [("job.input", kind) for kind in get_args(Input)]
    records += [("job.output", kind) for kind in get_args(Output)]
    known = {path for prefix, record in records for path in declared_objects(prefix, record)}
    assert {path for path, _keys, _record in tried} == known - NOT_GIVEN.keys()
    parts = {
        f"{path}.{part.name}": (*keys, part.name) for path, keys, record in tried for part in fields(record)
    }
    return {
        path
        for path, keys in parts.items()
        if given(whole, JobDefinition.of(changed(job.attributes, keys, path))) == before
    }


def test_each_part_of_an_object_reaches_the_driver_or_is_listed(tmp_path: Path) -> None:
    assert parts_not_given(tmp_path / "project") == PARTS_NOT_GIVEN.keys()


def forget(record: type, name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A field of the spec keeps one value, as one that nothing fills."""
    as_run: Callable[..., Any] = build._as_run

    def forgetful(made: type, defined: object, **others: object) -> Any:
        return as_run(made, defined, **{**others, **({name: value} if made is record else {})})

    monkeypatch.setattr(build, "_as_run", forgetful)


@pytest.mark.parametrize(
    ("path", "record", "name", "value"),
    [
        ("job.conf", runtime.JobSpec, "conf", {}),
        ("job.restart", runtime.JobSpec, "restart", runtime.Restart()),
        ("job.step.sql", runtime.Step, "sql", "SELECT 1"),
        ("job.input.files.options", runtime.FilesInput, "options", {}),
        ("job.output.options", runtime.TableOutput, "options", {}),
        ("job.output.kafka.key", runtime.KafkaOutput, "key", None),
    ],
)
def test_a_field_that_is_forgotten_is_noticed(
    path: str, record: type, name: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(record, name, value, monkeypatch)
    assert not reaches(path, tmp_path / "project")


def test_a_part_that_is_forgotten_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(runtime.Merge, "update_if", None, monkeypatch)
    assert parts_not_given(tmp_path / "project") - PARTS_NOT_GIVEN.keys() == {"job.output.merge.update_if"}
