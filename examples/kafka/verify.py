"""Compares the tables with what was sent: every flight exactly once, every unreadable record exactly once.
Reads with pyiceberg, needs no Spark.

    python verify.py PROJECT --flights N --bad N [--wait SECONDS]

Prints what it counted; exits with 1 and says what differs when something does.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from examples.lake import Lake


def main() -> None:
    """Waits, compares, prints; the exit code is the answer."""
    parser = argparse.ArgumentParser(description="Compares the tables with what was sent.")
    parser.add_argument("project", type=Path)
    parser.add_argument("--flights", type=int, required=True, help="flights that were sent, from the first")
    parser.add_argument("--bad", type=int, required=True, help="unreadable records that were sent")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for the last rows")
    options = parser.parse_args()
    wanted = {"flights": options.flights, "unreadable": options.bad}
    deadline = time.monotonic() + options.wait
    while any(count(options.project, name) < rows for name, rows in wanted.items()):
        if time.monotonic() > deadline:
            break
        time.sleep(1)
    wrong = compare(options.project, options.flights, options.bad)
    for line in wrong:
        print(f"WRONG: {line}")
    print("Not as it was sent." if wrong else "Every record is there exactly once.")
    sys.exit(1 if wrong else 0)


def count(project: Path, name: str) -> int:
    """The rows of a table, as its last snapshot counts them; 0 before the first one."""
    snapshot = Lake(project).load_table(f"demo.{name}").current_snapshot()
    return int(snapshot.summary["total-records"] or 0) if snapshot and snapshot.summary else 0


def compare(project: Path, flights: int, bad: int) -> list[str]:
    """The differences of the tables from the sent flights."""
    rows = Lake(project).load_table("demo.flights").scan(selected_fields=("flight_id",)).to_arrow()
    seen = Counter(rows.column("flight_id").to_pylist())
    unreadable = Lake(project).load_table("demo.unreadable").scan().to_arrow().to_pylist()
    places = Counter((row["topic"], row["partition"], row["offset"]) for row in unreadable)
    print(f"flights:    {seen.total():>7,} rows, {len(seen):,} distinct flights of {flights:,}")
    print(f"unreadable: {len(unreadable):>7,} rows, {len(places):,} distinct records of {bad:,}")
    wrong = []
    if missing := set(range(1, flights + 1)) - seen.keys():
        wrong.append(f"{len(missing)} flights are missing, such as {sorted(missing)[:5]}")
    if twice := [flight for flight, times in seen.items() if times > 1]:
        wrong.append(f"{len(twice)} flights are there more than once, such as {sorted(twice)[:5]}")
    if len(unreadable) != bad or len(places) != bad:
        wrong.append(f"{len(unreadable)} rows of {len(places)} unreadable records, {bad} were sent")
    return wrong


if __name__ == "__main__":
    main()
