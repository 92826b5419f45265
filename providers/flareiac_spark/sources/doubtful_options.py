"""Options of Spark's reader with which files silently lose rows. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

_LOSES: Final = {
    "cleansource": (
        "deletes or moves files that were read: a new generation cannot read them again, and a file that is "
        "overwritten in the meantime goes with them"
    ),
    "filenameonly": "passes over a file whose name a file of another folder had",
    "ignorecorruptfiles": "passes over what cannot be read of a file, without a count",
    "ignoremissingfiles": "passes over files that are deleted before they are read, without a count",
    "latestfirst": (
        "reads the newest files first: with a watermark, rows of older files are dropped as late, and with "
        "max_files_per_trigger files may wait for ever"
    ),
    "maxfileage": "passes over older files. Write max_file_age in the files block in its place",
}
_OF_ANY_READER: Final = ("ignorecorruptfiles", "ignoremissingfiles")
_OFF: Final = ("false", "off")
_DROPS: Final = "DROPMALFORMED"
_FAILS: Final = "FAILFAST"


def doubtful_options(options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The names of such options, and what each does, in words."""
    for name, text in options.items():
        given = str(text)
        if name.lower() == "mode":
            yield from ((name, why) for why in _of_mode(given.upper()))
        elif (why := _LOSES.get(name.lower())) is not None and given.lower() not in _OFF:
            yield name, f"The option {name} {why}."


def doubtful_in_batch(options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The same of files that are read as they are, each time whole."""
    for name, text in options.items():
        given, key = str(text), name.lower()
        if key == "mode" and given.upper() != _FAILS:
            effect = "leaves out" if given.upper() == _DROPS else "keeps rows with nulls for"
            why = f"The mode {given.upper()} {effect} what cannot be read, without a count"
            yield name, f"{why}. Remove the option."
        elif key in _OF_ANY_READER and given.lower() not in _OFF:
            yield name, f"The option {name} {_LOSES[key]}."


def _of_mode(mode: str) -> Iterator[str]:
    if mode == _DROPS:
        yield (
            f"The mode {mode} leaves out records that cannot be read, without a count. Write in its stream "
            'bad_records = { action = "drop" }, which counts them, and remove the option.'
        )
    elif mode != _FAILS:
        yield (
            f"The mode {mode} counts for reading 1 alone, and keeps rows with nulls for what cannot be read. "
            'Write in its stream bad_records = { action = "null" }, which counts them, and remove the option.'
        )
