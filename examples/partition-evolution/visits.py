"""The writer of the table, and one who looks at its files: ``visits.py DIRECTORY write DAY`` or ``visits.py
DIRECTORY files``.
"""

import datetime as dt
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
from pyiceberg.table import Table

from examples.lake import Lake


def write(table: Table, day: dt.date) -> None:
    """48 visits, one each half hour."""
    start = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    rows = [
        {"visitor": number % 7, "ts": start + dt.timedelta(minutes=30 * number), "page": f"/{number}"}
        for number in range(48)
    ]
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
    print(f"wrote {len(rows)} visits of {day}")


def files(table: Table) -> None:
    """Prints the number of files of each layout, and shows that all rows are read all the same."""
    specs = {
        number: ", ".join(f"{item.name}" for item in spec.fields) for number, spec in table.specs().items()
    }
    found = Counter(task.file.spec_id for task in table.scan().plan_files())
    for number, count in sorted(found.items()):
        print(f"{count:3} files by {specs[number] or 'nothing'}")
    print(f"{table.scan().to_arrow().num_rows} rows in all")
    morning = table.scan(row_filter="ts >= '2026-03-02T08:00:00+00:00' AND ts < '2026-03-02T10:00:00+00:00'")
    print(
        f"two hours of one day are {len(list(morning.plan_files()))} files with "
        f"{morning.to_arrow().num_rows} rows"
    )


if __name__ == "__main__":
    table = Lake(Path(sys.argv[1])).load_table("web.visits")
    if sys.argv[2] == "write":
        write(table, dt.date.fromisoformat(sys.argv[3]))
    else:
        files(table)
