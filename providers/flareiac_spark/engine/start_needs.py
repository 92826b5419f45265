"""Finds what this machine does not have to start the application of an engine. Reads the lock file, the
cache of jars and the control directory.
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
from flareiac_spark_runtime.control import ApplicationSettings


class StartNeeds:
    """The errors that starts of applications would end with. Equal settings are looked at once."""

    def __init__(self, applications: Applications) -> None:
        self._applications = applications
        self._by_settings: dict[str, tuple[Diagnostic, ...]] = {}

    def lacking(self, engine: EngineDefinition, references: References) -> tuple[Diagnostic, ...]:
        """None for a driver that others run, and where an application runs already with all that these
        references need, or where that is not known.
        """
        if engine.type == EXTERNAL:
            return ()
        control, project = self._applications.control(engine), self._applications.project
        try:
            status = read_status(control)
            wanted = settings_beside(project, engine, needs_of(references), read_desired(control), status)
            if status is not None and is_alive(status) and status.application.digest == wanted.digest:
                return ()
        except Failure:
            return ()
        if wanted.digest not in self._by_settings:
            self._by_settings[wanted.digest] = self._of_launch(wanted)
        return self._by_settings[wanted.digest]

    def _of_launch(self, wanted: ApplicationSettings) -> tuple[Diagnostic, ...]:
        try:
            launch_of(wanted, self._applications.project.root)
        except Failure as failure:
            return failure.diagnostics
        return ()
