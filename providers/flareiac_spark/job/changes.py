"""What one difference between two definitions of a job means for what runs: a closed union."""

from dataclasses import dataclass
from typing import TypeAlias

from flareiac.kernel.paths import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Not part of what runs."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Taken without a restart."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """Spark keeps the value that the checkpoint was started with."""

    path: Path
    text: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """The query stops and starts on the same checkpoint."""

    path: Path
    text: str
    why: str
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Spark refuses it on this checkpoint, or would mix old state with a new meaning in silence."""

    path: Path
    text: str
    why: str
    undo: str


JobChange: TypeAlias = Noted | Live | Pinned | Restarted | Refused
