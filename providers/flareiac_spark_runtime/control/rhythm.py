"""The intervals at which both sides of a control directory write and look. A local file costs nothing; each
look at object storage is a request that is paid for.
"""

from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.storage import is_object_uri


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """In seconds. ``beat``: between two heartbeats of a driver, which renew its lease for ``term``.
    ``shortest``: between two writes of its status, however often it changes. ``tick``: its longest pause,
    ``look``: at least between its looks at what should run, ``glance``: between those at its stamp within a
    pause, where looks cost nothing. ``poll``: between a command's looks at a status, ``watch``: at a lease
    that may be taken over.
    """

    beat: float
    term: float
    shortest: float
    tick: float
    look: float
    glance: float
    poll: float
    watch: float


# A lease lives for fifteen heartbeats here, and for six in a bucket: a driver that a garbage collection or
# a slow disk holds up for some of them keeps its queries, and another one may follow a host that is gone
# within a minute. Commands poll as often as a person notices a delay; in a bucket each number is a price: a
# driver at rest makes a look each 4 s and a write each 10 s.
LOCAL: Final = Rhythm(beat=2.0, term=30.0, shortest=0.2, tick=0.1, look=0.0, glance=0.05, poll=0.1, watch=0.5)
OBJECTS: Final = Rhythm(
    beat=10.0, term=60.0, shortest=2.0, tick=0.5, look=4.0, glance=0.5, poll=1.0, watch=5.0
)


def fresh_seconds(beat: float) -> float:
    """The age in seconds up to which a heartbeat is fresh: a busy machine delays some."""
    # Five beats, so that one or two that come late alarm no one. Never less than 20 s: a beat of 2 s leaves a
    # machine whose cores are all taken by Spark too little room.
    return max(20.0, 5 * beat)


def rhythm_of(location: str) -> Rhythm:
    """That of a control directory, by its place."""
    return OBJECTS if is_object_uri(location) else LOCAL
