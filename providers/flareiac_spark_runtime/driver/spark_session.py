"""Starts and ends Spark in this process. One session is the root of all; each job gets a new one of its
own.
"""

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import is_reference, resolve
from flareiac_spark_runtime.control import ApplicationSettings
from flareiac_spark_runtime.driver.gateway import end_jvm, start_jvm
from flareiac_spark_runtime.driver.hadoop_store import HadoopStore
from flareiac_spark_runtime.driver.jvm import jvm_of
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.scheduling import MODE, pool_conf
from flareiac_spark_runtime.masters import is_local, local_cores
from flareiac_spark_runtime.storage import open_with
from flareiac_spark_runtime.storage.hadoop_settings import executor_environment, hadoop_settings

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LAUNCH_CONF = "FLAREIAC_LAUNCH_CONF"
"""Environment variable: JSON of settings that belong to this machine (master, class path, JVM options). JVM
options of both count; of other settings these win over the shared ones.
"""

CATALOG = "spark.sql.catalog."
_MASTER = "spark.master"
_DEFAULTS = {
    _MASTER: "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    **MODE,
    "spark.redaction.regex": "(?i)secret|password|token|credential|access[.]?key",
}
_ALONE = {
    # Executors on other hosts could not reach it.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_PYTHON = "spark.pyspark.python"
_EXECUTOR = "spark.executorEnv"
_HADOOP_S3 = "org.apache.hadoop:hadoop-aws:"
_REDACTION = "spark.redaction.regex"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_NOT_REGISTERED = (
    "The master {master} did not accept the application within a minute. It must be a Spark master of the "
    "same release, reach spark.driver.host, and have the same secret where it asks for one. Its log and the "
    "driver's output say more."
)
_FIXED = {
    # A second start on a checkpoint must fail, not silently end the first. Users cannot set it.
    "spark.sql.streaming.stopActiveRunOnRestart": "false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """``process`` is the JVM as a child of this process, None where it was there before."""

    session: "SparkSession"
    process: "subprocess.Popen[bytes] | None"
    jvm_pid: int
    spark_version: str
    java_version: str
    ui: str | None


def start_spark(settings: ApplicationSettings, scratch: Path) -> Started:
    """Starts the root session, and the JVM unless it runs. Raises what pyspark raises, ``Failure`` for a
    secret that this process cannot have, and ``Refusal`` where the master does not accept it.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    conf = spark_conf(settings, machine_conf(), os.environ) | pool_conf(settings.pools, scratch)
    if _PYTHON in conf:
        os.environ["PYSPARK_PYTHON"] = conf[_PYTHON]  # Spark reads the setting for spark-submit alone
    start_jvm(conf, scratch)
    context: Any = SparkContext.getOrCreate(SparkConf().setAll(list(conf.items())))
    if context._jsc.sc().isStopped():
        raise Refusal("APPLICATION_NOT_REGISTERED", _NOT_REGISTERED.format(master=conf[_MASTER]))
    session = SparkSession.builder.getOrCreate()
    session.sparkContext.setLogLevel(settings.log_level)
    gateway: Any = SparkContext._gateway
    jvm: Any = session._jvm
    conf_of_hadoop: Any = session._jsc.hadoopConfiguration()
    open_with(lambda bucket: HadoopStore(jvm, conf_of_hadoop, bucket))
    return Started(
        session=session,
        process=getattr(gateway, "proc", None),
        jvm_pid=int(jvm.java.lang.ProcessHandle.current().pid()),
        spark_version=session.version,
        java_version=str(jvm.java.lang.System.getProperty("java.version")),
        ui=session.sparkContext.uiWebUrl,
    )


def machine_conf() -> dict[str, str]:
    """The settings that belong to this machine, as the process was given them."""
    conf: dict[str, str] = json.loads(os.environ.get(LAUNCH_CONF, "{}"))
    return conf


def machine_master() -> str:
    """The master URL that this machine was given."""
    return machine_conf().get(_MASTER, _DEFAULTS[_MASTER])


def spark_conf(
    settings: ApplicationSettings, machine: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """The settings with which the root session starts. ``machine``: settings that belong to this machine;
    they win over the shared ones. Of JVM options both count, the user's last: the JVM takes the last of two
    that contradict each other. ``environment`` says how S3 is reached, where the application has Hadoop's
    jars for it.

    Raises ``Failure`` for a secret that this process cannot have.
    """
    # Every session sets its catalogs itself; what stands for a secret there is filled in then and not before.
    hidden = [
        key for key, value in settings.conf.items() if is_reference(value) and not key.startswith(CATALOG)
    ]
    shared = {
        key: resolve(value)
        for key, value in settings.conf.items()
        if key in hidden or not is_reference(value)
    }
    redacted = "|".join([_DEFAULTS[_REDACTION], *(f"^{re.escape(key)}$" for key in hidden)])
    if is_local(machine.get(_MASTER, _DEFAULTS[_MASTER])):
        about = _ALONE
    else:
        about = {f"{_EXECUTOR}.{name}": value for name, value in executor_environment(environment).items()}
    own = {**_DEFAULTS, **about, "spark.app.name": settings.name, _REDACTION: redacted}
    if any(package.startswith(_HADOOP_S3) for package in settings.packages):
        own |= {f"spark.hadoop.{name}": value for name, value in hadoop_settings(environment).items()}
    conf = {**own, **shared, **machine, **_FIXED}
    conf = with_java_options(conf, machine, shared)
    cores = local_cores(conf[_MASTER])
    if cores is not None:
        # Spark's own 200 cost a first batch with state minutes on a few cores. A checkpoint that has begun
        # keeps the number it began with.
        conf.setdefault("spark.sql.shuffle.partitions", str(cores))
    return conf


def with_java_options(
    conf: Mapping[str, str], machine: Mapping[str, str], shared: Mapping[str, str]
) -> dict[str, str]:
    """Settings with the JVM options of both, the shared ones last."""
    # Once where spark-submit was given the shared ones.
    given = dict.fromkeys(each[JAVA_OPTIONS] for each in (machine, shared) if each.get(JAVA_OPTIONS))
    options = list(given)
    return {**conf, JAVA_OPTIONS: " ".join(options)} if options else dict(conf)


def new_session(root: Any) -> Any:
    """A session with conf, views and catalogs of its own, made the active one of this thread.

    Catalogs are loaded with the conf of the thread's active session, not of the session that was asked.
    """
    session = root.newSession()
    activate(session)
    return session


def activate(session: "SparkSession") -> None:
    """Makes a session the active one of this thread."""
    jvm_of(session).org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)


def set_conf(session: "SparkSession", conf: Mapping[str, str]) -> None:
    """Gives a session a job's settings. Raises ``Failure`` for a secret that this process cannot have, and
    what Spark raises.
    """
    for key, value in conf.items():
        session.conf.set(key, resolve(value))


def set_catalogs(session: "SparkSession", conf: Mapping[str, str]) -> None:
    """Gives a fresh session exactly these catalogs. They are loaded at their first use, so that no new JVM is
    needed for others.

    Raises ``Failure`` for a secret that this process cannot have.
    """
    wanted = {key: resolve(value) for key, value in conf.items() if key.startswith(CATALOG)}
    there = _first_catalogs(session.sparkContext)
    for key in there.keys() - wanted.keys():
        session.conf.unset(key)
    for key, value in wanted.items():
        if there.get(key) != value:
            session.conf.set(key, value)


@cache
def _first_catalogs(context: "SparkContext") -> Mapping[str, str]:
    """The catalogs that each new session of an application begins with: those of its root. They are read
    once, since Py4J needs a call for every setting, which takes longer than the analysis of a job.
    """
    return {key: value for key, value in context.getConf().getAll() if key.startswith(CATALOG)}


def stop_spark(started: Started) -> None:
    """Ends Spark; its JVM stays."""
    with contextlib.suppress(Exception):  # a JVM that is gone already cannot be asked
        started.session.stop()


def end_spark(started: Started, seconds: float) -> None:
    """Ends Spark and its JVM, so that the next application finds nothing in its way."""
    stop_spark(started)
    end_jvm(seconds)


def session_with(root: Any, conf: Mapping[str, str]) -> Any:
    """A session with the catalogs as they are wanted now: they are no part of what only a new JVM can
    take.
    """
    session = new_session(root)
    set_catalogs(session, conf)
    return session
