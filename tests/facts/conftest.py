"""One Spark application for each module of facts; a session, a namespace and folders for each test."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.facts.kafka import Kafka
from tests.facts.lake import Home, Lake, make_active
from tests.facts.proven import FOLDER, are_proven, tests_the_program
from tests.support.kafka_broker import Broker
from tests.support.kafka_connector import connector_jars


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Facts that were proven for these very versions and files are not measured again."""
    facts = [
        item
        for item in items
        if item.path.parent == FOLDER and item.get_closest_marker("jvm") and not tests_the_program(item.path)
    ]
    if facts and not config.getoption("--facts") and are_proven():
        for item in facts:
            item.add_marker(
                pytest.mark.skip(
                    reason=(
                        "proven for these versions and files (tests/facts/proven.json); --facts "
                        "measures again"
                    )
                )
            )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "fact(name): the fact that a test measures, as rules of the product cite it"
    )
    config.addinivalue_line("markers", "kafka: Spark reads and writes Kafka and Avro in this module")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An empty catalog of both sides."""
    made = Home(root=tmp_path_factory.mktemp("facts"))
    made.catalog().close()
    return made


@pytest.fixture(scope="module")
def application(
    request: pytest.FixtureRequest, home: Home, jars: tuple[Path, ...], java_home: Path
) -> Iterator[Any]:
    """The root session of one module: a longer-lived one would be taken over, and stopped, by another suite
    of the same process.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if request.node.get_closest_marker("kafka"):
        jars = (*jars, *connector_jars())
    conf = {
        **home.spark_conf(),
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(home.root / "spark-warehouse"),
        "spark.sql.streaming.stopActiveRunOnRestart": "false",
    }
    builder = SparkSession.builder.appName("facts")
    for key, value in conf.items():
        builder = builder.config(key, value)
    # Read when the JVM starts, and no business of other tests
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(java_home))
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    gateway: Any = SparkContext._gateway
    yield session
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = (
        None  # another suite of the same process starts a JVM of its own
    )


@pytest.fixture
def lake(application: Any, home: Home, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Lake]:
    """The lake as one test sees it: nothing of another test is in its way."""
    spark = application.newSession()
    make_active(spark)
    catalog = home.catalog()
    namespace = re.sub(r"\W+", "_", request.node.name).lower()
    catalog.create_namespace(namespace)
    try:
        yield Lake(spark=spark, catalog=catalog, namespace=namespace, folder=tmp_path)
    finally:
        for query in spark.streams.active:
            with contextlib.suppress(Exception):  # the test's own failure is the one that counts
                query.stop()
        catalog.close()


@pytest.fixture
def kafka(application: Any, broker: Broker, tmp_path: Path) -> Kafka:
    """The broker as one test sees it; its queries end by themselves."""
    spark = application.newSession()
    make_active(spark)
    return Kafka(spark=spark, broker=broker, folder=tmp_path)
