"""The versions of the rules by which files are read. Pure.

A stream keeps the version under which it was recorded: other rules may give other rows of the same files.
"""

from collections.abc import Mapping
from typing import Final

from flareiac_spark_runtime.sources.option_names import is_on, option

FIRST: Final = 1
"""Spark's own rules."""
NEWEST: Final = 2
"""Each file is read once, whatever its name, its folder and its age, and a record fits whole or is bad."""

IGNORES_SINK_LOG: Final = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
"""The setting of a session that decides whether a folder is listed by the log of Spark's own sink."""
SINK_LOG: Final = "_spark_metadata"
RECORDS: Final = ("json", "csv")
"""Formats of single records, each of which may be bad. Of other formats a whole file can be read or not."""
RECURSIVE: Final = "recursiveFileLookup"
_ANY_AGE: Final = f"{2**63 - 1}ms"
_BY_READER: Final = ("encoding", "charset")
_PLAIN_LOCALE: Final = "en-CH"
"""Spark drops the commas of a decimal that is text in the locale en-US, so that 12,50 would be 1250. This
one is English and has no comma in its numbers.
"""


def options_of(file_format: str, options: Mapping[str, str], max_file_age_ms: int | None) -> dict[str, str]:
    """The options of Spark's reader under the newest rules; those that are given count.

    Spark lists a folder with ``recursiveFileLookup`` by the paths of its files: without it, it reads each
    file of a batch once more for every file with a glob character in its name.
    """
    ours = {RECURSIVE: "true", "maxFileAge": _ANY_AGE if max_file_age_ms is None else f"{max_file_age_ms}ms"}
    if file_format in RECORDS:
        ours |= {"locale": _PLAIN_LOCALE}
    if file_format == "csv":
        ours |= {
            "enforceSchema": "false",
            "escape": '"',
            "multiLine": "true",
            "unescapedQuoteHandling": "RAISE_ERROR",
            "columnPruning": "false",
        }
    return _over(ours, options)


def reads_lines(file_format: str, options: Mapping[str, str]) -> bool:
    """Returns True where each line of a file is a record of text that we decode, as that of a topic; else
    Spark's reader of the format decodes it.
    """
    by_reader = is_on(options, "multiLine") or any(option(options, name) is not None for name in _BY_READER)
    return file_format == "json" and not by_reader


def _over(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Options by names in any letter case."""
    named = {name.lower() for name in given}
    return {**{name: text for name, text in ours.items() if name.lower() not in named}, **given}
