"""``graph``: a picture of the configuration."""

from typing import Annotated, Literal, TypeAlias

import typer

from flareiac.app.graph import GraphRequest
from flareiac.app.graph import graph as drawn
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.kernel.data import write_json
from flareiac.render.picture_text import dot, mermaid, picture_json, svg

Format: TypeAlias = Literal["dot", "mermaid", "svg", "json"]


def graph(
    invocation: Invocation,
    *,
    form: Annotated[Format, typer.Option("--format", help="dot (Graphviz), mermaid, svg or json.")] = "dot",
    lineage: Annotated[
        bool,
        typer.Option("--lineage", help="Follow the data, and not references; in JSON down to columns."),
    ] = False,
    focus: Annotated[
        list[str] | None,
        typer.Option("--focus", help="Only what leads to this address or glob and what follows from it."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", min=0, help="With -focus: at most so many arrows away.")
    ] = None,
    variables: VariableOptions,
) -> int:
    """Draws what depends on what."""
    if depth is not None and not focus:
        raise typer.BadParameter("-depth needs -focus.")
    request = GraphRequest(is_lineage=lineage, focus=tuple(focus or ()), depth=depth)
    with opened(invocation, variables) as workspace:
        result = drawn(workspace, request)
    complain(invocation.terminal, result.diagnostics, result.sources)
    if result.picture is None:
        return ExitCode.ERROR
    match form:
        case "dot":
            invocation.terminal.out(dot(result.picture))
        case "mermaid":
            invocation.terminal.out(mermaid(result.picture))
        case "svg":
            invocation.terminal.out(svg(result.picture))
        case "json":
            invocation.terminal.out(write_json(picture_json(result.picture), indent=2))
    return ExitCode.DONE
