"""The events at the topic or the checkpoint of a job between its first rows and the change."""

from tests.bench.matrix_cells import Cell
from tests.bench.matrix_change import Happening
from tests.bench.matrix_kafka import topic_name
from tests.bench.matrix_lake import Lake
from tests.bench.matrix_rows import LOST, POISON, RECREATED


def happen(cell: Cell, lake: Lake) -> None:
    """Does it."""
    job = cell.change.before
    topic = topic_name(cell.name, job.place)
    match cell.change.event:
        case Happening.NONE:
            return
        case Happening.IN_FLIGHT:
            lake.take_back_commits(cell.name)
        case Happening.POISONED if job.source == "kafka":
            lake.brokers.land(topic, POISON, job.kafka.format)
        case Happening.POISONED:
            lake.land_file(job.place, "poison.json", POISON)
        case Happening.PARTITION:
            lake.brokers.widen(topic)
        case Happening.TRIMMED:
            lake.brokers.land(topic, LOST, job.kafka.format)
            lake.brokers.trim(topic)
        case Happening.RECREATED:
            lake.brokers.recreate(topic)


def arrive_after(cell: Cell, lake: Lake) -> None:
    """The records of a topic that was created again. What a job still reads of them before it finds that out
    is a matter of time, so that they come when it has.
    """
    if cell.change.event is Happening.RECREATED:
        job = cell.change.before
        lake.brokers.land(topic_name(cell.name, job.place), RECREATED, job.kafka.format)


def fails(cell: Cell) -> bool:
    """Returns True if a job that runs cannot go on after it."""
    lost = cell.change.event in (Happening.RECREATED, Happening.POISONED)
    return lost and not cell.change.paused
