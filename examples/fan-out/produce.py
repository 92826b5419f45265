"""Sends orders to the topic as JSON, every tenth of them large, and some records that cannot be read.

    python produce.py BOOTSTRAP [--first N] [--count N] [--bad N]

Returns when the broker has confirmed every record.
"""

import argparse
import json

from tests.support.kafka_topics import Record, Topics

TOPIC = "orders"
PARTITIONS = 3


def main() -> None:
    """Sends, waits for the broker, prints what it sent."""
    parser = argparse.ArgumentParser(description="Sends orders to a topic.")
    parser.add_argument("bootstrap")
    parser.add_argument("--first", type=int, default=1, help="the first order")
    parser.add_argument("--count", type=int, default=5_000, help="how many orders")
    parser.add_argument("--bad", type=int, default=0, help="how many records that cannot be read")
    options = parser.parse_args()
    orders = [order(options.first + at) for at in range(options.count)]
    unreadable = [Record(value='{"order_id": "seven"}', partition=0)] * options.bad
    Topics(options.bootstrap).produce(TOPIC, [*orders, *unreadable])
    print(f"sent {options.count:,} orders and {options.bad} records that cannot be read")


def order(number: int) -> Record:
    """An order; each tenth is large."""
    amount = f"{900 + number % 100 if is_large(number) else number % 800}.50"
    row = {"order_id": number, "customer": f"customer {number % 50}", "amount": amount}
    return Record(value=json.dumps(row), key=str(number), partition=number % PARTITIONS)


def is_large(number: int) -> bool:
    """Returns True if an order has to be in the second table and in the topic of alerts."""
    return number % 10 == 0


if __name__ == "__main__":
    main()
