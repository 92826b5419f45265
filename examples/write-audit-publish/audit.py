"""The auditor: ``audit.py DIRECTORY wait ROWS`` until the branch has so many, ``... show``, ``... publish``
(exits with 1 on bad rows).
"""

import sys
import time
from pathlib import Path
from typing import Any

from pyiceberg.table import Table

from examples.lake import Lake


def opened(root: Path) -> Table:
    return Lake(root).load_table("sales.orders")


def rows(table: Table, branch: str) -> list[dict[str, Any]]:
    if table.snapshot_by_name(branch) is None:
        return []
    found: list[dict[str, Any]] = table.scan().use_ref(branch).to_arrow().to_pylist()
    return found


def wait(root: Path, wanted: int) -> None:
    deadline = time.monotonic() + 120
    while len(rows(opened(root), "audit")) < wanted:
        if time.monotonic() > deadline:
            sys.exit(f"error: the branch has not got {wanted} rows in two minutes")
        time.sleep(0.5)


def publish(table: Table) -> None:
    bad = [row["order_id"] for row in rows(table, "audit") if row["amount"] is None or row["amount"] < 0]
    if bad:
        sys.exit(f"not published: orders {bad} have no amount, or one below nothing")
    table.manage_snapshots().set_current_snapshot(ref_name="audit").commit()
    print("published")


if __name__ == "__main__":
    place, verb = Path(sys.argv[1]), sys.argv[2]
    if verb == "wait":
        wait(place, int(sys.argv[3]))
    elif verb == "publish":
        publish(opened(place))
    print(
        f"main: {len(rows(opened(place), 'main'))} orders, audit: {len(rows(opened(place), 'audit'))} orders"
    )
