"""``fmt``: lays out the files of a project as ``terraform fmt`` does it."""

import sys
from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from flareiac.app.formatting import SUFFIXES, Layout, lay_out, lay_out_files
from flareiac.app.source_files import write_texts
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.render.control_characters import printable
from flareiac.render.unified_diff import differences

_STDIN = "-"
_STDIN_NAME = "<stdin>"


@dataclass(frozen=True, slots=True, kw_only=True)
class FmtOptions:
    """The options of ``fmt``."""

    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 3 where a file needs formatting.")
    ] = False
    diff: Annotated[bool, typer.Option("--diff", help="Print what changes.")] = False
    recursive: Annotated[bool, typer.Option("--recursive", help="Enter the directories below, too.")] = False
    list_names: Annotated[
        Literal["true", "false"],
        typer.Option("--list", help="Print the names of the files that change."),
    ] = "true"
    write: Annotated[Literal["true", "false"], typer.Option("--write", help="Write the files.")] = "true"


def fmt(
    invocation: Invocation,
    *,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, or directories with them: the current one unless said. - reads standard input and "
            "prints the result.",
            metavar="PATH|-",
        ),
    ] = None,
    options: FmtOptions,
) -> int:
    """Lays out the files, and says which of them change."""
    names = paths or ["."]
    diagnostics = Diagnostics()
    if _STDIN in names:
        if len(names) > 1:
            raise typer.BadParameter("- stands for standard input and excludes other paths.")
        layouts = _of_stdin(diagnostics)
    else:
        _check_names(invocation, names)
        layouts = lay_out_files(invocation.root, names, diagnostics, recursive=options.recursive)
    output = _Output(invocation, options, diagnostics, from_stdin=_STDIN in names)
    for layout in layouts:
        output.take(layout)
    complain(invocation.terminal, diagnostics, output.sources)
    if diagnostics.has_errors:
        return ExitCode.UNREADABLE_FILE
    return ExitCode.UNFORMATTED_FILE if options.check and output.is_needed else ExitCode.DONE


def _check_names(invocation: Invocation, names: list[str]) -> None:
    for name in names:
        if not name.endswith(".hcl") and (invocation.root / name).is_file():
            endings = ", ".join(SUFFIXES)
            raise typer.BadParameter(f"{name} is no file of HCL: the names of those end in {endings}.")


def _of_stdin(diagnostics: Diagnostics) -> Iterator[Layout | Source]:
    content = sys.stdin.buffer.read()
    try:
        source = Source(_STDIN_NAME, content.decode())
    except UnicodeDecodeError as problem:
        why = f"{_STDIN_NAME}: the byte at offset {problem.start} does not belong to any character."
        diagnostics.error(codes.NOT_UTF8, why)
    else:
        yield lay_out(source, diagnostics) or source


class _Output:
    """Writes, lists and shows one file after the other."""

    def __init__(
        self, invocation: Invocation, options: FmtOptions, diagnostics: Diagnostics, *, from_stdin: bool
    ) -> None:
        self._root, self._terminal, self._diagnostics = invocation.root, invocation.terminal, diagnostics
        self._lists = options.list_names == "true" and not from_stdin
        self._writes = options.write == "true" and not from_stdin and not options.check
        self._shows_difference = options.diff
        # As with Terraform, the text is the output where no other one is asked for.
        self._shows_text = not (self._lists or self._writes or options.diff or options.check)
        self.is_needed = False
        self.sources: dict[str, Source] = {}

    def take(self, layout: Layout | Source) -> None:
        """Takes one file, or the text of one that was complained of."""
        if isinstance(layout, Source):
            self.sources[layout.path] = layout
            return
        if layout.is_needed:
            self.is_needed = True
            self._change(layout)
        if self._shows_text:
            self._terminal.out_exactly(layout.text)

    def _change(self, layout: Layout) -> None:
        name = layout.source.path
        before, after = {name: layout.source}, {name: layout.text}
        if self._writes:
            try:
                write_texts(self._root, before, after)
            except Failure as failure:
                self._diagnostics.extend(failure.diagnostics)
                return
        if self._lists:
            self._terminal.out(printable(name))
        if self._shows_difference:
            for line in differences(before, after):
                self._terminal.out(printable(line))
