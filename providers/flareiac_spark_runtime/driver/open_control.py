"""Opens the control directory of a driver. One in object storage is reached through the JVM that Spark starts
in later, so that a driver needs no Python package for it. ``spark-submit`` has started that JVM where it runs
the driver on a host of the cluster.
"""

import json
import os
from pathlib import Path
from typing import Any, Final

from flareiac.kernel.durable_files import make_directory
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import ApplicationSettings, ControlDirectory
from flareiac_spark_runtime.control.desired import SUBMITTED
from flareiac_spark_runtime.control.records import scratch_of
from flareiac_spark_runtime.driver.gateway import end_jvm, is_submitted, start_jvm, submitted_jvm
from flareiac_spark_runtime.driver.hadoop_store import HadoopStore, configuration
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.spark_session import (
    JAVA_OPTIONS,
    LAUNCH_CONF,
    machine_conf,
    with_java_options,
)
from flareiac_spark_runtime.storage import is_object_uri, open_with

_JVM_END_SECONDS: Final = 30.0
_OF_THE_JVM: Final = (JAVA_OPTIONS, "spark.driver.defaultJavaOptions", "spark.driver.extraLibraryPath")
"""Settings that count only while a JVM starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """``jvm``: the settings of the JVM that runs already, None where none does. ``submitted``: the digest of
    the settings that ``spark-submit`` started it with, None where this process starts it.
    """

    control: ControlDirectory
    jvm: dict[str, str] | None = None
    submitted: str | None = None

    def refuse_others(self, settings: ApplicationSettings) -> None:
        """Raises ``Refusal`` where the JVM that runs is not the one that these settings ask for."""
        if self.submitted is not None and self.submitted != settings.digest:
            raise Refusal(
                "SETTINGS_CHANGED", "The settings changed after it was submitted. Apply submits it again."
            )
        if self.jvm is not None and self.jvm != _jvm_conf(settings):
            raise Refusal(
                "SETTINGS_CHANGED", "The options of its JVM changed while it started. Start it again."
            )


def open_control(location: str) -> Opened:
    """Raises ``Refusal``, ``ControlError``, ``OSError`` and what pyspark raises."""
    if is_submitted():
        return _of_submitted(location)
    if not is_object_uri(location):
        return Opened(control=ControlDirectory(Path(location)))
    if LAUNCH_CONF not in os.environ:
        raise Refusal("JARS_UNKNOWN", started_without_jars(location))
    scratch = scratch_of(location)
    make_directory(scratch)
    conf = _jvm_conf(ApplicationSettings())
    control = _through_jvm(location, conf, scratch)
    desired = control.read_desired()
    wanted = conf if desired is None else _jvm_conf(desired.application)
    if wanted != conf:
        end_jvm(_JVM_END_SECONDS)
        control = _through_jvm(location, wanted, scratch)
    return Opened(control=control, jvm=wanted)


def _of_submitted(location: str) -> Opened:
    """Opens the control directory of a submitted driver. The options of ``spark-submit`` count as the
    machine's share of the settings.
    """
    from pyspark import SparkConf

    jvm: Any = submitted_jvm().jvm
    machine = dict(SparkConf(_jvm=jvm).getAll())
    os.environ[LAUNCH_CONF] = json.dumps(machine)
    hadoop = configuration(jvm, os.environ, machine)
    open_with(lambda bucket: HadoopStore(jvm, hadoop, bucket))
    control = ControlDirectory(location)
    make_directory(control.scratch)
    return Opened(control=control, submitted=machine.get(SUBMITTED, ""))


def started_without_jars(location: object) -> str:
    return f"It was started without its jars. Start it with: flareiac driver {location}"


def _through_jvm(location: str, conf: dict[str, str], scratch: Path) -> ControlDirectory:
    jvm: Any = start_jvm(conf, scratch).jvm
    hadoop = configuration(jvm, os.environ)
    open_with(lambda bucket: HadoopStore(jvm, hadoop, bucket))
    return ControlDirectory(location)


def _jvm_conf(settings: ApplicationSettings) -> dict[str, str]:
    """The settings with which the JVM of an application must be started on this machine."""
    machine = machine_conf()
    shared = {key: settings.conf[key] for key in _OF_THE_JVM if key in settings.conf}
    return with_java_options({**shared, **machine}, machine, shared)
