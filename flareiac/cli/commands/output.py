"""``output``: the outputs of the last apply."""

from decimal import Decimal
from typing import Annotated

import typer

from flareiac.cli.exit_codes import ExitCode
from flareiac.cli.invocation import Invocation
from flareiac.cli.project import opened
from flareiac.kernel import codes
from flareiac.kernel.data import write_json
from flareiac.kernel.diagnostics import Failure, did_you_mean, error
from flareiac.kernel.numbers import number_text
from flareiac.model.desired import OutputValue
from flareiac.render.output_text import outputs_json, outputs_text
from flareiac.sdk.command_options import Json


def output(
    invocation: Invocation,
    name: Annotated[str | None, typer.Argument(help="One output; without it, all.")] = None,
    as_json: Json = False,
    raw: Annotated[bool, typer.Option("--raw", help="Only the text of a string.")] = False,
) -> int:
    """Shows one recorded output, or all."""
    terminal = invocation.terminal
    with opened(invocation) as workspace:
        outputs = workspace.load_state(as_stored=True).snapshot.outputs
    if name is not None and name not in outputs:
        hint = f"{did_you_mean(name, outputs)} Outputs are recorded by apply; flareiac output lists them."
        raise Failure(error(codes.OUTPUT_NOT_FOUND, f'The state holds no output "{name}".{hint}'))
    if raw and name is None:
        raise typer.BadParameter("-raw needs the name of one output.")
    chosen = outputs if name is None else {name: outputs[name]}
    if raw and name is not None:
        terminal.out_as_is(_raw(name, outputs[name]))
    elif as_json:
        whole = outputs_json(chosen)
        terminal.out(write_json(whole if name is None else whole[name]["value"], indent=2))
    else:
        terminal.out(outputs_text(chosen, bare=name is not None))
    return ExitCode.DONE


def _raw(name: str, output: OutputValue) -> str:
    """The value of an output as a shell takes it. Raises ``Failure`` for what has no such text."""
    value = output.value
    if isinstance(value, bool):
        return write_json(value)
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal):
        return number_text(value)
    hidden = "It is sensitive: the state does not hold it."
    why = hidden if output.sensitive else f"Use flareiac output -json {name}."
    raise Failure(error(codes.OUTPUT_NOT_RAW, f'The output "{name}" cannot be printed with -raw. {why}'))
