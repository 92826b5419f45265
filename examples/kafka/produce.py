"""Sends flights of 2013 to a topic as JSON, keyed by carrier, with some records that cannot be read.

    python produce.py ARCHIVE BOOTSTRAP [--first N] [--count N] [--bad N]

Returns when the broker has confirmed every record.
"""

import argparse
from itertools import islice
from pathlib import Path

from confluent_kafka import KafkaError, Message, Producer

from examples.quickstart.feeder import as_json
from examples.quickstart.source import read_flights

TOPIC = "flights"
_BAD = (b"not JSON at all", b'{"flight_id": "seven"}', b'{"flight_id": 1, "dep_delay": "late"}')


def main() -> None:
    """Sends, waits for the broker, prints what it sent."""
    parser = argparse.ArgumentParser(description="Sends flights to a topic.")
    parser.add_argument("archive", type=Path)
    parser.add_argument("bootstrap")
    parser.add_argument("--first", type=int, default=1, help="the first flight")
    parser.add_argument("--count", type=int, default=20_000, help="how many flights")
    parser.add_argument("--bad", type=int, default=0, help="how many records that cannot be read")
    options = parser.parse_args()
    send(options.archive, options.bootstrap, first=options.first, count=options.count, bad=options.bad)
    print(f"sent {options.count:,} flights and {options.bad} records that cannot be read")


def send(archive: Path, bootstrap: str, *, first: int, count: int, bad: int) -> None:
    """An idempotent producer: a record that the broker has confirmed is there once."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 20, "log_level": 0}
    )
    failed: list[str] = []

    def confirmed(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            failed.append(str(error))

    for flight in islice(read_flights(archive), first - 1, first - 1 + count):
        key, value = flight.row["carrier"].encode(), as_json(flight).encode()
        while True:
            try:
                producer.produce(TOPIC, value, key, on_delivery=confirmed)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    for number in range(bad):
        producer.produce(TOPIC, _BAD[number % len(_BAD)], b"bad", on_delivery=confirmed)
    left = producer.flush(120)
    if left or failed:
        raise SystemExit(f"{left + len(failed)} records were not confirmed: {failed[:1]}")


if __name__ == "__main__":
    main()
