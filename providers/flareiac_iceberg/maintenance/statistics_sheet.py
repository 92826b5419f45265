"""The columns in which statistics of tables are shown. Pure."""

from typing import Final

from flareiac.sdk.statistics import StatisticsSheet
from flareiac.sdk.text_table import Column

SHEET: Final = StatisticsSheet(
    name="tables",
    subject="TABLE",
    columns=(
        Column("ROWS", right=True),
        Column("SIZE", right=True),
        Column("FILES", right=True),
        Column("SMALL FILES", right=True),
        Column("DELETE FILES", right=True),
        Column("SNAPSHOTS", right=True),
        Column("LAST COMMIT"),
        Column("LAST MAINTENANCE"),
        Column("NEXT"),
    ),
)
