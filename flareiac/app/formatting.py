"""The use case of ``fmt``: the files of a project, laid out as ``terraform fmt`` does it. Touches the file
system; writes nothing.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from flareiac.config.files import SUFFIX, read
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.layout import formatted
from flareiac.lang.parse import parse_file

SUFFIXES: Final = (SUFFIX, ".vars.hcl", ".flaretest.hcl")
"""The ends of the names of files that a directory is searched for: configuration, variables and tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A file as it is, and its text laid out."""

    source: Source
    text: str

    @property
    def is_needed(self) -> bool:
        return self.text != self.source.text


def lay_out(source: Source, diagnostics: Diagnostics) -> Layout | None:
    """The layout of one text, None with complaints where it is no HCL."""
    problems = Diagnostics()
    parse_file(source, problems, cache=False)
    diagnostics.extend(problems)
    if problems.has_errors:
        return None
    return Layout(source=source, text=formatted(source.text))


def lay_out_files(
    root: Path, paths: Sequence[str], diagnostics: Diagnostics, *, recursive: bool
) -> Iterator[Layout | Source]:
    """Yields the layout of each file that the paths name, files by themselves and those of directories, in
    the order of the paths and by name; the text itself where it is no HCL, with complaints. A path is
    relative to ``root``, and named as it was given.
    """
    for name in dict.fromkeys(_files(root, paths, diagnostics, recursive=recursive)):
        source = read(root / name, name, diagnostics)
        if source is not None:
            yield lay_out(source, diagnostics) or source


def _files(root: Path, paths: Sequence[str], diagnostics: Diagnostics, *, recursive: bool) -> Iterator[str]:
    for path in paths:
        if (root / path).is_dir():
            yield from _in_directory(root, Path(path), diagnostics, recursive=recursive)
        else:
            yield str(Path(path))


def _in_directory(root: Path, path: Path, diagnostics: Diagnostics, *, recursive: bool) -> Iterator[str]:
    try:
        entries = sorted((root / path).iterdir())
    except OSError as problem:
        diagnostics.error(codes.FILE_UNREADABLE, f"{path}: {problem.strerror or problem}.")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            # What a link leads to is another project's, or is reached by itself.
            if recursive and not entry.is_symlink():
                yield from _in_directory(root, path / entry.name, diagnostics, recursive=True)
        elif entry.name.endswith(SUFFIXES):
            yield str(path / entry.name)
