"""The tool that fills the table: ``plant.py DIRECTORY make``, ``... add FILES`` or ``... look``."""

import sys
from pathlib import Path

import pyarrow as pa

from examples.lake import Lake

NAME = "plant.measurements"


def main(root: Path, verb: str, count: int) -> None:
    catalog = Lake(root)
    if verb == "make":
        catalog.create_namespace("plant")
        catalog.create_table(NAME, pa.schema([("sensor", pa.int64()), ("value", pa.float64())]))
    table = catalog.load_table(NAME)
    for number in range(count):
        table.append(pa.table({"sensor": [number, number + 1], "value": [0.5, 1.5]}))
    files = len(list(table.scan().plan_files()))
    print(f"{table.scan().to_arrow().num_rows} rows in {files} files, {len(table.snapshots())} snapshots")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
