"""Renders the holder of the state lock. Pure."""

from flareiac.kernel.data import Json
from flareiac.kernel.elapsed import elapsed_text
from flareiac.render.control_characters import printable
from flareiac.render.history_text import utc_time
from flareiac.sdk.state import LockInfo

FORMAT_VERSION = "1.0"


def lock_text(info: LockInfo | None) -> str:
    """For people."""
    if info is None:
        return "The state lock is free."
    parts = {
        "ID": info.id,
        "Who": f"{info.owner} on {info.host}, process {info.pid}",
        "Operation": info.operation,
        "Since": f"{utc_time(info.created)} {_age(info)}",
        "CI job": info.job,
    }
    shown = [f"  {name + ':':<11}{printable(value)}" for name, value in parts.items() if value]
    return "\n".join(["The state lock is held.", "", *shown])


def _age(info: LockInfo) -> str:
    """Clocks of different machines are never compared."""
    if info.age is None:
        return f"by the clock of {info.clock or info.host}"
    return f"({elapsed_text(info.age)} ago)"


def lock_json(info: LockInfo | None) -> Json:
    """For programs."""
    held: Json = None
    if info is not None:
        held = {
            "id": info.id,
            "owner": info.owner,
            "host": info.host,
            "pid": info.pid,
            "operation": info.operation,
            "created": utc_time(info.created),
            "job": info.job,
        }
    return {"format_version": FORMAT_VERSION, "locked": info is not None, "lock": held}
