"""``policy check``: the rules of a team, asked about a saved plan."""

from typing import Annotated, Literal, TypeAlias

import typer

import flareiac
from flareiac.app.plan_files import read_plan
from flareiac.app.policies import block_places, check_saved
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.kernel.data import write_json
from flareiac.render.policy_text import policy_text

Format: TypeAlias = Literal["text", "json", "junit", "sarif"]


def check(
    invocation: Invocation,
    *,
    file: Annotated[str, typer.Argument(help="A saved plan.", metavar="PLAN")],
    form: Annotated[
        Format, typer.Option("--format", help="text, json, junit (XML) or sarif (for code scanning).")
    ] = "text",
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Take the policies of this folder in place of the project's."),
    ] = None,
) -> int:
    """Prints the answers; exits with 4 where a mandatory rule is not met."""
    terminal, root = invocation.terminal, invocation.root
    plan = read_plan(root, file)
    checked = check_saved(root, plan, policy)
    results = checked.results
    match form:
        case "text":
            terminal.out(policy_text(results, colour=terminal.colour(), width=terminal.columns()))
        case "json":
            from flareiac.render.policy_documents import check_json

            terminal.out(write_json(check_json(results, tool_version=flareiac.__version__), indent=1))
        case "junit":
            from flareiac.render.policy_documents import junit

            terminal.out_as_is(junit(results))
        case "sarif":
            from flareiac.render.policy_documents import sarif

            places = block_places(root, results)
            terminal.out(write_json(sarif(results, places, tool_version=flareiac.__version__), indent=1))
    return ExitCode.BLOCKED if results.refuses else ExitCode.DONE
