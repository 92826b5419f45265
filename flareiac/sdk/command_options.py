"""The options that mean the same in every command that has them, the core's and the providers'."""

from typing import Annotated, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
AutoApprove: TypeAlias = Annotated[bool, typer.Option("--auto-approve", help="Apply without asking.")]
