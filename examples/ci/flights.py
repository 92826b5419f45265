"""The data of the streams.

python flights.py land ARCHIVE LANDING COUNT PACE     lands so many flights, 2,000 every PACE seconds
python flights.py driver                              prints the process id of the driver that runs them
python flights.py host                                prints the name of its host
python flights.py verify ARCHIVE COUNT SECONDS [max]  waits until every flight is there, each exactly once;
                                                      distances of a carrier are added, or the greatest counts
"""

import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import count as numbers
from itertools import islice
from pathlib import Path
from typing import Any

import boto3

from examples.ci.others import catalog
from examples.quickstart.feeder import as_json, land
from examples.quickstart.source import read_flights

_IN_A_FILE = 2_000


def landed(archive: Path, landing: Path, count: int, pace: float) -> None:
    """Lands the first so many flights of the source."""
    source = islice(read_flights(archive), count)
    for number in numbers():
        if not (flights := list(islice(source, _IN_A_FILE))):
            return
        land(landing / f"{number:04}.json", [as_json(flight) for flight in flights])
        time.sleep(pace)


def driver() -> dict[str, Any]:
    """The process that holds the control directory: ``pid``, ``host``."""
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    status = client.get_object(Bucket="company-flareiac", Key="runtime/default/status.json")["Body"].read()
    found: dict[str, Any] = json.loads(status)["application"]
    return found


def verify(archive: Path, count: int, seconds: float, distance: Callable[[Iterable[int]], int] = sum) -> str:
    """The counts of the tables; ends the program where something is missing or more than once."""
    expected = _carriers(archive, count, distance)
    deadline = time.monotonic() + seconds
    while True:
        rows = (
            catalog().load_table("air.departures").scan(selected_fields=("flight_id", "carrier")).to_arrow()
        )
        counts = catalog().load_table("air.carriers").scan().to_arrow().to_pylist()
        counted = {row["carrier"]: (row["flights"], row["distance"]) for row in counts}
        if rows.num_rows >= count and counted == expected:
            break
        if time.monotonic() > deadline:
            raise SystemExit(f"WRONG: {rows.num_rows} of {count} flights; by carrier {counted}")
        time.sleep(2)
    found = Counter(rows.column("carrier").to_pylist())
    of_carriers = {carrier: flights for carrier, (flights, _distance) in expected.items()}
    if sorted(rows.column("flight_id").to_pylist()) != list(range(1, count + 1)) or found != of_carriers:
        raise SystemExit(
            f"WRONG: {rows.num_rows} rows, {len(set(rows.column('flight_id').to_pylist()))} flights"
        )
    return f"{count:,} flights, each exactly once; {len(counted)} carriers with their counts"


def _carriers(
    archive: Path, count: int, distance: Callable[[Iterable[int]], int]
) -> dict[str, tuple[int, int]]:
    """Number of flights and their distances, by carrier."""
    found: dict[str, list[int]] = defaultdict(list)
    for flight in islice(read_flights(archive), count):
        found[flight.row["carrier"]].append(int(flight.row["distance"]))
    return {carrier: (len(flown), distance(flown)) for carrier, flown in found.items()}


def main() -> None:
    """Runs what the command line asks for."""
    match sys.argv[1:]:
        case ["land", archive, landing, count, pace]:
            landed(Path(archive), Path(landing), int(count), float(pace))
        case ["driver"]:
            print(driver()["pid"])
        case ["host"]:
            print(driver()["host"])
        case ["verify", archive, count, seconds]:
            print(verify(Path(archive), int(count), float(seconds)))
        case ["verify", archive, count, seconds, "max"]:
            print(verify(Path(archive), int(count), float(seconds), max))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
