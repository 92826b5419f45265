"""The notes that stand beside the folder of a query: ``.FOLDER.NOTE.json``. Pure."""

from typing import Final

STARTS: Final = "starts"
FIRST: Final = "first"
TOPICS: Final = "topics"
SCHEMAS: Final = "schemas"
NOTES: Final = (STARTS, FIRST, TOPICS, SCHEMAS)
