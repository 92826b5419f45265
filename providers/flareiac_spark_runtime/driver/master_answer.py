"""Asks the master of a standalone cluster for its state: whether it is active and knows the application
through Spark's own connection, and what the cluster has through the master's web page.
"""

import json
from dataclasses import field
from typing import Any

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode, named
from flareiac.sdk.http_client import HttpClient, HttpRefusal, NoAnswer
from flareiac_spark_runtime.driver.executor_shortage import Figures, MasterAnswer, OtherApplication, Worker
from flareiac_spark_runtime.driver.jvm import jvm

_ASK_SECONDS = 10
_STATE = "org.apache.spark.deploy.DeployMessages$RequestMasterState$"
_OF_STATE = "org.apache.spark.deploy.DeployMessages$MasterStateResponse"
_PORTS = "org.apache.spark.deploy.master.MasterMessages$BoundPortsRequest$"
_OF_PORTS = "org.apache.spark.deploy.master.MasterMessages$BoundPortsResponse"
_CLIENT = HttpClient(seconds=_ASK_SECONDS, most_bytes=16 * 1024 * 1024, direct=True)
"""The master is in the driver's own network, where no proxy of the environment leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worker(Foreign):
    state: str
    cores_free: int = field(metadata=named("coresfree"))
    memory_free: int = field(metadata=named("memoryfree"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Application(Foreign):
    id: str
    name: str
    cores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page(Foreign):
    workers: tuple[_Worker, ...] = ()
    applications: tuple[_Application, ...] = field(default=(), metadata=named("activeapps"))


def ask_master(host: str, port: int, own: str) -> MasterAnswer:
    """Asks a master for its state. ``own``: the id of the application. Raises Java's errors if it does not
    answer.
    """
    java: Any = jvm()
    environment = java.org.apache.spark.SparkEnv.get().rpcEnv()
    endpoint = environment.setupEndpointRef(java.org.apache.spark.rpc.RpcAddress(host, port), "Master")
    state = _ask(endpoint, _STATE, _OF_STATE)
    # What is used of a worker, and of its own cores, is lost on this way: Spark does not send it.
    ports = _ask(endpoint, _PORTS, _OF_PORTS)
    return MasterAnswer(
        status=str(state.status().toString()),
        knows=any(activeApp.id() == own for activeApp in state.activeApps()),
        figures=figures(host, int(ports.webUIPort()), own),
    )


def figures(host: str, port: int, own: str) -> Figures | None:
    """The figures on the web page of a master; None where it cannot be read from here."""
    try:
        page = decode(_Page, json.loads(_CLIENT.ask(f"http://{host}:{port}/json/")))
    except (NoAnswer, HttpRefusal, ValueError, TypeError):
        return None
    return Figures(
        workers=tuple(
            Worker(state=worker.state, cores_free=worker.cores_free, memory_free=worker.memory_free)
            for worker in page.workers
        ),
        others=tuple(
            OtherApplication(name=application.name, cores=application.cores)
            for application in page.applications
            if application.id != own
        ),
        granted=sum(application.cores for application in page.applications if application.id == own),
    )


def _ask(endpoint: Any, request: str, answer: str) -> Any:
    java: Any = jvm()
    of_class = java.java.lang.Class.forName
    message = of_class(request).getField("MODULE$").get(None)
    tag = java.scala.reflect.ClassTag.apply(of_class(answer))
    seconds = java.java.util.concurrent.TimeUnit.SECONDS
    span = java.scala.concurrent.duration.FiniteDuration(_ASK_SECONDS, seconds)
    limit = java.org.apache.spark.rpc.RpcTimeout(span, "the answer of the master")
    return endpoint.askSync(message, limit, tag)
