"""The settings of an engine's application, and whether it is up. Touches control directories and processes
through their ports.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.sdk.lakehouse_views import ConnectionView
from flareiac.sdk.lineage import job_namespace
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.versions import HADOOP_S3
from flareiac_spark.application import (
    Launch,
    await_end,
    await_external,
    control_failure,
    end_application,
    end_if_gone,
    ensure_running,
    ensure_submitted,
    is_alive,
    is_elsewhere_and_silent,
    stop_application,
)
from flareiac_spark.application.serve import launch_of
from flareiac_spark.engine.engine_definition import EXTERNAL, LOCAL, EngineDefinition, control_place
from flareiac_spark.engine.openlineage_settings import OpenLineageDefinition
from flareiac_spark.engine.submit_options import LOCAL_FILES
from flareiac_spark.places import absolute_place
from flareiac_spark.runtime.coordinates import Coordinate
from flareiac_spark.runtime.lock_file import read_lock
from flareiac_spark.runtime.locked_versions import as_locked, other_versions
from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ControlDirectory,
    ControlError,
    Desired,
    Status,
    StoredProof,
)
from flareiac_spark_runtime.control.desired import PACKAGES, PROXY_USER, OpenLineageTarget, PoolSettings
from flareiac_spark_runtime.storage import is_object_uri

_EXTENSIONS = "spark.sql.extensions"
_CATALOG = "spark.sql.catalog."
_MARGIN_SECONDS: Final = 60.0
"""Beyond ``graceful_stop``, for Spark's own end."""
_LOCATION: Final = "location"
"""The attribute with the location of a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The needs of one engine's jobs on its application, joined."""

    conf: Mapping[str, str] = field(default_factory=dict)
    packages: frozenset[str] = frozenset()
    extensions: frozenset[str] = frozenset()

    def joined(self, other: "Needs") -> "Needs":
        """A catalog that both know is taken from here as a whole: a setting that it has no more must not come
        back from there.
        """
        known = {_catalog_in(key) for key in self.conf}
        kept = {key: value for key, value in other.conf.items() if _catalog_in(key) not in known}
        return Needs(
            conf={**kept, **self.conf},
            packages=self.packages | other.packages,
            extensions=self.extensions | other.extensions,
        )


def needs_of(references: References) -> Needs:
    """The needs that the connections among these references declare, and those of checkpoints in object
    storage. An engine declares its own.
    """
    needs = Needs()
    for reference in references.values():
        if reference.type == "checkpoint" and is_object_uri(str(reference.attributes.get(_LOCATION))):
            needs = needs.joined(object_storage_needs())
        if reference.type != "engine":
            needed = ConnectionView.of(reference)
            needs = needs.joined(
                Needs(conf=needed.spark_conf, packages=needed.packages, extensions=needed.extensions)
            )
    return needs


def object_storage_needs() -> Needs:
    """The jars that keeping something in object storage needs. The driver's own environment says how it is
    reached (``storage.hadoop_settings``).
    """
    return Needs(packages=frozenset(HADOOP_S3))


def _packages_for(project: Project, engine: EngineDefinition, needs: Needs) -> frozenset[str]:
    """The coordinates of an engine whose jobs have these needs, in the versions that the project runs with.
    Raises ``Failure``.
    """
    return as_locked(
        needs.joined(_own_needs(engine)).packages, engine.packages, read_lock(project.root) or ()
    )


def _own_needs(engine: EngineDefinition) -> Needs:
    """The needs of an engine whatever its jobs are."""
    return object_storage_needs() if is_object_uri(engine.runtime_location) else Needs()


def _catalog_in(key: str) -> str:
    return key.removeprefix(_CATALOG).partition(".")[0]


def settings(project: Project, engine: EngineDefinition, needs: Needs) -> ApplicationSettings:
    """The settings with which the application is started. ``digest`` covers those that only a new JVM can
    take; catalogs a session takes.
    """
    packages = sorted(_packages_for(project, engine, needs))
    conf = {**engine.conf, PACKAGES: ",".join(packages)}
    extensions = [*_split(engine.conf.get(_EXTENSIONS)), *sorted(needs.extensions)]
    if extensions:
        conf[_EXTENSIONS] = ",".join(dict.fromkeys(extensions))
    if engine.proxy_user:
        conf[PROXY_USER] = engine.proxy_user
    of_jvm = [dict(sorted(conf.items())), engine.master, encode(engine.driver)]
    elsewhere = [] if engine.type == LOCAL else [engine.type, engine.deploy_mode]
    pools = [encode(engine.pools)] if engine.pools else []
    for name in LOCAL_FILES & conf.keys():
        conf[name] = _absolute_files(conf[name], project)
    return ApplicationSettings(
        digest=digest([*of_jvm, *elsewhere, *pools]),
        name=f"flareiac {engine.runtime_location.rpartition('/')[2]} ({project.workspace})",
        conf=dict(sorted({**needs.conf, **conf}.items())),
        log_level=engine.log_level,
        idle_shutdown_ms=engine.idle_shutdown_ms,
        graceful_stop_ms=engine.graceful_stop_ms,
        root=str(project.root),
        master=engine.master,
        memory=engine.driver.memory,
        cores=engine.driver.cores if engine.deploy_mode else None,
        supervised=engine.type == EXTERNAL or bool(engine.deploy_mode),
        jars=_locked(project, packages) if engine.type == EXTERNAL else {},
        listen=engine.listen,
        liveness_file=engine.liveness_file,
        log_format="json" if engine.log_format == "json" else "",
        openlineage=_target_of(engine.openlineage, project),
        pools={
            name: PoolSettings(weight=pool.weight, min_share=pool.min_share)
            for name, pool in engine.pools.items()
        },
    )


def _target_of(wanted: OpenLineageDefinition | None, project: Project) -> OpenLineageTarget | None:
    if wanted is None or not (wanted.url or wanted.file):
        return None
    return OpenLineageTarget(
        namespace=wanted.namespace or job_namespace(project.workspace),
        url=wanted.url,
        api_key=wanted.api_key,
        timeout_ms=int(wanted.timeout_ms) or 5_000,
        file=wanted.file,
    )


def settings_beside(
    project: Project, engine: EngineDefinition, needs: Needs, current: Desired | None, status: Status | None
) -> ApplicationSettings:
    """The settings with which an application is started. Where it has jobs already, their needs are known
    from its settings alone. A new JVM does without the packages among those that are not locked any more:
    nothing declared needs them, and it could not start with them.
    """
    if current is None or not current.jobs:
        return settings(project, engine, needs)
    has = needs_in(current.application)
    wanted = settings(project, engine, needs.joined(has))
    locked = read_lock(project.root)
    if locked is None or (is_alive(status) and _has(status, wanted)):
        return wanted
    still = has.packages.intersection(map(str, locked))
    return settings(project, engine, needs.joined(replace(has, packages=still)))


def _locked(project: Project, packages: Sequence[str]) -> dict[str, str]:
    """The checksums of these packages in the lock file. A driver that misses one says so."""
    locked = {str(coordinate): sha256 for coordinate, sha256 in (read_lock(project.root) or {}).items()}
    return {package: locked[package] for package in packages if package in locked}


def _absolute_files(listed: str, project: Project) -> str:
    """Files of the project by their absolute paths: a driver works in a folder of its own."""
    return ",".join(path if ":" in path else str(absolute_place(path, project)) for path in listed.split(","))


def needs_in(running: ApplicationSettings) -> Needs:
    """The catalogs and packages that an application has already."""
    return Needs(
        conf={key: value for key, value in running.conf.items() if key.startswith(_CATALOG)},
        packages=frozenset(running.packages),
        extensions=frozenset(_split(running.conf.get(_EXTENSIONS))),
    )


def lacking(
    project: Project, engine: EngineDefinition, running: ApplicationSettings, references: References
) -> tuple[str, ...]:
    """The needs of a job with these references that only a new JVM takes and the running one lacks: packages
    as coordinates, extensions by their class. Raises ``Failure``.
    """
    needed, has = needs_of(references), needs_in(running)
    packages = _packages_for(project, engine, needed) - has.packages
    return (*sorted(packages), *sorted(needed.extensions - has.extensions))


def outdated(
    project: Project, engine: EngineDefinition, running: ApplicationSettings, references: References
) -> Mapping[str, str]:
    """The jars of an application that the project runs in another version by now, those among them that
    other jobs need: the new coordinate by the running one. Raises ``Failure``.
    """
    needs = needs_of(references).joined(needs_in(running))
    return other_versions(running.packages, _packages_for(project, engine, needs))


def _split(listed: str | None) -> list[str]:
    return [entry for entry in (listed or "").split(",") if entry]


class Applications:
    """The applications of one project, by runtime location. Safe to use from several threads: one starts an
    application at a time. ``long_lived``: they run queries, and do not only answer questions.
    """

    def __init__(self, project: Project, *, long_lived: bool = True) -> None:
        self.project = project
        self._long_lived = long_lived
        self._guard = threading.Lock()
        self._starting: dict[str, threading.Lock] = {}
        self._needs: dict[str, Needs] = {}
        self.proofs: dict[str, StoredProof] = {}
        """The verdicts of Spark at the beginning of this apply, by the address of the job."""

    def control(self, engine: EngineDefinition) -> ControlDirectory:
        return ControlDirectory(control_place(engine, self.project))

    def announce(self, engine: EngineDefinition, references: References) -> None:
        """Tells of a job's needs before any is started, so that the application starts once with all of
        them.
        """
        with self._guard:
            location = engine.runtime_location
            self._needs[location] = self._needs.get(location, Needs()).joined(needs_of(references))

    def want(
        self, engine: EngineDefinition, references: References, change: Callable[[Desired], Desired]
    ) -> Desired:
        """Changes what should run, settings included. Raises ``Failure``."""
        self.announce(engine, references)
        control = self.control(engine)
        status = read_status(control)

        def changed(current: Desired) -> Desired:
            needs = self._needs[engine.runtime_location]
            wanted = settings_beside(self.project, engine, needs, current, status)
            return change(replace(current, application=wanted))

        return self._update(control, changed)

    def revise(self, engine: EngineDefinition, change: Callable[[Desired], Desired]) -> None:
        """Changes which jobs should run; the settings stay, which a recorded engine may no longer know.
        Raises ``Failure``.
        """
        control = self.control(engine)
        if read_desired(control) is not None:
            self._update(control, change)

    def bring_up(
        self, engine: EngineDefinition, cancel: threading.Event, progress: Callable[[str], None]
    ) -> Status | None:
        """The application runs with the wanted settings then (None: cancelled). Restarts one that runs with
        others. One that others run is waited for: with other settings it ends itself, and is started again.
        Raises ``Failure``.
        """
        control = self.control(engine)
        if engine.type == EXTERNAL:
            asked = read_desired(control)
            settings_digest = asked.application.digest if asked is not None else ""
            return await_external(control, settings_digest, cancel=cancel, progress=progress)
        self.end_if_gone(engine, cancel, progress)
        if engine.deploy_mode:
            return self._bring_up_submitted(engine, cancel, progress)
        with self._lock_of(engine):
            status, desired = read_status(control), read_desired(control)
            wanted = desired.application if desired is not None else ApplicationSettings()
            launch = Launch()
            if not (is_alive(status) and (desired is None or _has(status, wanted))):
                # Before the one that runs is ended: its jobs go on where another could not start.
                launch = launch_of(wanted, self.project.root, long_lived=self._long_lived)
                if is_alive(status):
                    progress("restarting the Spark application: its settings changed")
                    if not self.end(engine, cancel):
                        return None
                progress("starting Spark")
            return ensure_running(control, launch, cancel=cancel)

    def _bring_up_submitted(
        self, engine: EngineDefinition, cancel: threading.Event, progress: Callable[[str], None]
    ) -> Status | None:
        """On a host of the cluster: one that sees other settings ends by itself."""
        control, patience = self.control(engine), engine.graceful_stop_ms / 1000 + _MARGIN_SECONDS
        with self._lock_of(engine):
            status, desired = read_status(control), read_desired(control)
            wanted = desired.application if desired is not None else ApplicationSettings()
            if is_alive(status) and _has(status, wanted):
                return ensure_submitted(control, wanted, Launch(), cancel=cancel, progress=progress)
            launch = launch_of(wanted, self.project.root)
            if status is not None and is_alive(status):
                progress("waiting until the Spark application ends: its settings changed")
                try:
                    if not await_end(control, status, timeout=patience, cancel=cancel):
                        return None
                except ControlError as failure:
                    raise Failure(control_failure(failure)) from failure
            return ensure_submitted(control, wanted, launch, cancel=cancel, progress=progress)

    def end(self, engine: EngineDefinition, cancel: threading.Event) -> bool:
        """Ends the application, each query after its next commit; False if cancelled before that. Raises
        ``Failure``.
        """
        patience = engine.graceful_stop_ms / 1000 + _MARGIN_SECONDS
        end = end_application if engine.deploy_mode else stop_application
        return end(self.control(engine), timeout=patience, cancel=cancel)

    def end_if_gone(
        self, engine: EngineDefinition, cancel: threading.Event, progress: Callable[[str], None]
    ) -> None:
        """Finds out whether a silent application on another host is gone, by its lease; then it counts as
        ended. Raises ``Failure``.
        """
        control = self.control(engine)
        if not is_elsewhere_and_silent(read_status(control)):
            return
        with self._lock_of(engine):
            status = read_status(control)
            if status is not None and is_elsewhere_and_silent(status):
                try:
                    end_if_gone(control, status, cancel=cancel, progress=progress)
                except ControlError as failure:
                    raise Failure(control_failure(failure)) from failure

    def _update(self, control: ControlDirectory, change: Callable[[Desired], Desired]) -> Desired:
        try:
            return control.update_desired(
                change, lineage=self.project.lineage, workspace=self.project.workspace
            )
        except ControlError as failure:
            raise Failure(control_failure(failure)) from failure

    def _lock_of(self, engine: EngineDefinition) -> threading.Lock:
        with self._guard:
            return self._starting.setdefault(engine.runtime_location, threading.Lock())


def _has(status: Status | None, wanted: ApplicationSettings) -> bool:
    """True where an application runs with these settings."""
    return status is not None and status.application.digest == wanted.digest


def packages_of(
    engines: Iterable[EngineDefinition], references: References, locked: Collection[Coordinate]
) -> tuple[str, ...]:
    """Every coordinate that these engines and the declared catalogs need, sorted, in the versions that are
    locked.
    """
    needs = needs_of(references)
    coordinates = [
        as_locked(needs.joined(_own_needs(engine)).packages, engine.packages, locked) for engine in engines
    ]
    return tuple(
        sorted(frozenset().union(*coordinates) if coordinates else as_locked(needs.packages, (), locked))
    )


def read_status(control: ControlDirectory) -> Status | None:
    """The status that the application wrote last, None without one. Raises ``Failure``."""
    status: Status | None = _read(control, "status.json", control.read_status)
    return status


def application_complaints(status: Status) -> tuple[str, ...]:
    """The complaints about an application whose jobs go on: it cannot learn what should run, or cannot answer
    probes at the moment.
    """
    if not is_alive(status):
        return ()
    texts = (status.application.trouble, status.application.monitoring_trouble)
    return tuple(f"its application runs on, but {text}" for text in texts if text)


def complaints_beside(status: Status, job: str) -> tuple[str, ...]:
    """The same for one job of an application, by its name there: the first job answers for all, so that one
    cause is reported once.
    """
    return application_complaints(status) if job == min(status.jobs, default="") else ()


def read_desired(control: ControlDirectory) -> Desired | None:
    """The desired state of the application, None without one. Raises ``Failure``."""
    desired: Desired | None = _read(control, "desired.json", control.read_desired)
    return desired


_read_before: Final[dict[str, tuple[object, Any]]] = {}
"""Each file as it was understood last: many jobs share one, and it is replaced as a whole."""


def _read(control: ControlDirectory, name: str, read: Callable[[], Any]) -> Any:
    place, stamp = f"{control.place}/{name}", control.stamp(name)
    known = _read_before.get(place)
    if known is not None and stamp is not None and known[0] == stamp:
        return known[1]
    try:
        document = read()
    except ControlError as failure:
        raise Failure(control_failure(failure)) from failure
    _read_before[place] = (stamp, document)
    return document
