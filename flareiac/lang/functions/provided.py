"""Functions that providers add: plain data in, plain data out, shown to the language as its own."""

from flareiac.kernel.data import Data
from flareiac.kernel.numbers import nearest_number
from flareiac.lang.conversion import from_plain
from flareiac.lang.functions.signature import Builtin, FunctionError, Parameter
from flareiac.lang.values import Value, to_data
from flareiac.sdk.provider import Function


def adapt(function: Function) -> Builtin:
    """A provider's function. A ``ValueError`` from it is the user's error."""

    def call(*arguments: Value) -> Value:
        try:
            result: Data = function.call(*(to_data(argument, nearest_number) for argument in arguments))
        except ValueError as error:
            raise FunctionError(str(error)) from None
        return from_plain(result, function.returns)

    return Builtin(
        name=function.name,
        parameters=(
            *(Parameter(name=name, type=kind) for name, kind in function.parameters),
            *(Parameter(name=name, type=kind, optional=True) for name, kind in function.optional),
        ),
        returns=lambda _arguments: function.returns,
        call=call,
        description=function.description,
        variadic=Parameter(name=function.variadic[0], type=function.variadic[1])
        if function.variadic
        else None,
    )
