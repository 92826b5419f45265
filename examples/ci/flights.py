"""The data of the streams.

python flights.py land ARCHIVE LANDING COUNT PACE   lands so many flights, a file of 2,000 every PACE seconds
python flights.py driver                            prints the process id of the driver that runs them
python flights.py verify ARCHIVE COUNT SECONDS      waits until every flight is there, each exactly once
"""

import json
import os
import sys
import time
from collections import Counter
from itertools import count as numbers
from itertools import islice
from pathlib import Path

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


def driver() -> int:
    """The process that holds the control directory."""
    client = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    status = client.get_object(Bucket="company-flareiac", Key="runtime/default/status.json")["Body"].read()
    return int(json.loads(status)["application"]["pid"])


def verify(archive: Path, count: int, seconds: float) -> str:
    """What is there; ends the program where something is missing or more than once."""
    expected = Counter(flight.row["carrier"] for flight in islice(read_flights(archive), count))
    deadline = time.monotonic() + seconds
    while True:
        rows = (
            catalog().load_table("air.departures").scan(selected_fields=("flight_id", "carrier")).to_arrow()
        )
        counts = catalog().load_table("air.carriers").scan().to_arrow().to_pylist()
        counted = {row["carrier"]: row["flights"] for row in counts}
        if rows.num_rows >= count and counted == expected:
            break
        if time.monotonic() > deadline:
            raise SystemExit(f"WRONG: {rows.num_rows} of {count} flights; by carrier {counted}")
        time.sleep(2)
    found = Counter(rows.column("carrier").to_pylist())
    if sorted(rows.column("flight_id").to_pylist()) != list(range(1, count + 1)) or found != expected:
        raise SystemExit(
            f"WRONG: {rows.num_rows} rows, {len(set(rows.column('flight_id').to_pylist()))} flights"
        )
    return f"{count:,} flights, each exactly once; {len(counted)} carriers with their counts"


def main() -> None:
    """What the command line asks for."""
    match sys.argv[1:]:
        case ["land", archive, landing, count, pace]:
            landed(Path(archive), Path(landing), int(count), float(pace))
        case ["driver"]:
            print(driver())
        case ["verify", archive, count, seconds]:
            print(verify(Path(archive), int(count), float(seconds)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
