"""Topics over TLS through the command line: commands and the driver read and write them with the same block,
with certificates of clients too, and a connection that is not trusted is an error of both.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.integration.kafka_project import KafkaLake, cluster, copying
from tests.integration.project import LAKE, Project
from tests.support.kafka_tls import Authority, TlsBroker

pytestmark = pytest.mark.jvm

PASSWORD: Final = "correct horse"
ECHO: Final = """
  output "echo" {
    kafka {
      topic      = "echo"
      connection = kafka.main
    }
  }
}
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[TlsBroker]:
    authority = Authority(folder=tmp_path_factory.mktemp("authority")).made()
    authority.signed("client")
    authority.stored("client", PASSWORD)
    mutual = {"listener.name.mutual.ssl.client.auth": "required"}
    protocols = {"TLS": "SSL", "MUTUAL": "SSL"}
    folder = tmp_path_factory.mktemp("kafka")
    with TlsBroker(folder, java_home, authority, protocols, settings=mutual) as started:
        yield started


@pytest.fixture(scope="module")
def lake(
    tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], broker: TlsBroker
) -> Iterator[KafkaLake]:
    """A project whose connection trusts the authority of the broker."""
    del jars
    project = Project(tmp_path_factory.mktemp("project"))
    for name in ("ca.pem", "client.pem", "client.key", "client.p12"):
        shutil.copy(broker.authority.folder / name, project.root / name)
    stranger = Authority(folder=tmp_path_factory.mktemp("stranger")).made()
    shutil.copy(stranger.ca, project.root / "stranger.pem")
    project.write(lake=LAKE, kafka=trusting(f"127.0.0.1:{broker.ports['TLS']}", "main"))
    project.run("init")
    try:
        yield KafkaLake(project=project, broker=broker)
    finally:
        project.close()


def trusting(servers: str, name: str, ssl: str = 'ca = "ca.pem"') -> str:
    return cluster(servers, name, f"  ssl = {{ {ssl} }}\n")


def through(name: str, connection: str) -> str:
    """A cluster of this name, and a job that copies the topic ``orders`` through it."""
    return connection + copying(
        name, (f'topic            = "{name}"', 'topic = "orders"'), ("kafka.main", f"kafka.{name}")
    )


def test_topics_are_read_and_written_over_tls(lake: KafkaLake) -> None:
    lake.broker.topics.create("echo")
    orders = lake.numbers("orders", partitions=2)
    orders.send(20)
    job = copying("orders").rstrip().removesuffix("}")
    lake.project.write(orders=job + ECHO)
    lake.project.apply()
    orders.expect()
    lake.project.until(lambda: len(lake.broker.topics.consume("echo")) == 20, "20 records of echo")
    lake.project.quiet()
    lake.project.until(lambda: lake.project.status()["job.orders"]["lag"] == "none", "no lag")


def warnings(lake: KafkaLake) -> str:
    """The warnings of a plan, without frame and line breaks."""
    return " ".join(lake.project.run("plan").err.replace("│", " ").split())


def test_a_broker_that_is_not_trusted_is_an_error_of_plan_and_job(lake: KafkaLake, broker: TlsBroker) -> None:
    port, project = broker.ports["TLS"], lake.project
    unchecked = 'ca = "ca.pem", verify_hostname = false'
    project.write(
        stranger=through("stranger", trusting(f"127.0.0.1:{port}", "stranger", 'ca = "stranger.pem"')),
        elsewhere=through("elsewhere", trusting(f"localhost:{port}", "elsewhere")),
        unchecked=through("unchecked", trusting(f"localhost:{port}", "unchecked", unchecked)),
    )
    warned = warnings(lake)
    for name in ("stranger", "elsewhere"):
        assert f"kafka.{name}: No TLS connection to the Kafka cluster" in warned
    assert "kafka.unchecked" not in warned
    project.apply(code=7)
    lake.refused(stranger="BROKER_TLS_FAILED", elsewhere="BROKER_TLS_FAILED")
    assert "No name matching localhost found" in project.status()["job.elsewhere"]["last_error"]
    lake.expect("unchecked", range(20))
    assert project.status()["job.orders"]["health"] == []
    project.remove("stranger", "elsewhere", "unchecked")
    project.apply()


def test_the_certificate_of_a_client_opens_a_cluster_that_asks_for_it(
    lake: KafkaLake, broker: TlsBroker
) -> None:
    """As PEM files, and as a store with a password; without one the job fails, and the others run on."""
    servers, project = f"127.0.0.1:{broker.ports['MUTUAL']}", lake.project
    (project.root / "store-password").write_text(PASSWORD)
    files = 'ca = "ca.pem", certificate = "client.pem", key = "client.key"'
    store = 'ca = "ca.pem", keystore = "client.p12", keystore_password = secret.store'
    project.write(
        secrets='secret "store" { file = "store-password" }\n',
        files=through("files", trusting(servers, "files", files)),
        store=through("store", trusting(servers, "store", store)),
        nameless=through("nameless", trusting(servers, "nameless")),
    )
    warned = warnings(lake)
    assert "kafka.nameless: No TLS connection to the Kafka cluster" in warned
    assert "kafka.files" not in warned
    assert "kafka.store" not in warned
    project.apply(code=7)
    lake.refused(nameless="BROKER_TLS_FAILED")
    for name in ("files", "store"):
        lake.expect(name, range(20))
    project.remove("files", "store", "nameless", "secrets")
    project.apply()


@pytest.mark.slow
def test_a_listener_with_other_security_is_an_error_of_plan_and_job(
    lake: KafkaLake, broker: TlsBroker
) -> None:
    """TLS where the broker has none, and none where it has."""
    project = lake.project
    soon = ("  restart ", '  stability  = { within = "1s" }\n  restart ')
    connections = {
        "encrypted": trusting(broker.bootstrap, "encrypted"),
        "plain": cluster(f"127.0.0.1:{broker.ports['TLS']}", "plain"),
    }
    project.write(**{name: through(name, text).replace(*soon) for name, text in connections.items()})
    warned = warnings(lake)
    assert "kafka.encrypted: No TLS connection to the Kafka cluster" in warned
    assert "kafka.plain: The Kafka cluster cannot be reached" in warned
    project.apply(code=7)
    said = "names the security of their listener"
    project.until(
        lambda: all(said in str(project.status()[f"job.{name}"]["last_error"]) for name in connections),
        "an error of both jobs",
    )
    assert project.status()["job.orders"]["health"] == []
    project.remove(*connections)
    project.apply()
