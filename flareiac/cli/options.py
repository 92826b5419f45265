"""The options that several commands of the core share."""

from typing import Annotated, Literal, TypeAlias

import typer

Variables: TypeAlias = Annotated[
    list[str] | None, typer.Option("--var", help="A variable: name=value. May be repeated.")
]
VariableFiles: TypeAlias = Annotated[
    list[str] | None, typer.Option("--var-file", help="A file of variables. May be repeated.")
]
Parallelism: TypeAlias = Annotated[
    int, typer.Option("--parallelism", min=1, help="Number of concurrent operations.")
]
OnError: TypeAlias = Annotated[
    Literal["continue", "stop"],
    typer.Option("--on-error", help="What a failure means for independent operations."),
]
