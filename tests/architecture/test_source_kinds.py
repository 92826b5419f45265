"""A kind of source is one package and its name: a queue, declared here, goes through every room of the Spark
provider that has to do with sources, and no room names a kind.
"""

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Final, Literal

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes
from flareiac.kernel.types import NUMBER, STRING
from flareiac.sdk.changes import Proposal
from flareiac.sdk.definitions import Number, Text
from flareiac.sdk.results import Recorded
from flareiac.sdk.schema import Attribute, Block
from flareiac_spark import sources, spark_provider
from flareiac_spark.checkpoint.describe import describe
from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark.column_types import Column
from flareiac_spark.definition.build import spec_of
from flareiac_spark.generation.carry_over import Positions, decide
from flareiac_spark.generation.prepare import StartPositions, prepare_folder
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.observation.job import JobFacts, of_disk
from flareiac_spark.settings import BATCH_SIZE, all_of
from flareiac_spark.sources.offsets import CarryOver, Offsets, SourceOnDisk, Write
from flareiac_spark.sources.source import Places, Source, Surroundings
from flareiac_spark_runtime import sources as runtime_sources
from flareiac_spark_runtime.control import StreamInput, job_spec_from_json, job_spec_to_json
from flareiac_spark_runtime.driver.inputs import open_marked
from flareiac_spark_runtime.sources.resolved import Opening, ResolvedSource, SpecColumn
from flareiac_spark_runtime.storage import Place
from tests.spark.checkpoint_sample import sample
from tests.spark.declared import LAKE, Loaded, loaded, proposal

PROVIDERS: Final = Path(spark_provider.__file__).parents[1]
PACKAGES: Final = (PROVIDERS / "flareiac_spark", PROVIDERS / "flareiac_spark_runtime")
PROJECT: Final = """
stream "tasks" {
  queue { name = "tasks" }
  column "id" { type = "long" }
}
job "x" {
  checkpoint = checkpoint.x
  input "tasks" { stream = stream.tasks }
  step "clean" { sql = "SELECT id FROM tasks" }
  output "orders" { table = table.orders }
}
"""
RAISED: Final = 'checkpoint "x" { generation = 2 }'


class QueueOffsets(Offsets):
    """One number for each part of a queue."""

    carry_over = CarryOver.POSITION
    read_again = "reads the queue from its first task"

    def is_own(self, offset: Any) -> bool:
        return isinstance(offset, dict) and list(offset) == ["tasks"]

    def describe(self, source: SourceOnDisk, log: Place) -> str:
        return f"up to task {json.loads(source.offset or '')['tasks'][0]}"

    def goes_on(self, source: SourceOnDisk) -> str:
        return f"queue from {source.offset} on"

    def begin_at(self, log: Place, offset: str, write: Write) -> None:
        write(log / "0", offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSource(Source):
    """The meaning of a ``queue`` block."""

    block: ClassVar = Block(
        description="Reads a queue.",
        attributes={
            "name": Attribute(type=STRING, description="Its name.", required=True),
            "first": Attribute(type=STRING, description="Where it begins.", default="oldest"),
            "per_batch": Attribute(type=NUMBER, description="Tasks of a batch."),
        },
    )
    offsets: ClassVar = QueueOffsets()
    harmless: ClassVar = all_of(BATCH_SIZE, "per_batch")
    first_start: ClassVar = ("first",)

    kind: Literal["queue"] = "queue"
    name: Text
    first: Text
    per_batch: Number | None

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        return cls.of_block(block), columns

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedSource:
        return ResolvedQueue(name=self.name, first=self.first, columns=columns)

    @property
    def shown(self) -> str:
        return f"the queue {self.name}"

    @property
    def place(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQueue(ResolvedSource):
    """The source as the driver gets it."""

    kind: Literal["queue"] = "queue"
    name: str
    first: str
    columns: tuple[SpecColumn, ...] = ()

    def open(self, opening: Opening, start: int | None) -> Any:
        return opening.session.queue(self.name, opening.schema(self.columns))


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the kind, and its name among the others."""
    for package, part, found in (
        (sources, "definition", QueueSource),
        (runtime_sources, "resolved", ResolvedQueue),
    ):
        module = ModuleType(f"{package.__name__}.queue.{part}")
        module.KIND = found  # type: ignore[attr-defined]  # as in the packages beside it
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(runtime_sources, "KINDS", (*runtime_sources.KINDS, "queue"))
    installed.cache_clear()
    yield
    installed.cache_clear()


def project(root: Path, *edits: tuple[str, str]) -> Loaded:
    text = LAKE + PROJECT
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    return loaded(text, root)


def on_disk(folder: Path) -> Path:
    """The checkpoint of a query that has read it."""
    sample(folder, ("queue",))
    for entry in (folder / "offsets").glob("[0-9]"):
        lines = entry.read_text().splitlines()
        entry.write_text("\n".join([*lines[:-1], json.dumps({"tasks": [int(entry.name)]})]))
    return folder


def facts(folder: Path) -> JobFacts:
    found = read_checkpoint(on_disk(folder))
    assert found is not None
    return JobFacts(
        digest="d", state="running", alive=True, phase="running", checkpoints={"orders": of_disk(found)}
    )


def changed(root: Path, *edits: tuple[str, str]) -> Proposal:
    """The plan for a running job that is changed by these edits."""
    return proposal(project(root / "new", *edits), project(root / "old"), facts(root / "g0001"))


def test_a_stream_of_it_is_read_and_checked(tmp_path: Path) -> None:
    found = project(tmp_path)
    assert found.codes == []
    source = {"kind": "queue", "name": "tasks", "first": "oldest", "per_batch": None}
    assert found.attributes()["inputs"]["tasks"]["source"] == source
    both = project(tmp_path, ("queue { name", "rate {}\n  queue { name"))
    assert '"rate" and "queue" exclude each other' in both.diagnostics[0].detail


def test_the_driver_gets_its_record_and_opens_it(tmp_path: Path) -> None:
    found = project(tmp_path)
    spec = spec_of("job.x", found.attributes(), found.references(), found.project, analysis=True)
    (item,) = job_spec_from_json(job_spec_to_json(spec)).inputs
    assert isinstance(item, StreamInput)
    assert item.source == ResolvedQueue(
        name="tasks", first="oldest", columns=(SpecColumn(name="id", type="long"),)
    )
    session: Any = SimpleNamespace(queue=lambda name, schema: (name, schema))
    assert open_marked(session, item, {}) == ("tasks", "`id` BIGINT")


def test_a_plan_says_what_a_change_of_it_does(tmp_path: Path) -> None:
    name = 'name = "tasks"'
    (blocked,) = changed(tmp_path, (name, 'name = "other"')).blockers
    assert "belong to the queue tasks, and the job would read the queue other" in blocked.why
    restarted = changed(tmp_path, (name, f"{name}\n    per_batch = 9\n  "))
    assert [step.text for step in restarted.steps] == [
        "stops after its current batch and starts on the same checkpoint: the input tasks changed"
    ]
    noted = changed(tmp_path, (name, f'{name}\n    first = "newest"\n  '))
    assert list(noted.reasons) == ["first takes effect with the next generation"]


def test_a_new_generation_goes_on_where_it_stands(tmp_path: Path) -> None:
    job = project(tmp_path / "project").job()
    streams = query_streams(job, "orders")
    found = decide(streams, streams, ["queue"])
    assert found == Positions(pairs=((0, 0),), alone=True)
    prepare_folder(tmp_path / "g0002", StartPositions(by="job.x", positions={0: '{"tasks":[3]}'}))
    assert (tmp_path / "g0002" / "sources" / "0" / "0").read_text() == '{"tasks":[3]}'
    planned = changed(tmp_path, ('checkpoint "x" {}', RAISED))
    assert planned.blockers == ()


def test_a_moment_is_no_beginning_of_it(tmp_path: Path) -> None:
    later = RAISED.replace("}", '  start_from = "2026-01-01T00:00:00Z" }')
    (blocked,) = changed(tmp_path, ('checkpoint "x" {}', later)).blockers
    assert "since the job reads a queue stream" in blocked.why


def test_checkpoint_show_tells_where_it_stands(tmp_path: Path) -> None:
    found = project(tmp_path)
    checkpoint = found.attributes("checkpoint.x")
    on_disk(tmp_path / checkpoint["location"] / "orders" / "g0001")
    (query,) = describe(Recorded(attributes=checkpoint, identity={}), found.project).queries
    (source,) = query.sources
    assert (source.kind, source.text) == ("queue", "up to task 3")


INPUTS: Final = {
    "control/spec.py": {"files"},
    "definition/canonical.py": {"files"},
    "definition/input_definition.py": {"files"},
    "definition/schema.py": {"files"},
    "definition/validation.py": {"files"},
}
"""An input of a job may be files too: a kind of input, with the same word."""
EXCEPTIONS: Final = {**INPUTS, "driver/inputs.py": {"rate"}, "engine/submit_options.py": {"files"}}
"""Spark makes an empty streaming frame of its own source; spark-submit has an option of a kind's name."""


def _names(path: Path) -> Iterator[str]:
    """Kinds that a module names; a table is also a resource, so that it counts where something is compared
    with it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Constant(value="files" | "rate" as word):
                yield word
            case ast.MatchValue(value=ast.Constant(value="table")):
                yield "table"
            case ast.Compare(left=ast.Attribute(attr="kind"), comparators=[ast.Constant(value="table")]):
                yield "table"
            case _:
                pass


def test_no_other_room_names_a_kind() -> None:
    found = {
        str(path.relative_to(package)): names
        for package in PACKAGES
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] != "sources" and (names := set(_names(path)))
    }
    assert found == EXCEPTIONS
