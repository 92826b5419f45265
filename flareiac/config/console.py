"""Expressions that are typed, evaluated where those of a module are: they see what its blocks see. Pure."""

from collections.abc import Iterator

from flareiac.config.module_call import ModuleCall
from flareiac.config.module_nodes import check_outputs
from flareiac.config.symbols import check_declared
from flareiac.kernel import codes
from flareiac.kernel.addresses import render_key
from flareiac.kernel.diagnostics import Diagnostics, Failure, did_you_mean, error
from flareiac.lang.evaluate import evaluate
from flareiac.lang.references import references
from flareiac.lang.syntax import Expression
from flareiac.lang.values import Value, unknown


def evaluated(call: ModuleCall, expression: Expression, diagnostics: Diagnostics) -> Value:
    """The value of an expression in a module that was evaluated; an unknown one after complaining."""
    traversals = references(expression)
    fine = check_declared(traversals, call.nodes.nodes, call.evaluation.types, diagnostics)
    if not check_outputs(traversals, call.text, diagnostics) or not fine:
        return unknown()
    return evaluate(expression, call.scope, diagnostics)


def declared(call: ModuleCall) -> Iterator[str]:
    """Yields what a module declares, as expressions name it."""
    return (name for name in call.nodes.nodes if not name.startswith(("output.", "check.")))


def scopes(call: ModuleCall) -> Iterator[tuple[str, ModuleCall]]:
    """Yields each call below a module with its address: ``module.sales["eu"].module.raw``."""
    for name, instances in call.inner.items():
        for key, inner in instances.items():
            address = f"{call.prefix}module.{name}{render_key(key)}"
            yield address, inner
            yield from scopes(inner)


def scope(root: ModuleCall, address: str) -> ModuleCall:
    """The call of a module that an address names. Raises ``Failure``."""
    known = dict(scopes(root))
    if address in known:
        return known[address]
    hint = did_you_mean(address, known) or (f" There are {', '.join(known)}." if known else "")
    why = f'The configuration calls no module "{address}".{hint}'
    raise Failure(error(codes.NOT_DECLARED, why))
