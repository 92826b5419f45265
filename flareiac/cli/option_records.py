"""Options that several commands share: a command takes a record of them as one parameter, and its command
line has an option for each field, in their order.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def spread(command: Callable[..., object]) -> Callable[..., object]:
    """The command with a parameter for each field of its records, as typer reads it."""
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if is_dataclass(kind := hints[parameter.name]):
            records[parameter.name] = kind
            parameters += _parameters(kind)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def typed(**given: object) -> object:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in records.items()
        }
        return command(**given, **made)

    typed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    typed.__dict__["__signature__"] = inspect.Signature(parameters)
    return typed


def _parameters(record: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(record)
    ]
