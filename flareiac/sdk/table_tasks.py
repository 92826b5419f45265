"""Work on tables that one provider plans and carries out inside the session of another one. Records,
protocols and the plug-ins that carry the work out.

A provider declares a performer for each kind of work as an entry point of the group ``flareiac.table_tasks``:
``KIND = "module:PERFORMER"``. The process that owns the session loads it by the kind that stands in the task.
The module sees the standard library and this part alone: it travels to clusters as a file.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Annotated, Any, Final, Generic, Protocol, TypeAlias, TypeVar

from flareiac.kernel.codes import Code
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Form, decode, encode
from flareiac.sdk.plug_ins import plug_in

T = TypeVar("T")

GROUP: Final = "flareiac.table_tasks"
"""The entry points of performers."""
OPERATION: Final = "flareiac.operation"
"""Key in a snapshot's summary: the id of the maintenance task by which it was made. By it a repeated one is
known, and one that was not recorded.
"""

MANAGED_BY: Final = "flareiac.managed-by"
"""Key in a table's properties: the lineage of the state that adopted it or took it over. Work that another
state asks for is not done on it.
"""


class TaskRefusal(Exception):
    """A performer does not do the work. ``error_class`` is a stable word, the message says why."""

    def __init__(self, error_class: str, message: str) -> None:
        super().__init__(message)
        self.error_class = error_class


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Work for the performer of its kind. ``data`` is the record of the performer as JSON, with the key
    ``kind``.
    """

    data: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.data["kind"])


def _work_of(data: object) -> Work:
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise TypeError("work is an object with a kind")
    return Work(data=data)


StoredWork: TypeAlias = Annotated[Work, Form(lambda work: dict(work.data), _work_of, dict[str, Any])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """Done. ``result`` by name, as the performer and the planner of the kind have agreed upon; what commits
    tells ``snapshot_before``, ``snapshot_after``, ``rows_before`` and ``rows_after``. ``found``: it had been
    done before.
    """

    result: Mapping[str, Any]
    found: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit of an operation, and the snapshot that it was made upon (None where that is not there)."""

    id: int
    parent: int | None
    summary: Mapping[str, str]


class TableWork(Protocol):
    """A table that a session works on for one operation, alone among operations and beside other writers.

    ``session`` is Spark's, ``table`` the table's own object in the JVM. ``name`` is the table as Spark reads
    it, ``key`` the operation's id, which every commit carries as ``OPERATION``.
    """

    @property
    def session(self) -> Any: ...
    @property
    def table(self) -> Any: ...
    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...

    def steps(self) -> tuple[Step, ...]:
        """The commits that this operation has made so far, oldest first."""
        ...

    def outcome(self, done: Sequence[Step]) -> dict[str, int | None]:
        """Snapshots and rows before and after these commits."""
        ...

    def marked(self) -> AbstractContextManager[None]:
        """A context in which the commits of the session carry the operation's id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRefusal:
    """A reason not to do the work, and what the user can do. ``sign``: the words by which it is known where
    it comes under another class.
    """

    error_class: str
    code: Code
    advice: str
    sign: str = ""

    def fits(self, why: str) -> bool:
        """Returns True if a message (``CLASS: text``) reports this refusal."""
        return why.partition(": ")[0] == self.error_class or (bool(self.sign) and self.sign in why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Performer(Generic[T]):
    """Carries out one kind of work. ``task`` is its record, ``doing`` says in words what is done meanwhile.

    ``perform`` raises ``TaskRefusal``, and what Spark and the table's format raise. Repeated, it finds its
    own commits or does the rest. ``commits``: another commit that comes between may end it, and it is tried
    again.
    """

    kind: str
    task: type[T]
    perform: Callable[[TableWork, T], Performed]
    doing: str
    refusals: tuple[KnownRefusal, ...] = ()
    commits: bool = True

    def work(self, task: T) -> Work:
        """The task as it is planned, recorded and sent."""
        return Work(data={**encode(task), "kind": self.kind})

    def task_of(self, work: Work) -> T:
        """The inverse of ``work``. Raises ``Mismatch``."""
        return decode(self.task, {name: value for name, value in work.data.items() if name != "kind"})


@cache
def performer_of(kind: str) -> Performer[Any] | None:
    """The performer of a kind of work, None where no installed package brings one. Raises ``Failure`` where
    two do.
    """
    performer: Performer[Any] | None = plug_in(GROUP, kind)
    return performer
