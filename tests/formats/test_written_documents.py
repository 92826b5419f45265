"""Written documents fit their schemas, and a schema knows every field: a document that lacks one, or has
another one, does not fit.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from flareiac.app.discovery import installed
from flareiac.app.state_place.backend_record import BackendRecord, record_path, write_record
from flareiac.app.why import quotable_rules
from flareiac.kernel.data import write_json
from flareiac.kernel.records import Foreign, encode
from flareiac.model.journal import Entry, encode_entry
from flareiac.model.plan import Plan
from flareiac.model.plan_file import encode_plan
from flareiac.model.snapshot import Snapshot, decode_snapshot, encode_snapshot
from flareiac.render.report.content import report_of
from flareiac.render.report.json import report_json
from flareiac.render.report.markdown import LEAST_CHARACTERS, report_markdown
from flareiac.render.why.content import Lookups, why_of
from flareiac.render.why.text import why_text
from flareiac_spark_runtime.control import (
    ControlDirectory,
    Desired,
    DesiredJob,
    JobSpec,
    Operation,
    Result,
    Status,
    job_spec_to_json,
)
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.sources.kafka.topic_notes import NotedTopic, TopicNotes, notes_place, write_notes
from tests.formats.documents import DOCUMENTS, PRINTED, Document
from tests.formats.samples import samples
from tests.formats.test_recorded_resources import check_recorded
from tests.model.test_codecs import ENTRY, PLAN, SNAPSHOT
from tests.support.command_line import flareiac

RECORDS = (*DOCUMENTS, *(document for document in PRINTED if document.name in ("report", "why", "graph")))
"""The documents that are one record; see ``test_printed_documents`` for the others."""
VALIDATORS = {document.name: Draft202012Validator(document.schema()) for document in RECORDS}


def check(name: str, content: bytes | str | dict[str, Any]) -> None:
    """Fails unless a document fits its schema."""
    data = content if isinstance(content, dict) else json.loads(content)
    errors = [f"{error.json_path}: {error.message}" for error in VALIDATORS[name].iter_errors(data)]
    assert errors == []


def _document(document: Document, record: Any) -> dict[str, Any]:
    """The record with samples of what stands beside it."""
    return {**{name: _beside(kind) for name, kind in document.beside.items()}, **encode(record)}


def _beside(kind: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, dict):
        return {"root": "/r", "places": []}
    return samples(kind)[0]


CASES = [pytest.param(document, id=document.name) for document in RECORDS]


@pytest.mark.parametrize("document", CASES)
def test_a_schema_is_one(document: Document) -> None:
    Draft202012Validator.check_schema(document.schema())


@pytest.mark.parametrize("document", CASES)
def test_every_part_of_a_record_fits(document: Document) -> None:
    if document.name == "syntax-cache":
        pytest.skip("nodes are arrays, of which nothing makes samples: see test_caches")
    for record in samples(document.kind):
        check(document.name, json.loads(json.dumps(_document(document, record))))


@pytest.mark.parametrize("document", CASES)
def test_a_field_that_is_missing_or_not_known_does_not_fit(document: Document) -> None:
    if get_origin(document.kind) is Mapping:
        pytest.skip("the names in it are digests or addresses")
    whole = _document(document, samples(document.kind)[0])
    validator = VALIDATORS[document.name]
    is_foreign = isinstance(document.kind, type) and issubclass(document.kind, Foreign)
    assert validator.is_valid({**whole, "colour": "red"}) == is_foreign
    for name in whole:
        fits = validator.is_valid({key: value for key, value in whole.items() if key != name})
        assert fits == (name not in _always(document, whole)), name


def _always(document: Document, whole: dict[str, Any]) -> set[str]:
    """The fields that are there in the smallest document of the same kind."""
    schema = document.schema()
    options = [schema, *(schema.get("$defs", {}).values())]
    fitting = [item for item in options if whole.keys() <= item.get("properties", {}).keys()]
    return set.intersection(*(set(item["required"]) for item in fitting))


@given(SNAPSHOT)
def test_a_state_fits(snapshot: Snapshot) -> None:
    check("state", encode_snapshot(snapshot))


@given(ENTRY)
def test_a_record_of_the_journal_fits(entry: Entry) -> None:
    check("journal", encode_entry(entry))


@given(PLAN)
def test_a_saved_plan_fits(plan: Plan) -> None:
    check("plan", encode_plan(plan, tool_version="1", root="/r"))


@given(PLAN)
def test_a_report_fits(plan: Plan) -> None:
    """The report of any plan fits its schema, and its Markdown is in bounds."""
    report = report_of(plan, tool_version="1", types=installed().registry.types)
    check("report", json.loads(write_json(report_json(report))))
    assert len(report_markdown(report, LEAST_CHARACTERS)) <= LEAST_CHARACTERS


@given(PLAN)
def test_the_answers_of_why_fit(plan: Plan) -> None:
    """The answers about every address of any plan fit their schema, and can be read as text."""
    types = installed().registry.types
    lookups = Lookups(types=types, rules=quotable_rules())
    why = why_of(plan, [resource.address for resource in plan.resources], lookups, tool_version="1")
    check("why", json.loads(write_json(encode(why))))
    assert why_text(why, plan, colour=False, width=80, types=types)


def test_a_control_directory_fits(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path)
    control.prepare()
    (spec, *_) = samples(JobSpec)
    job = DesiredJob(digest="d", spec=job_spec_to_json(spec))
    control.update_desired(
        lambda desired: Desired(
            lineage=desired.lineage, workspace=desired.workspace, place=desired.place, jobs={"job.a": job}
        ),
        lineage="l",
        workspace="default",
    )
    control.write_status(samples(Status)[-1])
    control.submit_operation(Operation(id="one", jobs=(job.spec,)))
    control.write_result(Result(id="one", status="done"))
    control.write_refused_start(samples(RefusedStart)[-1])
    for name in ("desired", "status", "refused-start"):
        check(name, (tmp_path / f"{name}.json").read_bytes())
    check("job-spec", json.loads((tmp_path / "desired.json").read_bytes())["jobs"]["job.a"]["spec"])
    check("operation", (tmp_path / "operations" / "one.json").read_bytes())
    check("result", (tmp_path / "results" / "one.json").read_bytes())


def test_files_beside_a_state_fit(tmp_path: Path) -> None:
    write_record(tmp_path, BackendRecord(kind="s3", settings={"bucket": "b"}, lineages={"default": "l"}))
    check("backend", record_path(tmp_path).read_bytes())
    write_notes(tmp_path / "g0001", TopicNotes(topics=(NotedTopic(topic="t", id=None, cluster="c"),)))
    check("topics", notes_place(tmp_path / "g0001").read_text())


PROJECT = """
catalog "x" {
  uri       = "sqlite:///lake.db"
  warehouse = "warehouse"
}
namespace "n" { catalog = catalog.x }
table "t" {
  catalog   = catalog.x
  namespace = namespace.n
  column "id" { type = "long" }
  compaction {}
}
output "name" { value = table.t.name }
"""


def test_what_a_project_leaves_fits(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT, encoding="utf-8")
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 0, done.text
    (tmp_path / "main.flare.hcl").write_text(PROJECT.replace("long", "int"), encoding="utf-8")
    assert flareiac(tmp_path, "plan", "-out=saved.plan").code in (0, 4)
    state = tmp_path / ".flareiac" / "state" / "default"
    check("state", (state / "snapshot.json").read_bytes())
    resources = decode_snapshot((state / "snapshot.json").read_bytes(), "it").resources
    assert {record.type for record in resources.values()} == {"namespace", "table"}
    for record in resources.values():
        check_recorded(record.type, "attributes", record.attributes, record.address)
        check_recorded(record.type, "identity", record.identity, record.address)
    check("state-lock", (state / "lock.json").read_bytes())
    check("state", flareiac(tmp_path, "state", "pull").out)
    check("plan", (tmp_path / "saved.plan").read_bytes())
