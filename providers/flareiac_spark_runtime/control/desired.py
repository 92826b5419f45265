"""The desired state of an application: the content of ``desired.json``, written by the command line alone."""

from collections.abc import Mapping
from dataclasses import field, replace
from itertools import chain, count, takewhile
from typing import Any, Final, Literal, TypeVar

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE
from flareiac_spark_runtime.control.spec import address_in

T = TypeVar("T")

PACKAGES: Final = "spark.flareiac.packages"
"""A setting that Spark does not know: the coordinates that the application was started with, so that a later
job can add to them.
"""

PROXY_USER: Final = "spark.flareiac.proxyUser"
"""A setting that Spark does not know: as whom it runs."""

SUBMITTED: Final = "spark.flareiac.settings"
"""A setting that Spark does not know: the digest of the settings that an application was submitted with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """A scheduler pool of the application."""

    weight: int = 1
    min_share: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLineageTarget:
    """The target of events of OpenLineage: ``url`` or ``file``, the other one is empty. ``api_key`` is the
    text that stands for a secret, empty for none. ``namespace``: that of the jobs.
    """

    namespace: str
    url: str = field(default="", metadata=SPARSE)
    api_key: str = field(default="", metadata=SPARSE)
    timeout_ms: int = field(default=5_000, metadata=SPARSE)
    file: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationSettings:
    """Settings that only a new JVM can take have their share in ``digest``. None for ``idle_shutdown_ms``
    means: never by itself.

    ``supervised``: its supervisor starts the driver again when it ends, so that it ends itself to take new
    settings. ``root``: the project that wrote this, whose lock file names the jars. ``master``, ``memory``,
    ``cores``: Spark's, for who starts the driver. ``jars``: SHA-256 by coordinate, for a driver
    on a host without the project. ``pools``: by name.
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
    cores: int | None = field(default=None, metadata=SPARSE)
    supervised: bool = field(default=False, metadata=SPARSE)
    jars: Mapping[str, str] = field(default_factory=dict, metadata=SPARSE)
    listen: str = field(default="", metadata=SPARSE)
    """The address at which the driver serves metrics and health (``HOST:PORT``), empty for nowhere."""
    liveness_file: str = field(default="", metadata=SPARSE)
    """The absolute path of a file that is touched while the driver makes progress, empty for none."""
    log_format: Literal["", "json"] = field(default="", metadata=SPARSE)
    """The lines of its logs; empty for plain text."""
    pools: Mapping[str, PoolSettings] = field(default_factory=dict, metadata=SPARSE)
    openlineage: OpenLineageTarget | None = field(default=None, metadata=SPARSE)
    """The target of events of OpenLineage, None for nowhere."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Maven coordinates, sorted."""
        return tuple(sorted(package for package in self.conf.get(PACKAGES, "").split(",") if package))


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

    ``jobs`` by the name under which the application knows each, which stays when its address changes: its
    first address (see ``name_of``). ``held``: jobs that are not started before a time (UTC seconds) although
    they should run, by the same names. A command that asked for it and died need not take it back.
    ``down_since``: when the application that ran them was heard from last (UTC seconds).
    """

    lineage: str
    workspace: str
    place: str = ""
    revision: int = 0
    application: ApplicationSettings = field(default_factory=ApplicationSettings)
    jobs: Mapping[str, DesiredJob] = field(default_factory=dict)
    held: Mapping[str, float] = field(default_factory=dict, metadata=SPARSE)
    down_since: Mapping[str, float] = field(default_factory=dict, metadata=SPARSE)

    def name_of(self, address: str, known_as: str = "", digest: str | None = None) -> str:
        """The name of a job here, whether it is here or not: the one that it was ``known_as`` before its
        address changed, else its address, unless another job has that name.

        A job is recognised by the address in its spec, or by the digest that is recorded of it.
        """
        numbered = (f"{address}~{number}" for number in count(2))
        taken = list(takewhile(self.jobs.__contains__, numbered))
        names = (*filter(None, (known_as,)), address, *taken, f"{address}~{len(taken) + 2}")
        own = (name for name in names if self._is_of(name, address, digest))
        return next(chain(own, (name for name in names if name not in self.jobs)))

    def address_of(self, name: str) -> str:
        """The address of a job, by its name here."""
        job = self.jobs.get(name)
        return address_in(job.spec, name) if job is not None else name

    def _is_of(self, name: str, address: str, digest: str | None) -> bool:
        job = self.jobs.get(name)
        return job is not None and (job.digest == digest or self.address_of(name) == address)

    def with_job(self, name: str, job: DesiredJob) -> "Desired":
        """With this job as it should be from now on, no longer held."""
        return replace(self.without_held(name), jobs={**self.jobs, name: job})

    def without_job(self, name: str) -> "Desired":
        """Without this job."""
        return replace(self.without_held(name), jobs=_without(self.jobs, name))

    def held_at(self, now: float) -> frozenset[str]:
        """The jobs that are not to be started at a time."""
        return frozenset(name for name, until in self.held.items() if now < until)

    def with_held(self, name: str, until: float, down_since: float) -> "Desired":
        """With this job held until a time. One that is held already has been down since the first time."""
        since = {name: down_since, **self.down_since}
        return replace(self, held={**self.held, name: until}, down_since=since)

    def without_held(self, name: str) -> "Desired":
        """With this job free to start."""
        return replace(self, held=_without(self.held, name), down_since=_without(self.down_since, name))


def _without(known: Mapping[str, T], name: str) -> dict[str, T]:
    return {other: value for other, value in known.items() if other != name}
