"""The inputs of the plan of one job."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.requests import PlanRequest
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCase:
    """The question of the core, the declared job as it is compared (see ``JobPlanner.plan``), and what was
    observed. The definition that a rule compares it with is an argument of its own: it is the recorded one,
    the one that runs in its place, or one that another job left with the checkpoint.
    """

    request: PlanRequest
    desired: JobDefinition
    facts: JobFacts
