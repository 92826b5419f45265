"""The notes of a job on tables before it emptied them for a new generation, as they are recorded. Pure."""

from flareiac.kernel.data import Attributes
from flareiac.sdk.lakehouse import EarlierState
from flareiac_spark.definition.job_identity import JobIdentity


def earlier_states(address: str, identity: Attributes) -> tuple[EarlierState, ...]:
    """One for each output whose table was emptied."""
    return tuple(
        EarlierState(
            subject=item.table,
            snapshot_id=item.snapshot_id,
            branch=item.branch,
            noted_by=f"{address}, output {output}, generation {item.generation}",
        )
        for output, item in JobIdentity.of(identity).rebuilds.items()
    )
