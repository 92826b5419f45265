"""The reason that an application on a cluster has no executors, in words: from the answer of Spark's
standalone master. Pure.
"""

from flareiac.kernel.lazy_dataclass import dataclass

ALIVE = "ALIVE"
_GOES_ON = "Its jobs wait and continue by themselves"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Memory in MiB. ``state`` is the master's word: ALIVE, DEAD, DECOMMISSIONED, UNKNOWN."""

    state: str
    cores_free: int
    memory_free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherApplication:
    """Another application of the cluster; ``cores``: those that it holds."""

    name: str
    cores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The resources of a cluster and their use. ``granted``: cores that this application holds."""

    workers: tuple[Worker, ...] = ()
    others: tuple[OtherApplication, ...] = ()
    granted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterAnswer:
    """``status`` is the master's own: ALIVE, STANDBY, RECOVERING. ``knows``: whether it knows this
    application. ``figures`` is None where its web page could not be read.
    """

    status: str
    knows: bool
    figures: Figures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """No master answered; ``why`` in words."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The needs of one executor; memory in MiB."""

    master: str
    cores: int
    memory: int


def is_forgotten(answer: MasterAnswer | Silence) -> bool:
    """Returns True if a master that decides alone does not know the application: it was started again without
    its memory. Spark never registers a second time, so that no executor would ever come.
    """
    return isinstance(answer, MasterAnswer) and answer.status == ALIVE and not answer.knows


def shortage(answer: MasterAnswer | Silence, need: Need) -> str:
    """The reason that there is no executor, and the way out."""
    if isinstance(answer, Silence):
        return (
            f"the master {need.master} does not answer: {answer.why}. Start it again. {_GOES_ON} when it "
            "gives them executors"
        )
    if answer.status != ALIVE:
        return f"the master {need.master} says {answer.status}. {_GOES_ON} when it is ALIVE"
    if not answer.knows:
        return f"the master {need.master} does not know the application: it was started again meanwhile"
    if answer.figures is None:
        return (
            f"{need.master} has given none so far. Its web page lists the workers that are alive, and the "
            f"applications that hold their cores. {_GOES_ON} when an executor runs"
        )
    return _of_figures(answer.figures, need)


def _of_figures(figures: Figures, need: Need) -> str:
    alive = [worker for worker in figures.workers if worker.state == ALIVE]
    if not alive:
        return f"no worker of {need.master} is alive. Start workers. {_GOES_ON} then"
    if figures.granted:
        return (
            f"{need.master} has started executors, and none has reached the driver. They must reach its "
            "spark.driver.host and spark.driver.port, and start with the memory and the Java that they are "
            "given: see the stderr of the executors on the workers"
        )
    return _too_little(alive, figures.others, need)


def _too_little(alive: list[Worker], others: tuple[OtherApplication, ...], need: Need) -> str:
    if any(worker.cores_free >= need.cores and worker.memory_free >= need.memory for worker in alive):
        return (
            f"{need.master} lists {_workers(len(alive))} with free cores, and has started no executor there: "
            "they may be gone, which a master notices after a minute. Start workers. "
            f"{_GOES_ON} when an executor runs"
        )
    room = [worker for worker in alive if worker.memory_free >= need.memory]
    wanted = f"an executor needs {_cores(need.cores)} and {need.memory} MiB of memory"
    free = f"{_cores(sum(worker.cores_free for worker in alive))} of its {_workers(len(alive))} are free"
    most = f"no worker has more than {max(worker.memory_free for worker in alive)} MiB of free memory"
    holders = ", ".join(f"{other.name!r} holds {other.cores}" for other in others if other.cores)
    held = f" ({holders})" if holders else ""
    if room:
        return (
            f"no free cores at {need.master}: {wanted}, and {free}{held}. Add workers, end or limit the "
            f"other applications, or ask for less with executor in the engine. {_GOES_ON} when cores are free"
        )
    return (
        f"no free memory at {need.master}: {wanted}, and {most}{held}. Add workers, end the other "
        'applications, or write executor = { memory = "..." } in the engine'
    )


def _cores(number: int) -> str:
    return "1 core" if number == 1 else f"{number} cores"


def _workers(number: int) -> str:
    return "1 worker" if number == 1 else f"{number} workers"
