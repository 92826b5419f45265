"""A lakehouse of one test module that reads topics of a broker of its own, which dies in it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.integration.project import Project
from tests.support.kafka_broker import Broker, Login
from tests.support.kafka_topics import Record

LOGIN: Final = Login(user="flare", password="right")

_COPY = """
stream "@" {
  kafka {
    topic            = "@"
    connection       = kafka.main
    format           = "json"
    include_metadata = true
  }
  column "id" { type = "long" }
}
table "@" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"     { type = "long" }
  column "offset" { type = "long" }
}
checkpoint "@" {
  generation = 1
}
job "@" {
  checkpoint = checkpoint.@
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "raw" { stream = stream.@ }
  step "clean" { sql = "SELECT id, kafka_offset AS offset FROM raw" }
  output "rows" { table = table.@ }
}
"""


def cluster(bootstrap: str, name: str = "main", more: str = "") -> str:
    """A ``kafka`` block. ``more``: further lines of it."""
    return f'kafka "{name}" {{\n  bootstrap_servers = "{bootstrap}"\n{more}}}\n'


def copying(name: str, *changes: tuple[str, str]) -> str:
    """A stream, a table, a checkpoint and a job of one name, which copies the topic of this name. ``changes``
    replace text that must be there.
    """
    text = _COPY.replace("@", name)
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@dataclass(kw_only=True)
class KafkaLake:
    """A project with its broker, which is ``kafka.main`` of the project."""

    project: Project
    broker: Broker

    def numbers(self, topic: str, partitions: int = 1) -> "Numbers":
        """A new topic that gets numbers."""
        self.broker.topics.create(topic, partitions=partitions)
        return Numbers(self, topic, partitions)

    def expect(self, name: str, ids: range) -> None:
        """Waits until a table has these numbers; then each must be there exactly once."""
        self.project.until(lambda: len(set(self.project.ids(name))) >= len(ids), f"{len(ids)} rows in {name}")
        assert self.project.ids(name) == list(ids)

    def refused(self, **jobs: str) -> None:
        """Waits until these jobs have failed for good, each for its class of error."""

        def ended(job: str, error: str) -> bool:
            found = self.project.status()[f"job.{job}"]
            return found["phase"] == "failed" and error in str(found["last_error"])

        self.project.until(lambda: all(ended(*item) for item in jobs.items()), f"jobs that fail: {jobs}")

    def stopped(self, job: str) -> Callable[[], None]:
        """The job stands still; what is returned edits it to run again."""
        begin = f'job "{job}" {{'
        self.project.edit(job, (begin, f"{begin}\n  stopped = true"))
        self.project.apply()
        return lambda: self.project.edit(job, ("\n  stopped = true", ""))


class Numbers:
    """The numbers that a producer has sent to a topic, each once, to one partition after the other."""

    def __init__(self, lake: KafkaLake, topic: str, partitions: int) -> None:
        self._lake, self.topic, self.sent, self._partitions = lake, topic, 0, partitions

    def send(self, count: int) -> None:
        """The next numbers, as JSON."""
        records = [
            Record(value=json.dumps({"id": at}), partition=at % self._partitions)
            for at in range(self.sent, self.sent + count)
        ]
        self._lake.broker.topics.produce(self.topic, records)
        self.sent += count

    def expect(self, name: str | None = None) -> None:
        """Waits until a table, by default that of the topic's name, has them all, each once."""
        self._lake.expect(name or self.topic, range(self.sent))

    def add_partitions(self, total: int) -> None:
        """From now on numbers go to so many partitions."""
        self._lake.broker.topics.add_partitions(self.topic, total)
        self._partitions = total

    def recreate(self) -> None:
        """Another topic of the same name takes the next numbers, which begin with 0."""
        self._lake.broker.topics.delete(self.topic)
        self._lake.broker.topics.create(self.topic, partitions=self._partitions)
        self.sent = 0
