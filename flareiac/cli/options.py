"""The options of commands that open the project."""

from typing import Annotated

import typer

from flareiac.kernel.lazy_dataclass import dataclass


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
