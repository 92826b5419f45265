"""The project that a command works at, opened for the command and closed with it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from flareiac.app.protection import guard_of
from flareiac.app.state_place.selection import selection
from flareiac.app.workspace import VariableArguments, Workspace
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions

_KINDS = {"--var": "var", "--var-file": "file"}


@contextmanager
def opened(
    invocation: Invocation, variables: VariableOptions | None = None, parallelism: int = 10
) -> Iterator[Workspace]:
    """The project in the directory of the command line, with the variables that were typed."""
    typed = _in_order(invocation.arguments, variables) if variables is not None else ()
    root = invocation.root
    name = selection(root, os.environ).name
    guard = guard_of(root, name, invocation.command, invocation.reason) if invocation.command else None
    workspace = Workspace(
        root=root,
        workspace=name,
        guard=guard,
        parallelism=parallelism,
        variables=VariableArguments(given=typed),
    )
    try:
        yield workspace
    finally:
        workspace.close()


def _in_order(arguments: Sequence[str], variables: VariableOptions) -> tuple[tuple[str, str], ...]:
    """Variables and variable files in the order they were typed, since the later one wins."""
    values = {"--var": iter(variables.var or ()), "--var-file": iter(variables.var_file or ())}
    names = (argument.partition("=")[0] for argument in arguments)
    return tuple(
        (_KINDS[name], text)
        for name in names
        if name in values and (text := next(values[name], None)) is not None
    )
