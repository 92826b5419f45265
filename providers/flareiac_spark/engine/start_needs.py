"""What this machine does not have to start the application of an engine. Reads the lock file, the cache of
jars and the control directory.
"""

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.references import References
from flareiac_spark.application import is_alive
from flareiac_spark.application.serve import launch_of
from flareiac_spark.engine.application import (
    Applications,
    needs_of,
    read_desired,
    read_status,
    settings_beside,
)
from flareiac_spark.engine.engine_definition import EXTERNAL, EngineDefinition


def lacking_for(
    engine: EngineDefinition, references: References, applications: Applications
) -> tuple[Diagnostic, ...]:
    """The errors that a start would end with. None for a driver that others run, and where an application
    runs already with all that these references need, or where that is not known.
    """
    if engine.type == EXTERNAL:
        return ()
    control, project = applications.control(engine), applications.project
    try:
        status = read_status(control)
        wanted = settings_beside(project, engine, needs_of(references), read_desired(control), status)
        if status is not None and is_alive(status) and status.application.digest == wanted.digest:
            return ()
    except Failure:
        return ()
    try:
        launch_of(wanted, project.root)
    except Failure as failure:
        return failure.diagnostics
    return ()
