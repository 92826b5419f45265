"""Compares tables and topic with what was sent: each order once in each table that wants it, at least once in
the topic. Needs no Spark.

    python verify.py PROJECT BOOTSTRAP --orders N --bad N [--wait SECONDS]

Prints what it counted; exits with 1 and says what differs when something does.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from examples.lake import Lake
from tests.support.kafka_topics import Topics

ALERTS = "alerts"


def main() -> None:
    """Waits, compares, prints; the exit code is the answer."""
    parser = argparse.ArgumentParser(description="Compares tables and topic with what was sent.")
    parser.add_argument("project", type=Path)
    parser.add_argument("bootstrap")
    parser.add_argument("--orders", type=int, required=True, help="orders that were sent, from the first")
    parser.add_argument("--bad", type=int, required=True, help="unreadable records that were sent")
    parser.add_argument("--wait", type=float, default=0.0, help="seconds to wait for the last rows")
    options = parser.parse_args()
    topics, deadline = Topics(options.bootstrap), time.monotonic() + options.wait
    while wrong := list(compare(options.project, topics, options.orders, options.bad)):
        if time.monotonic() > deadline:
            break
        time.sleep(1)
    show(options.project, topics)
    for line in wrong:
        print(f"WRONG: {line}")
    print("Not as it was sent." if wrong else "Every order is where it belongs.")
    sys.exit(1 if wrong else 0)


def compare(project: Path, topics: Topics, orders: int, bad: int) -> Iterator[str]:
    """The differences from the sent orders. A table holds each row once; a topic may hold a record twice."""
    every = range(1, orders + 1)
    large = range(10, orders + 1, 10)
    for name, wanted in (("orders", every), ("large_orders", large)):
        found = ids(project, name)
        if found != Counter(wanted):
            yield f"{name} has {found.total()} rows of {len(found)} orders, {len(wanted)} were sent"
    alerted = alerts(topics)
    if set(alerted) != set(large):
        yield f"the topic {ALERTS} has {len(alerted)} large orders, {len(large)} were sent"
    places = unreadable(project)
    if places.total() != bad or len(places) != bad:
        yield f"{places.total()} rows of {len(places)} unreadable records, {bad} were sent"


def show(project: Path, topics: Topics) -> None:
    """Prints the counts of the tables and the topic."""
    for name in ("orders", "large_orders"):
        found = ids(project, name)
        print(f"{name + ':':<14}{found.total():>7,} rows, {len(found):,} distinct orders")
    alerted, places = alerts(topics), unreadable(project)
    print(f"{ALERTS + ':':<14}{alerted.total():>7,} records, {len(alerted):,} distinct orders")
    print(f"{'unreadable:':<14}{places.total():>7,} rows, {len(places):,} distinct records")


def ids(project: Path, name: str) -> Counter[int]:
    """The orders of a table."""
    rows = Lake(project).load_table(f"demo.{name}").scan(selected_fields=("order_id",)).to_arrow()
    return Counter(rows.column("order_id").to_pylist())


def alerts(topics: Topics) -> Counter[int]:
    """The orders of the topic."""
    return Counter(json.loads(record.value or b"{}")["order_id"] for record in topics.consume(ALERTS))


def unreadable(project: Path) -> Counter[tuple[str, int, int]]:
    """The places of the records in quarantine."""
    rows = Lake(project).load_table("demo.unreadable").scan().to_arrow().to_pylist()
    return Counter((row["topic"], row["partition"], row["offset"]) for row in rows)


if __name__ == "__main__":
    main()
