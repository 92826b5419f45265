"""The actions of a driver on one resource: a closed record for each, with its arguments."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.results import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Makes what is not there. ``recorded``: of one that was there and is gone.

    ``planned`` has no UNKNOWN left but computed ones, ``payload`` is the proposal's, and ``notes`` are what
    the stages before it left for it, by their names; so in ``Adopt`` and ``Update``.
    """

    planned: Attributes
    recorded: Recorded | None = None
    payload: Data = None
    notes: Mapping[str, Data] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopt:
    """Takes over what is there and not recorded."""

    planned: Attributes
    payload: Data = None
    notes: Mapping[str, Data] = field(default_factory=dict)

    @property
    def recorded(self) -> None:
        """Always None: an adopted resource is not recorded yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Brings what is recorded to what is planned."""

    planned: Attributes
    recorded: Recorded
    payload: Data = None
    notes: Mapping[str, Data] = field(default_factory=dict)


Change: TypeAlias = Create | Adopt | Update
"""Brings a resource to what is planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformStage:
    """Carries out one stage of a change."""

    name: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Deletes what is recorded. ``going``: the addresses of all that the same plan destroys."""

    recorded: Recorded
    payload: Data = None
    going: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiesce:
    """Stops what is recorded at a batch boundary, so that what it uses can change."""

    recorded: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Revive:
    """Brings back what is recorded and was deleted. The request's references are as declared now, where they
    still are; ``then`` holds, by address, their attributes when it was recorded.
    """

    recorded: Recorded
    then: Mapping[str, Attributes]


class RunCommand(StrEnum):
    """The commands that a person can give to a running resource, beside changing it."""

    STOP = "stop"
    START = "start"
    RESTART = "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """Stops or starts what runs by hand, on its recorded definition."""

    command: RunCommand
    recorded: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomAction:
    """An action that a provider's own command defines, on a recorded resource."""

    name: str
    recorded: Recorded
    payload: Data


Settleable: TypeAlias = Change | Delete | Revive | CustomAction
"""The actions whose outcome is found out by reading after a crash. What is quiesced or is a stage is asked
again, and ``Control`` is not journalled.
"""
