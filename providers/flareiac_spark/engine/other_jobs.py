"""The other jobs that stop where an application has to be started again: all jobs of an engine run in one.
Touches control directories, by reading only.
"""

from collections.abc import Callable
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.application import Liveness, liveness
from flareiac_spark.engine.application import Applications, lacking, outdated, read_desired, read_status
from flareiac_spark.engine.engine_definition import EXTERNAL, LOCAL, EngineDefinition
from flareiac_spark.runtime.coordinates import version_of
from flareiac_spark_runtime.control import Desired

_NAMED: Final = 5
"""The number of jobs that a text names, of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartedJobs:
    """The jobs, by their addresses, that should run in a live application which has to be started again for
    something else: because it ``lacks`` packages or extensions that this needs, or else because it does not
    run with the settings that it should have by now.
    """

    lacks: tuple[str, ...]
    jobs: tuple[str, ...]

    def warning(self, address: str, engine: str, way_out: str) -> Diagnostic:
        """The warning of what an apply does to the jobs because of the resource ``address``."""
        more = f" and {len(self.jobs) - _NAMED} more" if len(self.jobs) > _NAMED else ""
        if self.lacks:
            why = f"was started without {', '.join(self.lacks)}, and only a new JVM takes them"
        else:
            why = "runs with other settings than an apply has written for it, which did not come to its end"
            way_out = ""
        detail = (
            f"The Spark application of {engine} {why}. The apply starts it again, and with it "
            f"{', '.join(self.jobs[:_NAMED])}{more}: each stops after its current batch and goes on from its "
            f"checkpoint. {way_out}"
        )
        return warning(codes.OTHER_JOBS_RESTART, detail.rstrip(), address=address)


def restarted_jobs(
    applications: Applications,
    engine: EngineDefinition,
    references: References,
    own: Callable[[Desired], str | None] = lambda _desired: None,
) -> RestartedJobs | None:
    """The jobs that restart so that something with these references runs on an engine; None for none.
    ``own``: the name there of a job that is not another one. Raises ``Failure``.
    """
    control = applications.control(engine)
    desired, status = read_desired(control), read_status(control)
    if desired is None or status is None or liveness(status) is not Liveness.ALIVE:
        return None
    name = own(desired)
    others = sorted(each for each, job in desired.jobs.items() if job.state == "running" and each != name)
    lacks = lacking(applications.project, engine, desired.application, references)
    # An external application starts itself again, whatever this apply does
    outdated = engine.type != EXTERNAL and status.application.digest != desired.application.digest
    return RestartedJobs(lacks=lacks, jobs=tuple(others)) if others and (lacks or outdated) else None


def outdated_jars(
    applications: Applications, engine: EngineDefinition, references: References
) -> tuple[str, ...]:
    """The differences, in words, between the jars that the live application of an engine was started with and
    those that are locked by now. Raises ``Failure``.
    """
    control = applications.control(engine)
    desired, status = read_desired(control), read_status(control)
    if desired is None or status is None or liveness(status) is not Liveness.ALIVE:
        return ()
    others = outdated(applications.project, engine, desired.application, references)
    if not others and engine.type == LOCAL and status.application.digest != desired.application.digest:
        return ("it runs without the settings that an apply wrote for it and did not bring to run",)
    return tuple(
        f"{_artifact(new)} {version_of(new)} is locked, and {version_of(old)} runs"
        for old, new in others.items()
    )


def _artifact(coordinate: str) -> str:
    return coordinate.split(":")[1]
