"""The command line that a command of a provider works with. See ``flareiac.sdk.command_line.CommandLine``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import typer

from flareiac.app.recorded_project import LockedView, RecordedView, state_change
from flareiac.app.state.lock import locked
from flareiac.cli.invocation import Invocation
from flareiac.cli.locked_work import locked_work
from flareiac.cli.project import opened
from flareiac.kernel.data import Data, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.render.control_characters import printable
from flareiac.render.json_values import plain
from flareiac.render.table_text import table_lines
from flareiac.sdk.text_table import TextTable


@dataclass(frozen=True, slots=True)
class ProviderCommand:
    """One run of a provider's command."""

    invocation: Invocation

    def out(self, text: str) -> None:
        """Prints plain text."""
        self.invocation.terminal.out(printable(text))

    def out_table(self, table: TextTable) -> None:
        """Prints rows in columns."""
        self.invocation.terminal.out("\n".join(table_lines(table, self.invocation.terminal.columns())))

    def out_json(self, document: Mapping[str, Data]) -> None:
        """Prints a JSON document."""
        self.invocation.terminal.out(write_json(plain(dict(document)), indent=2))

    def confirm(self, lines: Sequence[str], question: str, *, approved: bool) -> None:
        """Raises ``typer.Abort`` after a no."""
        for line in lines:
            self.out(line)
        if not approved and not self.invocation.terminal.ask(f"\n{question}"):
            raise typer.Abort

    @contextmanager
    def project(self) -> Iterator[RecordedView]:
        """The recorded project."""
        with opened(self.invocation) as workspace:
            yield RecordedView(workspace=workspace, snapshot=workspace.load_state().snapshot)

    @contextmanager
    def locked_project(self, command: str) -> Iterator[RecordedView]:
        """The recorded project under the lock. Raises ``LockHeld``, ``Failure``."""
        with (
            locked_work(self.invocation) as work,
            locked(work.workspace, command, work.lock_timeout, work.emit),
        ):
            yield RecordedView(workspace=work.workspace, snapshot=work.workspace.load_state().snapshot)

    @contextmanager
    def state_change(self, command: str) -> Iterator[LockedView]:
        """The recorded project, to carry out operations. Raises ``LockHeld``, ``Failure``."""
        with (
            locked_work(self.invocation) as work,
            state_change(
                work.workspace,
                command,
                lock_timeout=work.lock_timeout,
                emit=work.emit,
                progress=self.invocation.terminal.say,
            ) as view,
        ):
            yield view
