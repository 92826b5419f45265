"""The options of commands that open the project, or that name it."""

from typing import Annotated, TypeAlias

import typer

from flareiac.kernel.lazy_dataclass import dataclass

Project: TypeAlias = Annotated[
    str,
    typer.Option(
        "--project",
        help="A name for the markdown and its marker, where one repository has several projects.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableOptions:
    """Variables that are typed."""

    var: Annotated[
        list[str] | None, typer.Option("--var", help="A variable: name=value. May be repeated.")
    ] = None
    var_file: Annotated[
        list[str] | None, typer.Option("--var-file", help="A file of variables. May be repeated.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions(VariableOptions):
    """The options for work with systems."""

    parallelism: Annotated[
        int, typer.Option("--parallelism", min=1, help="Number of concurrent operations.")
    ] = 10
