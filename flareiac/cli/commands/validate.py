"""``validate``: is the configuration right?"""

from typing import Annotated

import typer

import flareiac
from flareiac.app.prove import Understood, prove_declared
from flareiac.app.validate import validate as validated
from flareiac.cli.complaints import complain
from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.options import VariableOptions
from flareiac.cli.project import opened
from flareiac.cli.proving import asking_here
from flareiac.kernel.data import write_json
from flareiac.render.diagnostics import validate_json
from flareiac.render.sarif import diagnostics_sarif
from flareiac.sdk.command_options import Json


def validate(
    invocation: Invocation,
    *,
    prove: Annotated[
        bool,
        typer.Option("--prove", help="Check on this machine what apply would check first."),
    ] = False,
    as_json: Json = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print SARIF, which code scanning takes.")
    ] = False,
    variables: VariableOptions,
) -> int:
    """Says what is wrong with the configuration."""
    if as_json and as_sarif:
        raise typer.BadParameter("-json and -sarif exclude each other.")
    terminal, understood = invocation.terminal, None
    with opened(invocation, variables) as workspace:
        validation = validated(workspace)
        if prove and not validation.diagnostics.has_errors:
            understood = prove_declared(workspace, asking_here(invocation))
            validation.diagnostics.extend(understood.diagnostics)
    sources = validation.configuration.sources
    if as_json:
        terminal.out(write_json(validate_json(validation.diagnostics, sources), indent=2))
    elif as_sarif:
        document = diagnostics_sarif(validation.diagnostics, sources, tool_version=flareiac.__version__)
        terminal.out(write_json(document, indent=2))
    else:
        complain(terminal, validation.diagnostics, sources)
        if not validation.diagnostics.has_errors:
            terminal.out("Success! The configuration is valid.")
        if understood is not None and (text := _proven(understood)):
            terminal.out(text)
    return ExitCode.ERROR if validation.diagnostics.has_errors else ExitCode.DONE


def _proven(understood: Understood) -> str:
    texts = [
        f"the {what} of {number} {kind}{'' if number == 1 else 's'}"
        for (kind, what), number in understood.checked.items()
    ]
    sentences = [f"Checked here: {', '.join(texts)}."] if texts else []
    if understood.unknown:
        sentences.append(f"Too little is declared to check {', '.join(understood.unknown)}.")
    nothing = "" if understood.diagnostics else "Nothing has to be checked here."
    return " ".join(sentences) or nothing
