"""Changes by other people and tools to the tables of the lake, without FlareIaC.

python others.py load 12          a job appends twelve small files to sales.orders
python others.py set NAME VALUE   a colleague sets a property of sales.orders
python others.py add note         another one adds a column
python others.py look             prints the columns, rows and files of sales.orders
"""

import datetime as dt
import os
import sys
from decimal import Decimal
from urllib.parse import quote

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import StringType

from examples.ci.runner.settings import PASSWORDS


def catalog() -> SqlCatalog:
    """The lake, as any other program reaches it."""
    user, password = "lake_apply", quote(PASSWORDS["lake_apply"])
    uri = os.environ["LAKE_CATALOG_URI"].replace("postgresql://", f"postgresql+psycopg2://{user}:{password}@")
    files = {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"], "s3.region": "eu-central-1"}
    keys = {"s3.access-key-id": "testing", "s3.secret-access-key": "testing-secret"}
    return SqlCatalog("lake", uri=uri, warehouse="s3://company-lake/warehouse", **files, **keys)


def _table() -> Table:
    return catalog().load_table("sales.orders")


def main() -> None:
    """Runs what the command line asks for."""
    table = _table()
    match sys.argv[1:]:
        case ["load", count]:
            for number in range(int(count)):
                row = {
                    "order_id": number,
                    "ordered_at": dt.datetime(2026, 11, 1, tzinfo=dt.UTC),
                    "amount": Decimal("9.90"),
                }
                table.append(pa.Table.from_pylist([row], schema=table.schema().as_arrow()))
        case ["set", name, value]:
            with table.transaction() as change:
                change.set_properties({name: value})
        case ["add", column]:
            with table.update_schema() as change:
                change.add_column(column, StringType())
        case ["look"]:
            files = list(table.scan().plan_files())
            rows = sum(item.file.record_count for item in files)
            columns = ", ".join(field.name for field in table.schema().fields)
            print(f"sales.orders: {columns}; {rows} rows in {len(files)} files")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
