"""The options that several commands share."""

from typing import Annotated, Literal, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Variables: TypeAlias = Annotated[
    list[str] | None, typer.Option("--var", help="A variable: name=value. May be repeated.")
]
VariableFiles: TypeAlias = Annotated[
    list[str] | None, typer.Option("--var-file", help="A file of variables. May be repeated.")
]
Parallelism: TypeAlias = Annotated[
    int, typer.Option("--parallelism", min=1, help="Number of concurrent operations.")
]
AutoApprove: TypeAlias = Annotated[bool, typer.Option("--auto-approve", help="Apply without asking.")]
OnError: TypeAlias = Annotated[
    Literal["continue", "stop"],
    typer.Option("--on-error", help="What a failure means for independent operations."),
]
