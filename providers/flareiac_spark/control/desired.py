"""What should run: the content of ``desired.json``, written by the command line alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationSettings:
    """Settings that only a new JVM can take have their share in ``digest``. None for ``idle_shutdown_ms``
    means: never by itself.

    ``root``: the project that wrote this, whose lock file names the jars. ``master``, ``memory``: Spark's,
    for who starts the driver.
    """

    digest: str = ""
    name: str = "flareiac"
    conf: Mapping[str, str] = field(default_factory=dict)
    log_level: str = "WARN"
    idle_shutdown_ms: int | None = None
    graceful_stop_ms: int = 30_000
    root: str = ""
    master: str = "local[*]"
    memory: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredJob:
    """``spec`` stays plain JSON here, so that one job that cannot be understood hides no other. A raised
    ``nonce`` asks for a restart.

    ``queries``: the query that each checkpoint must hold, by folder, as the state knows it. A start on
    anything else is refused.
    """

    digest: str
    spec: Mapping[str, Any]
    state: Literal["running", "stopped"] = "running"
    nonce: int = 0
    queries: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """``revision`` grows by one with every write; 0 means that nothing was written yet.

    ``place`` is the control directory as its writer addressed it ("" in files of earlier releases): a copied
    folder still names the one it was copied from.
    """

    lineage: str
    workspace: str
    place: str = ""
    revision: int = 0
    application: ApplicationSettings = field(default_factory=ApplicationSettings)
    jobs: Mapping[str, DesiredJob] = field(default_factory=dict)
