"""The driver's own reasons not to start a job, and those of its sources."""

from flareiac_spark_runtime.sources.resolved import StartProblem


class Refusal(Exception):
    """``error_class`` is a stable word in Spark's spelling; ``permanent`` if trying again cannot help.
    ``waits``: what is missing is outside of the job, which is started again as long as that takes.
    """

    def __init__(
        self, error_class: str, message: str, *, permanent: bool = True, waits: bool = False
    ) -> None:
        super().__init__(message)
        self.error_class, self.permanent, self.waits = error_class, permanent, waits


def refusal_of(problem: StartProblem) -> Refusal:
    """The refusal for a problem that a source reported. A problem that is not permanent is waited for."""
    return Refusal(problem.error_class, problem.why, permanent=problem.permanent, waits=not problem.permanent)
