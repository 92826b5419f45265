"""A Kafka broker (with its controller in the same JVM) on free ports of the loopback.

    with Broker(directory, java_home) as broker:
        topic = broker.topics.create(partitions=2)
        broker.topics.produce(topic, ["a", "b"])

It is stopped, killed and started again on the same ports and data.
"""

import base64
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.kafka_topics import Topics
from tests.support.maven_jars import dependency, resolved_jars
from tests.support.ports import lasting_port

KAFKA: Final = "4.3.0"
SECONDS: Final = 90.0
_ONE_NODE: Final = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "num.partitions": "1",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "log.cleaner.enable": "false",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    # Records stay until their topic says otherwise, also those of 1970; a topic that does is cleaned at once
    "log.retention.ms": "-1",
    "log.initial.task.delay.ms": "0",
    "log.retention.check.interval.ms": "500",
    # So that a broker that was killed is registered again soon
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "250",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A user of the listener that asks for one (SASL/PLAIN without TLS)."""

    user: str
    password: str

    @property
    def settings(self) -> dict[str, str]:
        """The settings that a client on librdkafka needs."""
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": self.user,
            "sasl.password": self.password,
        }

    @property
    def jaas(self) -> str:
        """The setting that a client on the JVM needs, as ``sasl.jaas.config``."""
        return f'{_PLAIN} required username="{self.user}" password="{self.password}";'


_PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The node of a cluster that a broker is: each is broker and controller. ``ports``: of each node, those
    of clients and of controllers. ``id`` of the cluster: None for a new one with each empty directory.
    """

    ports: tuple[tuple[int, int], ...]
    at: int = 0
    id: str | None = None

    @property
    def bootstrap(self) -> str:
        """The address at which clients reach this node."""
        return f"127.0.0.1:{self.ports[self.at][0]}"

    @property
    def servers(self) -> str:
        """The addresses at which clients reach all nodes, separated by commas."""
        return ",".join(f"127.0.0.1:{port}" for port, _controller in self.ports)

    @property
    def properties(self) -> dict[str, str]:
        """The id of this node, and the voters."""
        voters = (f"{at}@127.0.0.1:{port}" for at, (_clients, port) in enumerate(self.ports, 1))
        return {"node.id": str(self.at + 1), "controller.quorum.voters": ",".join(voters)}


@cache
def broker_jars() -> tuple[Path, ...]:
    """The jars of the broker and of what it needs."""
    return resolved_jars("kafka-broker", KAFKA, [dependency(f"org.apache.kafka:kafka_2.13:{KAFKA}")])


class Broker:
    """A broker with its data below ``directory``; as a context, it is started and stopped.

    It is a cluster by itself, unless it has a ``place`` in one. With a ``login`` there is a second listener,
    ``login_bootstrap``, that takes this user only. ``settings`` go before the broker's own, such as
    ``message.max.bytes``.
    """

    def __init__(
        self,
        directory: Path,
        java_home: Path,
        *,
        login: Login | None = None,
        settings: Mapping[str, str] | None = None,
        place: Place | None = None,
    ) -> None:
        self._directory, self._java = directory, java_home / "bin" / "java"
        self._place: Final = place or Place(ports=((lasting_port(), lasting_port()),))
        self._login_port = lasting_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._login, self._settings = login, dict(settings or {})
        self.bootstrap: Final = self._place.bootstrap
        self.login_bootstrap: Final = f"127.0.0.1:{self._login_port}" if login else None
        self.topics: Final = Topics(self._place.servers, copies=len(self._place.ports))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()  # a test has nothing to flush, and this is faster

    @property
    def pid(self) -> int:
        """The process of a running broker."""
        assert self._process is not None, "the broker is not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Returns True if its process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Returns when clients are served; what an earlier run stored is there again."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Starts it, and does not wait for it: a node serves clients once most nodes of its cluster run."""
        assert self._process is None, "the broker is running"
        self._directory.mkdir(parents=True, exist_ok=True)
        properties = self._directory / "server.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in self._properties().items()))
        with self._log.open("ab") as log:
            if not (self._data / "meta.properties").exists():
                command = self._command(
                    "kafka.tools.StorageTool", "format", "-t", self._place.id or fresh_id(), "-c"
                )
                ran = subprocess.run([*command, str(properties)], stdout=log, stderr=log, check=False)
                assert ran.returncode == 0, self._log.read_text()[-3000:]
            self._process = subprocess.Popen(
                self._command("kafka.Kafka", str(properties)),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self._directory,
            )

    def wait(self) -> None:
        """Returns when it serves clients."""
        assert self._process is not None, "the broker is not running"
        deadline = time.monotonic() + SECONDS
        client = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while True:
            try:
                if client.list_topics(timeout=2).brokers:
                    return
            except KafkaException:
                pass  # not yet
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(self._log.read_text()[-3000:])

    def stop(self) -> None:
        """Ends it in order."""
        self._end(kill=False)

    def kill(self) -> None:
        """Ends it at once, as a machine that fails does; nothing happens when it is not running."""
        self._end(kill=True)

    def restart(self) -> None:
        """Stops it in order and starts it again."""
        self.stop()
        self.start()

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Inside, another cluster without topics is served on the same ports."""
        aside = self._directory / "aside"
        self.stop()
        self._data.rename(aside)
        self.start()
        try:
            yield
        finally:
            self.kill()
            shutil.rmtree(self._data)
            aside.rename(self._data)
            self.start()

    @property
    def _data(self) -> Path:
        return self._directory / "data"

    @property
    def _log(self) -> Path:
        return self._directory / "broker.log"

    def _properties(self) -> dict[str, str]:
        port, controller = self._place.ports[self._place.at]
        listeners = {"PLAINTEXT": port, "CONTROLLER": controller}
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"}
        own: dict[str, str] = {}
        if self._login is not None:
            listeners["LOGIN"], protocols["LOGIN"] = self._login_port, "SASL_PLAINTEXT"
            name = "listener.name.login"
            user = f'user_{self._login.user}="{self._login.password}"'
            own = {
                f"{name}.sasl.enabled.mechanisms": "PLAIN",
                f"{name}.plain.sasl.jaas.config": f"{_PLAIN} required {user};",
            }
        addresses = {name: f"{name}://127.0.0.1:{port}" for name, port in listeners.items()}
        advertised = [address for name, address in addresses.items() if name != "CONTROLLER"]
        return {
            **_ONE_NODE,
            **own,
            **self._place.properties,
            "listeners": ",".join(addresses.values()),
            "advertised.listeners": ",".join(advertised),
            "listener.security.protocol.map": ",".join(map(":".join, protocols.items())),
            "log.dirs": str(self._data),
            **self._settings,
        }

    def _command(self, *arguments: str) -> list[str]:
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        return [str(self._java), *options, "-cp", os.pathsep.join(map(str, broker_jars())), *arguments]

    def _end(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if not kill:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        else:
            process.kill()
        process.wait()


def fresh_id() -> str:
    """A cluster id; one that begins with a dash would be read as an option."""
    found = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return found if not found.startswith("-") else fresh_id()


if __name__ == "__main__":
    print(os.pathsep.join(map(str, broker_jars())), file=sys.stdout)
