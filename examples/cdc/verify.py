"""Compares the table of orders with what the source has. Reads with pyiceberg, needs no Spark.

    python verify.py PROJECT PART [--notes] [--unreadable N] [--wait SECONDS]

Exits with 1 and says what differs when something does.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from examples.cdc.source import PARTS, rows_after
from examples.lake import Lake


def main() -> None:
    """Waits, compares, prints; the exit code is the answer."""
    parser = argparse.ArgumentParser(description="Compares the table with the source.")
    parser.add_argument("project", type=Path)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--notes", action="store_true", help="the table has the column note")
    parser.add_argument("--unreadable", type=int, default=0, help="records that were put aside")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for the last changes")
    options = parser.parse_args()
    deadline = time.monotonic() + options.wait
    while (wrong := compare(options)) and time.monotonic() < deadline:
        time.sleep(1)
    for line in wrong:
        print(f"WRONG: {line}")
    if not wrong:
        print(f"The table has the {len(rows_after(options.part)):,} orders of the source, row by row.")
    sys.exit(1 if wrong else 0)


def compare(options: argparse.Namespace) -> list[str]:
    """The differences from the expected rows."""
    rows = _read(options.project, "orders")
    found = {row["id"]: row for row in rows}
    wanted = rows_after(options.part)
    wrong = [f"{len(rows)} rows have {len(found)} ids"] if len(rows) != len(found) else []
    if missing := sorted(wanted.keys() - found.keys()):
        wrong.append(f"{len(missing)} orders are missing, such as {missing[:3]}")
    if more := sorted(found.keys() - wanted.keys()):
        wrong.append(f"{len(more)} orders were deleted at the source, such as {more[:3]}")
    names = ("status", "total", *(("note",) if options.notes else ()))
    differ = [
        number
        for number in wanted.keys() & found.keys()
        if any(found[number][name] != getattr(wanted[number], name) for name in names)
    ]
    if differ:
        wrong.append(f"{len(differ)} orders differ, such as {sorted(differ)[:3]}")
    unreadable = len(_read(options.project, "unreadable"))
    if unreadable != options.unreadable:
        wrong.append(f"{unreadable} records were put aside, not {options.unreadable}")
    return wrong


def _read(project: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = Lake(project).load_table(f"demo.{name}").scan().to_arrow().to_pylist()
    return rows


if __name__ == "__main__":
    main()
