"""What this machine does not have to start the application of a new job. Reads the lock file, the cache of
jars and the control directory.
"""

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.references import References
from flareiac_spark.application import is_alive
from flareiac_spark.application.serve import launch_of
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.application import Applications, needs_of, read_status, settings
from flareiac_spark.engine.engine_definition import EXTERNAL


def lacking_for(
    job: JobDefinition, references: References, applications: Applications
) -> tuple[Diagnostic, ...]:
    """The errors that a start would end with. None for a job that does not start by itself, for a driver that
    others run, and where an application runs already or where that is not known.
    """
    engine = job.application
    if engine is None or engine.type == EXTERNAL or not job.starts_by_itself:
        return ()
    try:
        if is_alive(read_status(applications.control(engine))):
            return ()
    except Failure:
        return ()
    project = applications.project
    try:
        launch_of(settings(project, engine, needs_of(references)), project.root)
    except Failure as failure:
        return failure.diagnostics
    return ()
