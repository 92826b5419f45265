"""The jobs of a plan that report what the last records of topics hold: a stream once, also where several jobs
read it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.brokers import BrokerRecord, BrokerView, PartitionOffsets, TopicOffsets, TopicSelection
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac_spark.job.brokers import Brokers
from flareiac_spark.job.reach import ReachReader
from flareiac_spark.sources.samples import FieldsWithoutColumn
from tests.golden.case import valid_configuration

VALUES = [b'{"id": 1}', b'{"id": 2, "amount": 1.5}']
PROJECT = """
kafka "main" { bootstrap_servers = "broker:9092" }
stream "orders" {
  kafka {
    topic  = "orders"
    format = "json"
  }
  column "id" { type = "long" }
}
stream "texts" {
  kafka {
    topic  = "orders"
    format = "text"
  }
}
"""
JOB = """
table "@" {
  namespace = "n"
  column "id" { type = "long" }
}
checkpoint "@" {}
job "@" {
  checkpoint = checkpoint.@
  input "raw" { stream = stream.orders }
  input "texts" { stream = stream.texts }
  step "s" { sql = "SELECT id FROM raw" }
  output "rows" { table = table.@ }
}
"""


class _Cluster:
    """One topic with these values."""

    def view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        del connection, selection
        partitions = {0: PartitionOffsets(first=0, end=len(VALUES))}
        topic = TopicOffsets(name="orders", id="t-1", partitions=partitions)
        return BrokerView(cluster_id="c-1", topics={"orders": topic})

    def positions_at(
        self, connection: Attributes, partitions: Sequence[tuple[str, int]], time_ms: int
    ) -> Mapping[tuple[str, int], int]:
        del connection, time_ms
        return dict.fromkeys(partitions, 0)

    def records(
        self, connection: Attributes, positions: Mapping[tuple[str, int], int], *, count: int = 1
    ) -> Sequence[BrokerRecord]:
        del connection, count
        return [
            BrokerRecord(topic=topic, partition=number, offset=at, timestamp_ms=0, key=None, value=value)
            for topic, number in positions
            for at, value in enumerate(VALUES)
        ]


@pytest.fixture
def requests(tmp_path: Path) -> list[ReadRequest]:
    """The requests of two jobs that read the same stream."""
    hcl = PROJECT + JOB.replace("@", "one") + JOB.replace("@", "two")
    resources = valid_configuration(hcl, tmp_path).desired.resources
    references = {address: item.resolved() for address, item in resources.items()}
    return [
        ReadRequest(address=name, desired=resources[name].attributes, recorded=None, references=references)
        for name in ("job.one", "job.two")
    ]


def test_the_first_job_that_reads_a_stream_says_it_once(requests: list[ReadRequest], tmp_path: Path) -> None:
    reader = ReachReader(Project(root=tmp_path), Brokers(lambda _type: _Cluster()))
    reader.prefetch(requests)
    found = reader.samples("job.one")
    assert list(found) == ["raw"]
    (item,) = found["raw"]
    assert isinstance(item, FieldsWithoutColumn)
    assert ([field.path for field in item.fields], item.having, item.records) == (["amount"], 1, 2)
    assert reader.samples("job.two") == {}
    assert reader.samples("job.one") == {}
