"""The folders that a file source reads, and whether it still reads those that its checkpoint has seen. Pure.

Spark's file source remembers files by their absolute paths. Under another path the same files are new to it:
it reads them again.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from flareiac.sdk.project import Project
from flareiac_spark.definition.input_definition import FilesInput, Input
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.queries import folder_of
from flareiac_spark.places import absolute_place

WILDCARDS: Final = frozenset("*?[{")
_TOKEN: Final = re.compile(r"(?P<any>\*)|(?P<one>\?)|\[(?P<set>[^\]]+)\]|(?P<plain>.)", re.DOTALL)


def declared_paths(job: JobDefinition, project: Project) -> list[str]:
    """The absolute paths (or patterns) of a job's streamed files."""
    return _absolute(job.streams.values(), project)


def read_paths(job: JobDefinition, project: Project) -> list[str]:
    """The absolute paths (or patterns) of all files that a job reads, streamed or not."""
    looked_up = [job_input for job_input in job.inputs.values() if isinstance(job_input, FilesInput)]
    return [*declared_paths(job, project), *_absolute(looked_up, project)]


def _absolute(inputs: Iterable[Input], project: Project) -> list[str]:
    folders = map(folder_of, inputs)
    return [str(absolute_place(folder, project)) for folder in folders if folder is not None]


def left_behind(seen: Iterable[str], declared: Sequence[str]) -> str | None:
    """A folder of files that a checkpoint has seen and that no declared path or pattern covers."""
    patterns = [parts for path in declared for parts in map(_parts, [path, *_alternatives(path)])]
    return next(
        (folder for folder in seen if not any(_covers(pattern, _parts(folder)) for pattern in patterns)), None
    )


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).parts


def _covers(pattern: Sequence[str], folder: Sequence[str]) -> bool:
    """A path names a folder, whose files and partitions are read, or the files themselves."""
    names_files = bool(WILDCARDS & set(pattern[-1])) or "." in pattern[-1]
    if len(folder) < len(pattern) - names_files:
        return False
    return all(_matches(part, name) for part, name in zip(pattern, folder, strict=False))


def _matches(part: str, name: str) -> bool:
    """One level of a Hadoop glob. A part that is no valid pattern matches its own text only."""
    if part == name:
        return True
    try:
        return (
            re.fullmatch("".join(_translated(token) for token in _TOKEN.finditer(part)), name, re.DOTALL)
            is not None
        )
    except re.error:
        return False


def _translated(token: re.Match[str]) -> str:
    if token["any"]:
        return ".*"
    if token["one"]:
        return "."
    if token["set"]:
        inverted = token["set"][0] in "^!"
        members = token["set"][inverted:].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
        return f"[{'^' if inverted else ''}{members}]"
    return re.escape(token["plain"])


def _alternatives(path: str) -> list[str]:
    """The paths that ``{a,b}`` stands for, from the innermost braces outwards."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if braces is None:
        return [path]
    before, after = path[: braces.start()], path[braces.end() :]
    return [
        alternative
        for choice in braces[1].split(",")
        for alternative in _alternatives(f"{before}{choice}{after}")
    ]
