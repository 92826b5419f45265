"""Batches in flight of queries whose rows go to another place from now on. Touches the application and, by
reading only, the disk.
"""

from collections.abc import Iterable, Iterator

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.checkpoint_files.generations import damage
from flareiac_spark.checkpoint_files.reader import read_checkpoint
from flareiac_spark.generation.operation_client import OperationClient
from flareiac_spark.generation.perform import finish_batch, marked
from flareiac_spark.generation.targets import folders, redirected
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.control import JobSpec, Output


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfDone:
    """A batch in flight of which rows are in the tables of the old definition."""

    outputs: tuple[Output, ...]
    batch: int


def half_done(
    address: str, old: JobSpec, queries: Iterable[str], client: OperationClient
) -> Iterator[HalfDone]:
    """The batches in flight that a definition which redirects these queries would write once more. Raises
    ``Failure``.
    """
    for name in queries:
        folder, outputs = folders(old)[name]
        try:
            checkpoint = read_checkpoint(folder)
        except Damaged as error:
            raise Failure(damage(address, error)) from None
        if (
            checkpoint is not None
            and checkpoint.in_flight is not None
            and marked(client, checkpoint.query_id, checkpoint.in_flight, outputs, old)
        ):
            yield HalfDone(outputs=outputs, batch=checkpoint.in_flight)


def finish_redirected(address: str, old: JobSpec, new: JobSpec, client: OperationClient) -> list[int]:
    """Finishes them where they were begun; the numbers of the batches. Raises ``Failure``."""
    numbers = []
    for unfinished in half_done(address, old, redirected(old, new, cautious=True), client):
        finish_batch(client, old, unfinished.outputs, unfinished.batch, "its rows go elsewhere from now on")
        numbers.append(unfinished.batch)
    return numbers
