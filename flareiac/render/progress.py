"""The operations that are in progress, as a table that ``rich`` draws again and again while an apply runs."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from flareiac.kernel.elapsed import elapsed_text
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Operation
from flareiac.render.apply_text import doing, operation_name
from flareiac.render.control_characters import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An operation in progress. ``since`` is on the clock of the view; ``step`` is what it said last."""

    operation: Operation
    since: float
    step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressView:
    """One line an operation, the longest in progress first, then how far the apply is: ``ended`` of ``total``
    changes, as the plan counts them. ``note``: what the apply as a whole is doing before its first operation.
    """

    running: Sequence[Running]
    ended: int
    total: int
    since: float
    now: float
    note: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Lines are kept free: a view as high as the terminal would scroll, and could not be drawn over.
        room = max(1, options.size.height - 3)
        oldest = sorted(self.running, key=lambda running: running.since)
        table = Table.grid(padding=(0, 1), expand=False)
        table.add_column()
        for overflow in ("ellipsis", "crop", "ellipsis"):
            table.add_column(no_wrap=True, overflow="crop" if options.ascii_only else overflow)
        for running in oldest[:room]:
            table.add_row(*self._row(running, ascii_only=options.ascii_only))
        yield Group(table, Text(self._footer(len(oldest) - room), no_wrap=True, overflow="crop"))

    def _row(self, running: Running, *, ascii_only: bool) -> tuple[Spinner, Text, Text, Text]:
        spinner = Spinner("line" if ascii_only else "dots")
        spinner.start_time = self.since
        name = f"{operation_name(running.operation)}: {doing(running.operation)}"
        return (
            spinner,
            Text(name, style="bold"),
            Text(elapsed_text(self.now - running.since), justify="right"),
            Text(printable(running.step), style="dim"),
        )

    def _footer(self, hidden: int) -> str:
        more = f" ({hidden} of them not shown)" if hidden > 0 else ""
        running = f"{len(self.running)} in progress{more}"
        if self.note and not self.running and not self.ended:
            running = printable(self.note[:1].lower() + self.note[1:]).rstrip(".")
        return f"{self.ended} of {self.total} changes done, {running}, {elapsed_text(self.now - self.since)}"
