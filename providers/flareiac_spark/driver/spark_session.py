"""Starts and ends Spark in this process. One session is the root of all; each job gets a new one of its
own.
"""

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flareiac.kernel.durable_files import write_new
from flareiac.sdk.secrets import is_reference, resolve
from flareiac_spark.control import ApplicationSettings
from flareiac_spark.driver.jvm import jvm_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAUNCH_CONF = "FLAREIAC_LAUNCH_CONF"
"""Environment variable: JSON of settings that belong to this machine (master, class path, JVM options). JVM
options of both count; of other settings these win over the shared ones.
"""

CATALOG = "spark.sql.catalog."
_DEFAULTS = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.redaction.regex": "(?i)secret|password|token|credential|access[.]?key",
}
_REDACTION = "spark.redaction.regex"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
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
    """Starts the JVM and the root session. Raises what pyspark raises, and ``Failure`` for a secret that this
    process cannot have.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    conf = spark_conf(settings, json.loads(os.environ.get(LAUNCH_CONF, "{}")))
    properties = scratch / ".spark.properties"
    _write_properties(properties, conf)
    # A file instead of arguments: every user of a machine can read a process's arguments, and catalogs have
    # passwords.
    os.environ["PYSPARK_SUBMIT_ARGS"] = f'--properties-file "{properties}" pyspark-shell'
    try:
        session = SparkSession.builder.getOrCreate()
    finally:
        properties.unlink(missing_ok=True)
    session.sparkContext.setLogLevel(settings.log_level)
    gateway: Any = SparkContext._gateway
    jvm: Any = session._jvm
    return Started(
        session=session,
        process=getattr(gateway, "proc", None),
        jvm_pid=int(jvm.java.lang.ProcessHandle.current().pid()),
        spark_version=session.version,
        java_version=str(jvm.java.lang.System.getProperty("java.version")),
        ui=session.sparkContext.uiWebUrl,
    )


def spark_conf(settings: ApplicationSettings, machine: Mapping[str, str]) -> dict[str, str]:
    """What the root session starts with. ``machine``: settings that belong to this machine; they win over the
    shared ones. Of JVM options both count, the user's last: the JVM takes the last of two that contradict
    each other.

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
    conf = {**_DEFAULTS, "spark.app.name": settings.name, _REDACTION: redacted, **shared, **machine, **_FIXED}
    if options := [given[_JAVA_OPTIONS] for given in (machine, shared) if given.get(_JAVA_OPTIONS)]:
        conf[_JAVA_OPTIONS] = " ".join(options)
    cores = _local_cores(conf["spark.master"])
    if cores is not None:
        # Spark's own 200 cost a first batch with state minutes on a few cores. A checkpoint that has begun
        # keeps the number it began with.
        conf.setdefault("spark.sql.shuffle.partitions", str(cores))
    return conf


def _local_cores(master: str) -> int | None:
    """How many cores a local master uses, None for any other."""
    found = re.fullmatch(r"local(?:\[\s*(\d+|\*)\s*(?:,\s*\d+\s*)?\])?", master)
    if found is None:
        return None
    return (os.cpu_count() or 1) if found.group(1) == "*" else int(found.group(1) or 1)


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
    there = {key: value for key, value in session.conf.getAll.items() if key.startswith(CATALOG)}
    for key in there.keys() - wanted.keys():
        session.conf.unset(key)
    for key, value in wanted.items():
        if there.get(key) != value:
            session.conf.set(key, value)


def end_spark(started: Started, seconds: float) -> None:
    """Stops Spark and waits until its JVM is gone, so that the next application finds nothing in its way."""
    from pyspark import SparkContext

    with contextlib.suppress(Exception):  # a JVM that is gone already cannot be asked
        started.session.stop()
    gateway: Any = SparkContext._gateway
    with contextlib.suppress(Exception):
        gateway.shutdown()
    if started.process is None:
        return
    if started.process.stdin is not None:
        with contextlib.suppress(OSError):
            started.process.stdin.close()
    try:
        started.process.wait(seconds)
    except subprocess.TimeoutExpired:
        started.process.kill()
        started.process.wait()


def _write_properties(path: Path, conf: Mapping[str, str]) -> None:
    path.unlink(missing_ok=True)
    lines = (f"{_escape(key, ' :=#!')}={_escape(value, '')}\n" for key, value in conf.items())
    write_new(path, "".join(lines).encode("ascii"))


def _escape(text: str, special: str) -> str:
    """In the format of ``java.util.Properties``."""
    shown = []
    for at, letter in enumerate(text):
        if letter == "\\" or letter in special or (letter == " " and at == 0):
            shown.append("\\" + letter)
        elif letter in "\n\r\t":
            shown.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[letter])
        elif letter.isascii():
            shown.append(letter)
        else:
            units = letter.encode("utf-16-be")
            shown.extend(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    return "".join(shown)
