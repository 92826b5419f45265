"""Earlier states, and what going back to one changes. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from flareiac.kernel.data import Json
from flareiac.model.history import Difference, Earlier
from flareiac.model.snapshot import Snapshot
from flareiac.render.control_characters import printable
from flareiac.render.table_text import table_lines
from flareiac.sdk.state import Damaged
from flareiac.sdk.text_table import Column, TextTable

FORMAT_VERSION = "1.0"
_COLUMNS = (
    Column("SERIAL", right=True),
    Column("WRITTEN"),
    Column("RESOURCES", right=True),
    Column("BYTES", right=True),
    Column("NAME"),
)


def history_text(current: Snapshot | Damaged, earlier: Sequence[Earlier], *, width: int | None = None) -> str:
    """A line for each earlier state, newest first. ``width`` is in columns of a terminal."""
    match current:
        case Snapshot(serial=serial, resources=resources, remark=remark):
            by = "" if remark is None else f" ({printable(remark.text)})"
            now = f"The state has the serial {serial} and {len(resources)} resources{by}."
        case Damaged() as problem:
            now = f"The state cannot be read ({problem})."
    if not earlier:
        return f"{now} No earlier state is kept.\n"
    rows = tuple(_row(state) for state in earlier)
    lines = table_lines(TextTable(columns=_COLUMNS, rows=rows), width)
    return "\n".join([f"{now} Kept before it:", "", *lines, *_remarks(earlier), *_encrypted(earlier)]) + "\n"


def _remarks(earlier: Sequence[Earlier]) -> list[str]:
    said = [f"{state.serial}: {printable(state.remark)}" for state in earlier if state.remark]
    return ["", *said] if said else []


def _encrypted(earlier: Sequence[Earlier]) -> list[str]:
    count = sum(state.encrypted for state in earlier)
    if not count:
        return []
    which = "1 of them cannot" if count == 1 else f"{count} of them cannot"
    return [
        "",
        f"{which} be read for lack of the passphrase. To read them, name the old one as fallback in the",
        "encryption block.",
    ]


def history_json(current: Snapshot | Damaged, earlier: Sequence[Earlier]) -> Json:
    """The same for programs. Of a state that cannot be read, ``damage`` says why, and the rest is null."""
    there = current if isinstance(current, Snapshot) else None
    return {
        "format_version": FORMAT_VERSION,
        "lineage": there.lineage if there else None,
        "serial": there.serial if there else None,
        "resources": len(there.resources) if there else None,
        "damage": None if there else str(current),
        **({"remark": there.remark.text} if there is not None and there.remark is not None else {}),
        "history": [
            {
                "name": state.name,
                "written": None if state.written is None else utc_time(state.written),
                "serial": state.serial,
                "resources": state.resources,
                "size": state.size,
                "encrypted": state.encrypted,
                **({"remark": state.remark} if state.remark else {}),
            }
            for state in earlier
        ],
    }


def difference_text(difference: Difference | Damaged, serial: int | None) -> str:
    """Renders the changes of the state by going back, and what it does not change."""
    if isinstance(difference, Damaged):
        return "\n".join(
            [
                f"The state cannot be read ({difference}). The one with the serial {serial} takes its place.",
                "",
                "Which changes were recorded after that is not known. The resources stay as they are; the",
                "next plan shows how they differ from it, and blocks what exists and is not recorded.",
            ]
        )
    lines = [f"Going back to the state with the serial {serial} changes what is recorded:", ""]
    lines += [f"  + {address} is recorded again" for address in difference.added]
    lines += [f"  - {address} is no longer recorded" for address in difference.removed]
    for address, places in difference.changed.items():
        which = f": {', '.join(places)}" if places else ""
        lines.append(f"  ~ {address} is recorded as it was{which}")
    lines += ["  ~ the outputs are as they were"] if difference.outputs else []
    if len(lines) == 2:
        lines.append("  nothing")
    lines += [
        "",
        "Only the record goes back. The resources stay as they are; the next plan shows how they differ",
        "from it.",
    ]
    return "\n".join(lines)


def utc_time(seconds: float) -> str:
    """A point in time to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _row(earlier: Earlier) -> tuple[str, ...]:
    def number(value: int | None) -> str:
        return "?" if value is None else str(value)

    return (
        number(earlier.serial),
        "?" if earlier.written is None else utc_time(earlier.written),
        number(earlier.resources),
        str(earlier.size),
        earlier.name,
    )
