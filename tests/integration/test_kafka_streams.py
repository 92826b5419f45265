"""Topics into tables through the command line, on a real broker: each record exactly once, whatever dies; and
what a job may not go on with is said before Spark is started.
"""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.project import LAKE, Project
from tests.support.kafka_broker import Broker, Login
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm

LOGIN = Login(user="flare", password="right")

COPY = """
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
COUNTS = """
stream "counted" {
  kafka {
    topic      = "orders"
    connection = kafka.main
    format     = "json"
  }
  column "id" { type = "long" }
}
table "counted" {
  catalog   = catalog.lake
  namespace = "demo"
  column "parity" { type = "long" }
  column "n"      { type = "long" }
}
checkpoint "counted" {
  generation = 1
}
job "counted" {
  checkpoint = checkpoint.counted
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "raw" { stream = stream.counted }
  step "totals" { sql = "SELECT id % 2 AS parity, count(*) AS n FROM raw GROUP BY id % 2" }
  output "rows" {
    table = table.counted
    mode  = "complete"
  }
}
"""


class Orders:
    """What a producer has sent to a topic: numbers, each once."""

    def __init__(self, broker: Broker, topic: str, partitions: int = 2) -> None:
        self._broker, self.topic, self.sent, self._partitions = broker, topic, 0, partitions

    def send(self, count: int) -> None:
        records = [
            Record(value=json.dumps({"id": self.sent + at}), partition=(self.sent + at) % self._partitions)
            for at in range(count)
        ]
        self._broker.topics.produce(self.topic, records)
        self.sent += count


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[Broker]:
    """A broker of this module, which dies in it."""
    with Broker(tmp_path_factory.mktemp("kafka"), java_home, login=LOGIN) as started:
        yield started


@pytest.fixture(scope="module")
def lake(
    tmp_path_factory: pytest.TempPathFactory, broker: Broker, jars: tuple[Path, ...]
) -> Iterator[Project]:
    """One application for all tests of the module."""
    project = Project(tmp_path_factory.mktemp("project"))
    project.write(lake=LAKE, kafka=f'kafka "main" {{ bootstrap_servers = "{broker.bootstrap}" }}\n')
    project.run("init")
    try:
        yield project
    finally:
        project.close()


@pytest.fixture(scope="module")
def orders(lake: Project, broker: Broker) -> Orders:
    """A job that copies a topic, and one that counts it."""
    broker.topics.create("orders", partitions=2)
    sent = Orders(broker, "orders")
    sent.send(20)
    lake.write(orders=COPY.replace("@", "orders"), counted=COUNTS)
    lake.apply()
    expect(lake, "orders", sent.sent)
    return sent


def expect(lake: Project, name: str, count: int) -> None:
    """Waits until so many numbers are there; then each must be there exactly once."""
    lake.until(lambda: len(set(lake.ids(name))) >= count, f"{count} rows in {name}")
    assert lake.ids(name) == list(range(count))


def counted(lake: Project) -> dict[int, int]:
    return {row["parity"]: row["n"] for row in lake.rows("counted")}


def expect_counts(lake: Project, wanted: dict[int, int]) -> None:
    lake.until(lambda: counted(lake) == wanted, f"{wanted} in counted")


def test_each_record_is_there_once_though_driver_and_broker_are_killed(
    lake: Project, broker: Broker, orders: Orders
) -> None:
    orders.send(30)
    lake.kill_driver()
    orders.send(10)
    broker.kill()
    broker.start()
    orders.send(10)
    lake.apply()
    expect(lake, "orders", orders.sent)
    expect_counts(lake, {0: orders.sent // 2, 1: orders.sent // 2})


def test_partitions_that_are_added_are_read_from_their_first_record(
    lake: Project, broker: Broker, orders: Orders
) -> None:
    broker.topics.add_partitions("orders", 3)
    orders._partitions = 3
    orders.send(30)
    expect(lake, "orders", orders.sent)


def test_a_new_generation_goes_on_at_the_same_offsets_while_records_arrive(
    lake: Project, orders: Orders
) -> None:
    stop = threading.Event()

    def produce() -> None:
        while not stop.wait(0.05):
            orders.send(6)

    producer = threading.Thread(target=produce)
    producer.start()
    try:
        lake.edit("orders", ("generation = 1", "generation = 2"))
        assert "goes on" in lake.plan(2)
        lake.apply()
    finally:
        stop.set()
        producer.join()
    expect(lake, "orders", orders.sent)
    (folder,) = (lake.root / ".flareiac").rglob("orders/rows/g0002")
    assert (folder / "sources" / "0" / "0").read_bytes().startswith(b"\0v1\n{")
    assert (folder.with_name(".g0002.topics.json")).exists()


def test_a_changed_aggregate_counts_everything_again(lake: Project, orders: Orders) -> None:
    lake.edit("counted", ("id % 2 AS parity", "id % 3 AS parity"), ("GROUP BY id % 2", "GROUP BY id % 3"))
    lake.edit(
        "counted",
        ("generation = 1", 'generation = 2\n  start_from = "earliest"'),
        ('mode  = "complete"', 'mode  = "complete"\n    rebuild = "truncate"'),
    )
    lake.apply()
    expect_counts(lake, {parity: len(range(parity, orders.sent, 3)) for parity in range(3)})


def stopped(lake: Project, name: str) -> Callable[[], None]:
    """The job stands still; what is returned starts it again."""
    lake.edit(name, ('job "' + name + '" {', 'job "' + name + '" {\n  stopped = true'))
    lake.apply()

    def start() -> None:
        lake.edit(name, ("\n  stopped = true", ""))

    return start


def blocked(lake: Project) -> str:
    """What a plan says that refuses to start a job again."""
    done = lake.apply(code=4)
    return " ".join(f"{done.out} {done.err}".split())


def test_a_topic_that_was_created_again_is_refused_and_other_jobs_go_on(
    lake: Project, broker: Broker, orders: Orders
) -> None:
    broker.topics.create("returns", partitions=1)
    sent = Orders(broker, "returns", partitions=1)
    sent.send(5)
    lake.write(returns=COPY.replace("@", "returns"))
    lake.apply()
    expect(lake, "returns", 5)
    start = stopped(lake, "returns")
    broker.topics.delete("returns")
    broker.topics.create("returns", partitions=1)
    sent.send(9)
    start()
    assert "was deleted and created again" in blocked(lake)
    orders.send(3)
    expect(lake, "orders", orders.sent)
    lake.remove("returns")
    lake.apply()


def test_records_that_were_deleted_unread_are_refused(lake: Project, broker: Broker, orders: Orders) -> None:
    del orders
    broker.topics.create("trimmed", partitions=1)
    sent = Orders(broker, "trimmed", partitions=1)
    sent.send(5)
    lake.write(trimmed=COPY.replace("@", "trimmed"))
    lake.apply()
    expect(lake, "trimmed", 5)
    start = stopped(lake, "trimmed")
    sent.send(5)
    broker.topics.trim("trimmed", {0: 8})
    start()
    assert "trimmed" in blocked(lake)
    lake.edit("trimmed", ("generation = 1", 'generation = 2\n  start_from = "earliest"'))
    lake.apply()
    lake.until(lambda: lake.ids("trimmed") == [0, 1, 2, 3, 4, 8, 9], "the records that are left")
    lake.remove("trimmed")
    lake.apply()


def test_a_wrong_password_is_said_and_never_shown(lake: Project, broker: Broker, orders: Orders) -> None:
    broker.topics.create("guarded", partitions=1)
    Orders(broker, "guarded", partitions=1).send(5)
    lake.write(
        guarded=COPY.replace("@", "guarded").replace("kafka.main", "kafka.guarded")
        + 'secret "kafka" { file = "password" }\n'
        + f'kafka "guarded" {{\n  bootstrap_servers = "{broker.login_bootstrap}"\n'
        + '  sasl = {\n    mechanism = "PLAIN"\n    username = "flare"\n    password = secret.kafka\n  }\n}\n'
    )
    (lake.root / "password").write_text("unmistakably-wrong")
    assert "BROKER_REFUSES_LOGIN" in lake.apply(code=7).err
    written = [path.read_text(errors="replace") for path in lake.control.rglob("*") if path.is_file()]
    assert not [text for text in written if "unmistakably-wrong" in text]
    orders.send(3)
    expect(lake, "orders", orders.sent)
    (lake.root / "password").write_text(LOGIN.password)
    lake.edit("guarded", ('job "guarded" {', 'job "guarded" {\n  restart_nonce = 1'))
    lake.apply()
    expect(lake, "guarded", 5)


def test_a_start_waits_for_a_broker_that_is_down(lake: Project, broker: Broker, orders: Orders) -> None:
    orders.send(3)
    broker.stop()
    lake.kill_driver()
    blocked = lake.apply(code=4)
    assert "FIK214" in blocked.out + blocked.err
    with lake.served():
        try:
            lake.until(
                lambda: "BROKER_UNREACHABLE" in (lake.control / "status.json").read_text(),
                "a start that finds no broker",
            )
        finally:
            broker.start()
        orders.send(3)
        expect(lake, "orders", orders.sent)
