"""Requests to planners and drivers."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Generic, TypeAlias, TypeVar

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.sdk.actions import Change
from flareiac.sdk.changes import Impact, Usage
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.results import Observation, Present, Recorded

ActionT = TypeVar("ActionT", covariant=True)
OtherT = TypeVar("OtherT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """Asks for one resource. ``cheap``: the driver may answer from the recorded values when a cheap identity
    is unchanged. ``confirm``: such an answer must also prove that what the identity names still exists, at
    the cost of at most one request.

    ``history``: of a table, what of it can be read as a stream is asked for too (see ``Present.history``).
    ``in_use``: the connections among ``references`` and beside them that keep something which is recorded
    (see ``Locating.home``), so that they were there.
    ``declared``: the project's connections.
    """

    address: str
    desired: Attributes | None
    recorded: Recorded | None
    references: References
    cheap: bool = True
    confirm: bool = False
    import_id: str | None = None
    history: bool = False
    in_use: frozenset[str] = frozenset()
    declared: References = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One resource to ask about. ``provider`` and ``type`` say whom."""

    provider: str
    type: str
    request: ReadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRequest:
    """Asks when and by whom attributes of a recorded resource became what they are."""

    address: str
    recorded: Recorded
    references: References
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A recorded resource that is no longer declared; ``destroy_object`` as in ``PlanRequest``."""

    type: str
    recorded: Recorded
    destroy_object: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """Asks a planner about one resource. ``desired`` None: it is no longer declared. ``destroy_object``: a
    ``removed`` block asked for destruction. ``importing``: an ``import`` block named this object, so that
    adopting it is wanted. ``replace``: asked for by name.
    """

    address: str
    desired: Attributes | None
    recorded: Recorded | None
    observed: Observation
    references: References
    project: Project
    importing: bool = False
    import_id: str | None = None
    """The id that an ``import`` block gives for this address, also where the resource is recorded already."""
    takeover: bool = False
    """True if that block takes over an object that another state manages."""
    destroy_object: bool = False
    replace: bool = False
    resumed: bool = False
    """The plan is being gone on with: what it makes may be there already."""
    protected: bool = False
    disturbances: tuple[Impact, ...] = ()
    """The demands of other resources' changes on this one while it runs (the core asks the planner a second
    time when there are any).
    """
    usages: tuple[Usage, ...] = ()
    """The usages that other declared resources have of this one and of what it refers to directly."""
    leaving: tuple[Leaving, ...] = ()
    """The other resources that are no longer declared, where this one is not declared either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """A resource that is declared exactly as it is recorded and that exists. ``connections``: the attributes
    of the connections and declarations that it reaches, by address, which are the recorded ones too.
    ``usages``: what other declared resources do with it.
    """

    address: str
    recorded: Recorded
    observed: Present
    connections: Mapping[str, Attributes]
    usages: tuple[Usage, ...]
    project: Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest(Generic[ActionT]):
    """Asks a driver for one action. ``key`` is the operation's idempotency key; repeating a request with the
    same key after a crash must find the outcome of the first.
    """

    key: str
    address: str
    action: ActionT
    references: References
    cancel: threading.Event
    progress: Callable[[str], None]

    def with_action(self, action: OtherT) -> "ApplyRequest[OtherT]":
        """The same request for another action, such as the one that a ``match`` has narrowed."""
        return ApplyRequest(
            key=self.key,
            address=self.address,
            action=action,
            references=self.references,
            cancel=self.cancel,
            progress=self.progress,
        )


ChangeRequest: TypeAlias = ApplyRequest[Change]
