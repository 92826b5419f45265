"""Short ways to write a function's record."""

from collections.abc import Callable

from flareiac.kernel.types import ANY, Type
from flareiac.lang.functions.signature import Builtin, Parameter, Template
from flareiac.lang.values import Value


def takes(
    name: str,
    type: Type = ANY,  # noqa: A002
    *,
    null: bool = False,
    parts: bool = False,
    raw: bool = False,
    optional: bool = False,
) -> Parameter:
    return Parameter(name=name, type=type, null=null, parts=parts, raw=raw, optional=optional)


def function(
    name: str,
    parameters: tuple[Parameter, ...],
    returns: Type,
    call: Callable[..., Value | Template],
    description: str,
    *,
    variadic: Parameter | None = None,
) -> Builtin:
    """A function whose result is always of one type (``ANY`` where it depends on the arguments)."""
    return Builtin(
        name=name,
        parameters=parameters,
        returns=lambda _arguments: returns,
        call=call,
        description=description,
        variadic=variadic,
    )
