"""The options of ``spark-submit`` under their own names, for people who know them: which Spark setting each
one is, or which attribute says it. Pure.
"""

from collections.abc import Mapping
from typing import Final

PROXY_USER: Final = "proxy-user"
"""The one option that is no setting of Spark."""
_DRIVER: Final = "write driver = { memory = ..., cores = ... } instead"
_EXECUTOR: Final = "write executor = { instances = ..., cores = ..., memory = ... } instead"
_PACKAGES: Final = "write packages instead: they are locked and fetched by flareiac init"
_COMMANDS: Final = "flareiac status, stop and logs work on what runs"
_CONF: Final = "write conf instead"

SETTINGS: Final[Mapping[str, str]] = {
    "archives": "spark.archives",
    "driver-java-options": "spark.driver.extraJavaOptions",
    "driver-library-path": "spark.driver.extraLibraryPath",
    "files": "spark.files",
    "keytab": "spark.kerberos.keytab",
    "name": "spark.app.name",
    "principal": "spark.kerberos.principal",
    "py-files": "spark.submit.pyFiles",
    "queue": "spark.yarn.queue",
    "total-executor-cores": "spark.cores.max",
}
"""The setting of each option, as ``spark-submit`` itself translates it."""
LOCAL_FILES: Final = frozenset(
    {"spark.archives", "spark.files", "spark.kerberos.keytab", "spark.submit.pyFiles"}
)
"""Settings that list files of the machine that submits, separated by commas."""

INSTEAD: Final[Mapping[str, str]] = {
    "class": "the application is FlareIaC's driver",
    "conf": _CONF,
    "deploy-mode": "write deploy_mode instead",
    "driver-class-path": _PACKAGES,
    "driver-cores": _DRIVER,
    "driver-memory": _DRIVER,
    "exclude-packages": "only the locked packages are used, so there are none to exclude",
    "executor-cores": _EXECUTOR,
    "executor-memory": _EXECUTOR,
    "jars": _PACKAGES,
    "kill": _COMMANDS,
    "load-spark-defaults": _CONF,
    "master": "write master instead",
    "num-executors": _EXECUTOR,
    "packages": _PACKAGES,
    "properties-file": _CONF,
    "remote": "jobs run in a Spark application of their own, not on a server of Spark Connect",
    "repositories": "flareiac init fetches packages, from where Ivy's settings say",
    "status": _COMMANDS,
    "supervise": "Spark restarts no driver in Python; the next apply does, or a service unit",
    "verbose": "flareiac logs shows what the driver says",
}
"""The advice for each option that cannot be set here."""


def settings_in(options: Mapping[str, str]) -> dict[str, str]:
    """Options as Spark's settings."""
    return {SETTINGS[name]: value for name, value in options.items() if name in SETTINGS}
