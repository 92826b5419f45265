"""The notes on the folder of a stream of files, in words, and the reasons why its rules refuse it. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.sdk.changes import Blocker, blocker
from flareiac_spark import codes
from flareiac_spark.sources.folder_look import FolderLook, FolderNote, HeaderDiffers, HeaderLine
from flareiac_spark_runtime.sources.files.reading import IGNORES_SINK_LOG, NEWEST, RECURSIVE, SINK_LOG
from flareiac_spark_runtime.sources.files.resolved import sink_log_text

_DAY_MS: Final = 24 * 3_600_000
_EVERY: Final = (
    "files with one of []{}*?\\ in their names double rows of their batch; files older than seven days, and "
    "files in folders below, are not read; folders such as dt=2026-01-02 add a column"
)
_RULES: Final = {
    "json": (
        "a decimal that is text loses its commas (12,50 is read as 1250); keys that are not those of the "
        "columns give null"
    ),
    "csv": (
        "a decimal loses its commas (12,50 is read as 1250); quotes that are written twice stay in the "
        "value; bytes that are not UTF-8 are replaced; a header line is skipped, whatever it names"
    ),
}


def old_rules(file_format: str) -> str:
    """The effect of the first version of the rules, and the way to leave it."""
    of_format = _RULES.get(file_format)
    return (
        f"its files are read by the rules of reading 1, under which it was recorded: {_EVERY}"
        f"{f'; {of_format}' if of_format else ''}. New streams have reading {NEWEST}, which reads each "
        "file once and takes such records for bad ones. Nothing changes until a line says so: in the files "
        f"block reading = {NEWEST}, or reading = 1 to keep the old rules."
    )


def notes(
    look: FolderLook, *, first: bool, begun: bool, recursive: bool, limit_ms: int | None
) -> Iterator[FolderNote]:
    """The notes on a folder. ``first``: whether the first version of the rules counts; ``recursive``: whether
    an option has Spark read the folders below; ``limit_ms``: the age from which files are passed over.
    """
    way = (
        f"With reading = {NEWEST} in the files block each file is read once."
        if first
        else "A larger max_file_age in the files block has older files read."
    )
    for text in _unread(look, first=first, recursive=recursive, limit_ms=limit_ms or 0):
        yield FolderNote(code=codes.FILES_NOT_READ, text=f"{text}. {way}", unread=True)
    count, example = look.below
    if not first and count and not begun:
        columns = f" The folders name {', '.join(look.keys)}." if look.keys else ""
        text = (
            f"{_files(count, example, look)} in a folder below {look.folder}, and is read as the others are: "
            f"a file that is moved within the folder is another file, and is read again.{columns}"
        )
        yield FolderNote(code=codes.FOLDERS_BELOW, text=text)
    yield from _header(look, first=first)


def blockers(
    look: FolderLook | None, options: Mapping[str, str], path: str, conf: Mapping[str, str]
) -> Iterator[Blocker]:
    """The reasons why the newest rules refuse to start a query."""
    if look is not None and look.sink_log and IGNORES_SINK_LOG not in conf:
        yield blocker(
            codes.FOLDER_OF_A_SINK,
            why=sink_log_text(look.folder),
            ways_out=(
                f'every file: in this job:\n  conf = {{ "{IGNORES_SINK_LOG}" = "true" }}',
                f'what the sink committed: in this job:\n  conf = {{ "{IGNORES_SINK_LOG}" = "false" }}',
            ),
        )
    if any(name.lower() == RECURSIVE.lower() and text.lower() != "true" for name, text in options.items()):
        yield blocker(
            codes.OPTION_CONTRADICTS_READING,
            why=(
                f"The option {RECURSIVE} is written for the files of {path}. Under reading {NEWEST} "
                "Spark always lists the folders below: otherwise it doubles rows of files with glob "
                "characters in their names."
            ),
            ways_out=(
                f'remove the option; a pattern reads the files of the folder alone: path = "{path}/*.*"',
                "read by Spark's own rules, in the files block: reading = 1",
            ),
        )


def _header(look: FolderLook, *, first: bool) -> Iterator[FolderNote]:
    match look.header:
        case HeaderDiffers(path=path, header=header):
            effect = "reads its values under other names" if first else "refuses it"
            text = (
                f"the header line of {path} is {', '.join(header)[:200]}, which are not the columns of the "
                f"stream in their order: the job {effect}. Correct the file, or the order of the columns."
            )
            yield FolderNote(code=codes.HEADER_DIFFERS, text=text, unread=first)
        case HeaderLine(path=path):
            text = (
                f"{path} begins with a header line, which is read as a record. Write in the files block: "
                'options = { header = "true" }.'
            )
            yield FolderNote(code=codes.HEADER_DIFFERS, text=text)
        case None:
            pass


def _unread(look: FolderLook, *, first: bool, recursive: bool, limit_ms: int) -> Iterator[str]:
    """Files of which rows are missing or doubled, without a full stop."""
    old, example = look.old
    if old:
        yield (
            f"{_files(old, example, look)} never read: it is older than the newest file that was read, by "
            f"more than {limit_ms / _DAY_MS:g} days"
        )
    if not first:
        return
    globs, example = look.globs
    if globs:
        yield (
            f"{_files(globs, example, look)} named with a glob character: other rows of its batch are doubled"
        )
    below, example = look.below
    if below and not look.keys and not recursive:
        yield f"{_files(below, example, look)} in a folder below {look.folder}, and is not read"
    if look.keys and not recursive:
        yield (
            f"{_files(below, example, look)} in a folder that names a column ({', '.join(look.keys)}): a job "
            "that has begun without such folders fails"
        )
    if look.sink_log:
        yield f"{look.folder} holds {SINK_LOG}: files that it does not name are not read"


def _files(count: int, example: str, look: FolderLook) -> str:
    least = "at least " if look.cut else ""
    return f"{example} is" if count == 1 else f"{least}{count:,} files ({example} is one): each is"
