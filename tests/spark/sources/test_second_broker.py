"""A broker that is no Kafka: a bureau holds letters in trays, and a kind of source reads them. Its lag, lost
positions, samples and retention go through plan, status and drift, in its own words.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final, Literal

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes
from flareiac.kernel.types import STRING, RefType
from flareiac.sdk.brokers import BrokerWords, TopicSelection, reader_of
from flareiac.sdk.changes import Proposal
from flareiac.sdk.definitions import Ref, Text
from flareiac.sdk.references import References
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Recorded
from flareiac.sdk.schema import Attribute, Block
from flareiac_spark import sources
from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark.column_types import Column
from flareiac_spark.job.inspect import _lag
from flareiac_spark.job.reach import ReachReader
from flareiac_spark.observation.job import JobFacts, of_disk, reach_complaints
from flareiac_spark.sources.findings import Partition
from flareiac_spark.sources.offsets import CarryOver, Offsets
from flareiac_spark.sources.reachable import NotedTopic, NotedTopics
from flareiac_spark.sources.samples import SampleRead
from flareiac_spark.sources.source import Places, Source, Surroundings, TopicRead
from flareiac_spark_runtime import sources as runtime_sources
from flareiac_spark_runtime.control import QueryStatus, SourceLag
from flareiac_spark_runtime.sources.resolved import Opening, ResolvedSource, SpecColumn
from flareiac_spark_runtime.storage import Place
from tests.spark.checkpoint_sample import sample
from tests.spark.declared import LAKE, Loaded, loaded, proposal

TOY: Final = Path(__file__).parents[2] / "support" / "toy_dist"
DAY: Final = 24 * 3_600_000
PROJECT: Final = """
bureau "main" { ledger = "@" }
stream "mail" {
  post {
    tray       = "mail"
    connection = bureau.main
  }
  column "id" { type = "long" }
}
job "x" {
  checkpoint = checkpoint.x
  input "mail" { stream = stream.mail }
  step "clean" { sql = "SELECT id FROM mail" }
  output "orders" { table = table.orders }
}
"""
CHECKPOINT: Final = "checkpoint = checkpoint.x"
SLOWER: Final = (CHECKPOINT, f'{CHECKPOINT}\n  trigger = {{ processing_time = "9s" }}')
KAFKA: Final = ("kafka", "topic", "partition", "cluster", "retention.ms")
"""Words that a user of a bureau has never written."""


class PostOffsets(Offsets):
    """``{"post": {tray: {slot: next letter}}}``."""

    carry_over = CarryOver.POSITION

    def is_own(self, offset: Any) -> bool:
        return isinstance(offset, dict) and list(offset) == ["post"]

    def partitions(self, offset: Any) -> Mapping[Partition, int]:
        return {(tray, int(slot)): at for tray, each in offset["post"].items() for slot, at in each.items()}

    def noted_topics(self, checkpoint: Place) -> NotedTopics:
        return NotedTopics(topics=(NotedTopic(topic="mail", id="tray-1", cluster="bureau-1"),))

    def behind(self, end: Any, latest: Any) -> int | None:
        return sum(self.partitions(latest).values()) - sum(self.partitions(end).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PostSource(Source):
    """The meaning of a ``post`` block."""

    block: ClassVar = Block(
        description="Reads letters.",
        attributes={
            "tray": Attribute(type=STRING, description="Its tray.", required=True),
            "connection": Attribute(type=RefType(("bureau",)), description="Its bureau."),
        },
    )
    offsets: ClassVar = PostOffsets()
    held_by_brokers: ClassVar = True

    kind: Literal["post"] = "post"
    tray: Text
    connection: Ref

    @classmethod
    def read(
        cls, block: Attributes, columns: list[Column], around: Surroundings
    ) -> tuple[Source, list[Column]]:
        return cls.of_block(block), columns

    def resolve(
        self, columns: tuple[SpecColumn, ...], order: Sequence[str] | None, places: Places
    ) -> ResolvedSource:
        return ResolvedPost(tray=self.tray, columns=columns)

    @property
    def shown(self) -> str:
        return f"tray {self.tray}"

    @property
    def place(self) -> str:
        return self.tray

    def topic_read(self, references: References) -> TopicRead | None:
        return TopicRead(
            connection=references[self.connection.address],
            selection=TopicSelection(names=(self.tray,)),
            words=BrokerWords(
                topic="tray", partition="slot", cluster="bureau", keeping="keeping time (keep_ms)"
            ),
        )

    def sample_read(self, columns: Sequence[Column]) -> SampleRead | None:
        return SampleRead(
            format="json", columns=tuple(SpecColumn(name=each.name, type=each.type) for each in columns)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPost(ResolvedSource):
    """The source as the driver gets it."""

    kind: Literal["post"] = "post"
    tray: str
    columns: tuple[SpecColumn, ...] = ()

    def open(self, opening: Opening, start: int | None) -> Any:
        raise AssertionError("no driver runs here")


@pytest.fixture(autouse=True)
def post(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The provider of the broker, and the kind of source."""
    monkeypatch.syspath_prepend(TOY)
    for package, part, kind in (
        (sources, "definition", PostSource),
        (runtime_sources, "resolved", ResolvedPost),
    ):
        module = ModuleType(f"{package.__name__}.post.{part}")
        module.KIND = kind  # type: ignore[attr-defined]  # as in the packages beside it
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(runtime_sources, "KINDS", (*runtime_sources.KINDS, "post"))
    installed.cache_clear()
    reader_of.cache_clear()
    yield
    installed.cache_clear()
    reader_of.cache_clear()


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A bureau, and a job that has read its only slot up to letter 3."""

    root: Path

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.json"

    def holds(
        self,
        first: int,
        end: int,
        *,
        age_ms: int = 0,
        keep_ms: int = 10 * DAY,
        slots: int = 1,
        tray: str = "tray-1",
        bureau: str = "bureau-1",
        text: str = '{"id": 1}',
        name: str = "mail",
    ) -> None:
        """Letters ``first`` up to ``end`` are there."""
        written = int(time.time() * 1000) - age_ms
        slot = {"first": first, "letters": [[written, text]] * (end - first)}
        trays = {name: {"id": tray, "keep_ms": keep_ms, "slots": [slot] * slots}}
        self.ledger.write_text(json.dumps({"id": bureau, "trays": trays}))

    def project(self, name: str = "old", *edits: tuple[str, str]) -> Loaded:
        text = LAKE + PROJECT.replace("@", str(self.ledger))
        for before, after in edits:
            assert before in text
            text = text.replace(before, after)
        return loaded(text, self.root / name)

    def facts(self) -> JobFacts:
        """The observation of the running job, with what the bureau answers."""
        project = self.project()
        assert project.codes == []
        location = project.attributes("checkpoint.x")["location"]
        folder = project.project.root / location / "orders" / "g0001"
        sample(folder, ("post",))
        for entry in (folder / "offsets").glob("[0-9]"):
            lines = entry.read_text().splitlines()
            offset = json.dumps({"post": {"mail": {"0": int(entry.name)}}})
            entry.write_text("\n".join([*lines[:-1], offset]))
        on_disk = read_checkpoint(folder)
        assert on_disk is not None
        reader = ReachReader(project.project)
        request = ReadRequest(
            address="job.x",
            desired=project.attributes(),
            recorded=Recorded(attributes=project.attributes(), identity={"digest": "d"}),
            references=project.references(),
        )
        reader.prefetch([request])
        return JobFacts(
            digest="d",
            state="running",
            alive=True,
            phase="running",
            checkpoints={"orders": of_disk(on_disk)},
            samples=reader.samples("job.x"),
            reach=reader.read(request),
        )

    def plan(self, *edits: tuple[str, str]) -> Proposal:
        return proposal(self.project("new", *edits), self.project(), self.facts())


@pytest.fixture
def mail(tmp_path: Path) -> Mail:
    return Mail(root=tmp_path)


def words_of(planned: Proposal) -> str:
    """All that a plan prints, in one text. It names no thing of Kafka, and nor do the titles of its codes."""
    texts = [step.text for step in planned.steps]
    texts += [step.why for step in planned.steps if step.why]
    texts += [text for item in planned.blockers for text in (item.summary, item.why, *item.ways_out)]
    texts += [text for item in planned.diagnostics for text in (item.summary, item.detail)]
    texts += [*planned.drift, *planned.reasons, *planned.unknown]
    text = "\n".join(texts)
    assert [word for word in KAFKA if word in text.lower()] == []
    return text


def test_its_lag_stands_in_a_plan_that_starts_a_job_which_does_not_run(mail: Mail) -> None:
    mail.holds(0, 10)
    gone = replace(mail.facts(), alive=False)
    started = proposal(mail.project(), mail.project(), gone)
    assert "7 records of input mail are waiting" in words_of(started)


def test_its_lag_stands_in_the_status() -> None:
    lag = SourceLag(end={"post": {"mail": {"0": 3}}}, latest={"post": {"mail": {"0": 10}}})
    query = QueryStatus(output="orders", id="q", run_id="r", lag={"0": lag})
    assert _lag((query,), None) == "7 records"


@pytest.mark.parametrize(
    ("there", "why"),
    [
        ({"first": 5, "end": 9}, "the brokers have deleted the next records to read of tray mail"),
        ({"first": 0, "end": 1}, "tray mail ends before the offsets that were read of it"),
        ({"first": 0, "end": 9, "tray": "tray-2"}, "tray mail was deleted and created again"),
        ({"first": 0, "end": 9, "slots": 0}, "tray mail lacks slots that were read"),
        ({"first": 0, "end": 9, "name": "parcels"}, "tray mail does not exist"),
        ({"first": 0, "end": 9, "bureau": "bureau-2"}, "the brokers belong to another bureau"),
    ],
)
def test_a_lost_position_blocks_a_plan_and_is_drift(mail: Mail, there: Any, why: str) -> None:
    mail.holds(**there)
    blocked = mail.plan(SLOWER)
    assert why in words_of(blocked).lower()
    assert blocked.blockers
    (drift,) = reach_complaints(mail.facts().reach)
    assert drift.startswith(f"input mail: {why}")
    assert "topic" not in drift


def test_letters_that_are_kept_for_a_short_time_are_told(mail: Mail) -> None:
    mail.holds(0, 10, keep_ms=60_000)
    assert "tray mail keeps records for 60 s only" in words_of(mail.plan(SLOWER))
    mail.holds(0, 10, age_ms=10 * DAY - 3_600_500)
    text = words_of(mail.plan())
    assert (
        "the next record to read of tray mail, slot 0, is deleted by the tray's retention from about" in text
    )
    assert "give the tray a longer keeping time (keep_ms)" in text


def test_the_last_letters_are_looked_at(mail: Mail) -> None:
    mail.holds(0, 10, text='{"id": 1, "sender": "Ann"}')
    text = words_of(mail.plan())
    assert "of the last 5 records of tray mail have fields that are not read" in text
    assert "sender" in text


def test_a_bureau_that_is_closed_leaves_it_unknown(mail: Mail) -> None:
    (complaint,) = reach_complaints(mail.facts().reach)
    assert "unknown whether" in complaint
    assert "The bureau is closed: No such file or directory" in complaint
