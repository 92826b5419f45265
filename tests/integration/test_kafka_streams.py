"""Topics into tables through the command line, on a real broker: each record exactly once, whatever dies; and
what a job may not go on with is said before Spark is started.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration.kafka_project import LOGIN, KafkaLake, Numbers, cluster, copying
from tests.integration.project import Project
from tests.support.kafka_topics import Record

pytestmark = pytest.mark.jvm

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


@pytest.fixture(scope="module")
def orders(kafka: KafkaLake) -> Numbers:
    """A job that copies a topic, and one that counts it."""
    sent = kafka.numbers("orders", partitions=2)
    sent.send(20)
    kafka.project.write(orders=copying("orders"), counted=COUNTS)
    kafka.project.apply()
    sent.expect()
    return sent


def counted(lake: Project) -> dict[int, int]:
    return {row["parity"]: row["n"] for row in lake.rows("counted")}


def expect_counts(lake: Project, wanted: dict[int, int]) -> None:
    lake.until(lambda: counted(lake) == wanted, f"{wanted} in counted")


def test_each_record_is_there_once_though_driver_and_broker_are_killed(
    kafka: KafkaLake, orders: Numbers
) -> None:
    orders.send(30)
    kafka.project.kill_driver()
    orders.send(10)
    kafka.broker.kill()
    kafka.broker.start()
    orders.send(10)
    kafka.project.apply()
    orders.expect()
    expect_counts(kafka.project, {0: orders.sent // 2, 1: orders.sent // 2})


def test_partitions_that_are_added_are_read_from_their_first_record(orders: Numbers) -> None:
    orders.add_partitions(3)
    orders.send(30)
    orders.expect()


def test_a_new_generation_goes_on_at_the_same_offsets_while_records_arrive(
    kafka: KafkaLake, orders: Numbers
) -> None:
    lake, stop = kafka.project, threading.Event()

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
    orders.expect()
    (folder,) = (lake.root / ".flareiac").rglob("orders/rows/g0002")
    assert (folder / "sources" / "0" / "0").read_bytes().startswith(b"\0v1\n{")
    assert (folder.with_name(".g0002.topics.json")).exists()


def test_a_changed_aggregate_counts_everything_again(kafka: KafkaLake, orders: Numbers) -> None:
    lake = kafka.project
    lake.edit("counted", ("id % 2 AS parity", "id % 3 AS parity"), ("GROUP BY id % 2", "GROUP BY id % 3"))
    lake.edit(
        "counted",
        ("generation = 1", 'generation = 2\n  start_from = "earliest"'),
        ('mode  = "complete"', 'mode  = "complete"\n    rebuild = "truncate"'),
    )
    lake.apply()
    expect_counts(lake, {parity: len(range(parity, orders.sent, 3)) for parity in range(3)})


def blocked(lake: Project) -> str:
    """The text of a plan that refuses to start a job again."""
    done = lake.apply(code=4)
    return " ".join(f"{done.out} {done.err}".split())


def test_a_topic_that_was_created_again_is_refused_and_other_jobs_go_on(
    kafka: KafkaLake, orders: Numbers
) -> None:
    returns = kafka.numbers("returns")
    returns.send(5)
    kafka.project.write(returns=copying("returns"))
    kafka.project.apply()
    returns.expect()
    start = kafka.stopped("returns")
    returns.recreate()
    returns.send(9)
    start()
    assert "was deleted and created again" in blocked(kafka.project)
    orders.send(3)
    orders.expect()
    kafka.project.remove("returns")
    kafka.project.apply()


def test_a_first_start_begins_at_the_offsets_that_are_written(kafka: KafkaLake) -> None:
    lake, late = kafka.project, kafka.numbers("late", partitions=2)
    late.send(10)
    begins = 'starting_offsets = { "0" = 3 }\n    format '
    lake.write(late=copying("late", ("format ", begins)))
    lake.apply()
    lake.until(lambda: lake.ids("late") == [1, 3, 5, 6, 7, 8, 9], "the records from the offset on")
    lake.remove("late")
    lake.apply()


def test_a_start_waits_for_a_transaction_whose_records_were_read(kafka: KafkaLake) -> None:
    lake, opened = kafka.project, kafka.numbers("opened")
    level = 'isolation_level = "read_uncommitted"'
    lake.write(opened=copying("opened", ("format ", f"{level}\n    format ")))
    with ThreadPoolExecutor(1) as pool:
        with kafka.broker.topics.open_transaction("opened", [Record(value='{"id": 0}', partition=0)]):
            lake.apply()
            kafka.expect("opened", range(1))
            lake.edit("opened", (level, 'isolation_level = "read_committed"'))
            applied = pool.submit(lake.apply)
            lake.until(
                lambda: "TRANSACTION_OPEN" in str(lake.status()["job.opened"]["last_error"]),
                "a start that waits for the transaction",
            )
        applied.result()
    opened.sent = 1
    opened.send(4)
    opened.expect()
    lake.remove("opened")
    lake.apply()


def test_records_that_were_deleted_unread_are_refused(kafka: KafkaLake, orders: Numbers) -> None:
    del orders
    lake, trimmed = kafka.project, kafka.numbers("trimmed")
    trimmed.send(5)
    lake.write(trimmed=copying("trimmed"))
    lake.apply()
    trimmed.expect()
    start = kafka.stopped("trimmed")
    trimmed.send(5)
    kafka.broker.topics.trim("trimmed", {0: 8})
    start()
    assert "trimmed" in blocked(lake)
    lake.edit("trimmed", ("generation = 1", 'generation = 2\n  start_from = "earliest"'))
    lake.apply()
    lake.until(lambda: lake.ids("trimmed") == [0, 1, 2, 3, 4, 8, 9], "the records that are left")
    lake.remove("trimmed")
    lake.apply()


def test_a_wrong_password_is_said_and_never_shown(kafka: KafkaLake, orders: Numbers) -> None:
    lake, guarded = kafka.project, kafka.numbers("guarded")
    guarded.send(5)
    login = 'sasl = { mechanism = "PLAIN", username = "flare", password = secret.kafka }\n'
    lake.write(
        guarded=copying("guarded", ("kafka.main", "kafka.guarded"))
        + 'secret "kafka" { file = "password" }\n'
        + cluster(str(kafka.broker.login_bootstrap), "guarded", login)
    )
    (lake.root / "password").write_text("unmistakably-wrong")
    assert "BROKER_REFUSES_LOGIN" in lake.apply(code=7).err
    written = [path.read_text(errors="replace") for path in lake.control.rglob("*") if path.is_file()]
    assert not [text for text in written if "unmistakably-wrong" in text]
    orders.send(3)
    orders.expect()
    (lake.root / "password").write_text(LOGIN.password)
    lake.edit("guarded", ('job "guarded" {', 'job "guarded" {\n  restart_nonce = 1'))
    lake.apply()
    guarded.expect()


def test_a_start_waits_for_a_broker_that_is_down(kafka: KafkaLake, orders: Numbers) -> None:
    lake = kafka.project
    orders.send(3)
    kafka.broker.stop()
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
            kafka.broker.start()
        orders.send(3)
        orders.expect()


def test_records_of_a_topic_are_counted_once(kafka: KafkaLake, orders: Numbers) -> None:
    """Neither what a transaction leaves in the log nor a second look at a batch, as a sort and a merge take
    one, is a record.
    """
    topics = kafka.broker.topics
    topics.create("few", partitions=1)
    topics.produce_in_transaction("few", ['{"id": 1}', '{"id": 2}'])
    topics.produce_in_transaction("few", ['{"id": 3}'], commit=False)
    topics.produce_in_transaction("few", ['{"id": 3}', '{"id": 4}', '{"id": 5}'])
    at_once = ('processing_time = "200ms"', "available_now = true")
    ordered = copying("few", at_once, ("  namespace", '  sort_by   = ["id"]\n  namespace'))
    merge = '{\n    table = table.merged\n    mode  = "merge"\n    merge = { on = ["id"] }\n  }'
    merged = copying("merged", at_once, ("{ table = table.merged }", merge), ('= "merged"', '= "few"'))
    kafka.project.write(few=ordered, merged=merged)
    assert kafka.project.apply().out.count("completed 5 rows") == 2
    assert kafka.project.ids("few") == kafka.project.ids("merged") == [1, 2, 3, 4, 5]
    kafka.project.remove("few", "merged")
    kafka.project.apply()
