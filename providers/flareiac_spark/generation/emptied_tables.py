"""The notes of a job on tables before it emptied them for a new generation, as they are recorded. Pure."""

from flareiac.kernel.data import Attributes
from flareiac.sdk.lakehouse import EarlierState
from flareiac_spark.definition.job_identity import JobIdentity


def earlier_states(address: str, identity: Attributes) -> tuple[EarlierState, ...]:
    """One for each output whose table was emptied."""
    return tuple(
        EarlierState(
            subject=rebuild.table,
            snapshot_id=rebuild.snapshot_id,
            branch=rebuild.branch,
            noted_by=f"{address}, output {output}, generation {rebuild.generation}",
        )
        for output, rebuild in JobIdentity.of(identity).rebuilds.items()
    )
