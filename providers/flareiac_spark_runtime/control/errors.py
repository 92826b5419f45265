"""The one failure of the control directory."""

from enum import StrEnum


class ErrorKind(StrEnum):
    DAMAGED = "damaged"
    """A file is there and cannot be understood."""
    FUTURE_VERSION = "future_version"
    """A file was written by a newer release."""
    FOREIGN = "foreign"
    """The directory belongs to another project (lineage) or workspace."""
    COPIED = "copied"
    """The directory was written elsewhere, and copied or moved to where it is now."""
    CONFLICT = "conflict"
    """Someone else changed what should run since it was read."""
    BUSY = "busy"
    """Another process kept the lock file for too long."""
    UNREACHABLE = "unreachable"
    """The operating system or the storage refused to read or write."""
    UNCONDITIONAL = "unconditional"
    """The storage replaces files whatever the condition of the write is."""


class ControlError(Exception):
    """``path`` is the file concerned; ``why`` is one sentence for people."""

    def __init__(self, kind: ErrorKind, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.kind, self.path, self.why = kind, path, why
