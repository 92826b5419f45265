"""A cluster of three nodes of which one is dead, through the command line: commands answer, jobs go on and
start, and each record is there exactly once.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.kafka_project import KafkaLake, Numbers, cluster, copying
from tests.integration.project import LAKE, Project
from tests.support.kafka_broker import Broker
from tests.support.kafka_cluster import KafkaCluster

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[KafkaCluster]:
    with KafkaCluster(tmp_path_factory.mktemp("kafka"), java_home) as started:
        yield started


@pytest.fixture(scope="module")
def lake(
    tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], nodes: KafkaCluster
) -> Iterator[KafkaLake]:
    """A project whose connection names all three nodes."""
    del jars
    project = Project(tmp_path_factory.mktemp("project"))
    project.write(lake=LAKE, kafka=cluster(nodes.bootstrap))
    project.run("init")
    try:
        yield KafkaLake(project=project, broker=nodes.nodes[0])
    finally:
        project.close()


@pytest.fixture(scope="module")
def orders(lake: KafkaLake, nodes: KafkaCluster) -> Numbers:
    """A job that copies a topic which each node holds, and of which each leads a partition."""
    nodes.topics.create("orders", partitions=3, min_insync_replicas="2")
    sent = Numbers(lake, "orders", 3)
    sent.send(30)
    lake.project.write(orders=copying("orders"))
    lake.project.apply()
    sent.expect()
    return sent


@pytest.mark.turn(1, 2)
def test_a_job_runs_on_while_a_leader_dies_and_comes_back(
    lake: KafkaLake, nodes: KafkaCluster, orders: Numbers
) -> None:
    run = lake.project.run_id("job.orders")
    dead = nodes.leader("orders")
    dead.kill()
    orders.send(30)
    orders.expect()
    lake.project.quiet()
    lake.project.until(lambda: lake.project.status()["job.orders"]["lag"] == "none", "no lag")
    came_back(nodes, dead)
    orders.send(30)
    orders.expect()
    assert lake.project.run_id("job.orders") == run


@pytest.mark.slow
def test_a_job_starts_while_the_node_that_is_asked_first_is_dead(
    lake: KafkaLake, nodes: KafkaCluster, orders: Numbers
) -> None:
    dead = nodes.nodes[0]
    dead.kill()
    lake.project.write(again=copying("again", ('"again"\n    connection', '"orders"\n    connection')))
    lake.project.apply()
    orders.expect("again")
    lake.project.kill_driver()
    orders.send(30)
    assert "is not running" in lake.project.plan(2)
    lake.project.apply()
    orders.expect()
    orders.expect("again")
    lake.project.run("drift")
    came_back(nodes, dead)


def came_back(nodes: KafkaCluster, node: Broker) -> None:
    """Starts a node, and waits until it holds every record."""
    node.start()
    nodes.topics.await_copies("orders", 3)
