"""The actions for records that cannot be read, and the known facts of each such record.

A source judges each record in the column ``GOOD``, which is never null. Beside it stands, where bad records
are kept, the column ``MARKER``, null where the record is good, else a struct of ``MARKED``; and where the
first bad record ends the job, the column ``COMPLAINT``. A record that decodes only partly is bad. The driver
takes these columns off.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Action: TypeAlias = Literal["fail", "null", "drop", "quarantine"]
FAIL: Final = "fail"
"""The job fails: the default."""
NULL: Final = "null"
"""The row is kept, its declared columns are null."""
DROP: Final = "drop"
"""The row is left out, and counted."""
QUARANTINE: Final = "quarantine"
"""The row is left out here, and a query of its own writes what is known of it to a table."""
ACTIONS: Final = (FAIL, NULL, DROP, QUARANTINE)
NOT_UTF8: Final = "TEXT_NOT_UTF8"
NUMBER_NOT_HELD: Final = "NUMBER_NOT_HELD"
"""The class of the error of a line of text that is not UTF-8, in files that have no records."""
HEADER_WAY: Final = (
    'It is the header line of the file: write options = { header = "true" } in the files block.'
)
"""The advice of a complaint about a record that may be a header line."""
DECIDED_BY_BAD_RECORDS: Final = frozenset({"mode", "columnnameofcorruptrecord"})
"""Options of readers, in lower case, that say what becomes of bad records."""
GOOD: Final = "__flareiac_good"
MARKER: Final = "__flareiac_bad"
COMPLAINT: Final = "__flareiac_complaint"
"""The column with the reason that a record cannot be read, and its place, as the end of a sentence."""
OWN: Final = frozenset({GOOD, MARKER, COMPLAINT})
MARKED: Final[Mapping[str, str]] = {
    "raw": "BINARY",
    "error": "STRING",
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "file": "STRING",
}
"""The fields of the marker, and their types as Spark spells them."""
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "raw": ("binary", "string"),
    "error": ("string",),
    "topic": ("string",),
    "partition": ("int", "long"),
    "offset": ("long",),
    "file": ("string",),
    "input": ("string",),
    "job": ("string",),
}
"""The columns that a quarantine table may have, and the types of each as Iceberg spells them."""
ALWAYS_KNOWN: Final = ("input", "job")
"""The fields that are known of records of every source."""
NAME: Final = "bad_records."
"""The beginning of the name of the output that writes the bad records of an input. A label has no dot."""


def output_name(input_name: str) -> str:
    """The name of the output, and of its query and its folder, that writes the bad records of an input."""
    return f"{NAME}{input_name}"


def lets_same_rows_out(before: str, after: str) -> bool:
    """Returns True if two actions give the same good rows and nothing else, as far as they run."""
    return (before == NULL) == (after == NULL)
