"""The topics that a plan asks for the size that they take at once, and its verdict on the answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.brokers import BrokerRecord, BrokerView, TopicOffsets, TopicSelection
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ReadRequest
from flareiac_spark.job.brokers import Brokers
from flareiac_spark.job.reach import ReachReader
from tests.golden.case import valid_configuration

PROJECT = """
kafka "main" { bootstrap_servers = "broker:9092" }
topic "plain" {}
topic "managed" { config = { "retention.ms" = "1000" } }
topic "left" { config = { "max.message.bytes" = null } }
topic "sized" { config = { "max.message.bytes" = "3000000" } }
stream "events" {
  files {
    path   = "landing"
    format = "json"
  }
  column "id" { type = "long" }
}
checkpoint "events" {}
job "events" {
  checkpoint = checkpoint.events
  input "events" { stream = stream.events }
  output "o" {
    kafka {
      topic   = @
      options = { "$" = "2000000" }
    }
  }
}
"""


class _Cluster:
    """Every topic takes a thousand bytes at once, unless the brokers are down."""

    def __init__(self, *, down: bool = False) -> None:
        self.asked: list[str] = []
        self._down = down

    def view(self, connection: Attributes, selection: TopicSelection) -> BrokerView:
        del connection
        self.asked += selection.names
        if self._down:
            raise Failure(error(Code("TST001", "The brokers cannot be reached"), "No answer."))
        topics = {
            name: TopicOffsets(name=name, id="t-1", partitions={}, largest_batch=1000)
            for name in selection.names
        }
        return BrokerView(cluster_id="c-1", topics=topics)

    def positions_at(
        self, connection: Attributes, partitions: Sequence[tuple[str, int]], time_ms: int
    ) -> Mapping[tuple[str, int], int]:
        del connection, time_ms
        return dict.fromkeys(partitions, 0)

    def records(
        self, connection: Attributes, positions: Mapping[tuple[str, int], int], *, count: int = 1
    ) -> Sequence[BrokerRecord]:
        del connection, positions, count
        return []


@pytest.mark.parametrize(
    ("topic", "option", "asked"),
    [
        ('"by-name"', "batch.size", ["by-name"]),
        ("topic.plain", "max.request.size", ["plain"]),
        ("topic.managed", "batch.size", ["managed"]),
        ("topic.left", "batch.size", ["left"]),
        ("topic.sized", "batch.size", []),
        ('"by-name"', "linger.ms", []),
    ],
    ids=["a name", "no settings", "other settings", "left as it is", "declared", "no size is given"],
)
@pytest.mark.parametrize("down", [False, True])
def test_brokers_are_asked_where_it_matters(
    topic: str, option: str, asked: list[str], down: bool, tmp_path: Path
) -> None:
    resources = valid_configuration(
        PROJECT.replace("@", topic).replace("$", option), tmp_path
    ).desired.resources
    request = ReadRequest(
        address="job.events",
        desired=resources["job.events"].attributes,
        recorded=None,
        references={address: item.resolved() for address, item in resources.items()},
    )
    cluster = _Cluster(down=down)
    reader = ReachReader(Project(root=tmp_path), Brokers(lambda _type: cluster))
    reader.prefetch([request])
    assert list(dict.fromkeys(cluster.asked)) == asked
    assert reader.topic_limits("job.events") == ({"o": 1000} if asked and not down else {})
    assert reader.topic_limits("job.events") == {}
