"""The evaluation of a ``check`` block: its assertions, and the data block that it alone reads. Asks systems
by the port of the evaluation.
"""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.config.blocks import scoped_data
from flareiac.config.conditions import Checked
from flareiac.config.module_call import ModuleCall
from flareiac.config.resource_block import ResourceBlock
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Severity, warning
from flareiac.lang.syntax import BlockNode
from flareiac.model.conditions import ConditionResult, Moment, Owning, Status

_LATER = frozenset({codes.KNOWN_AFTER_APPLY.id, codes.COUNT_NOT_KNOWN.id, codes.DATA_NOT_READ.id})
"""The complaints about a data block that can be read once an apply has made what it asks for."""


def evaluate_check(call: ModuleCall, node: str) -> None:
    """Adds the answers of the assertions. Nothing that the check meets in the world is an error."""
    block, evaluation = call.module.checks[node.removeprefix("check.")], call.evaluation
    address = f"{call.prefix}{node}"
    if call.is_broken(node):
        return
    own = scoped_data(block)
    inner, trouble = _with_data(call, own, evaluation.diagnostics)
    if trouble is not None and trouble.code not in _LATER:
        evaluation.conditions.append(
            ConditionResult(
                owning=Owning.CHECK,
                address=address,
                moment=Moment.ALWAYS,
                status=Status.ERROR,
                message=trouble.line,
                problem=replace(trouble, severity=Severity.WARNING).at(address=address),
            )
        )
        return
    checked = Checked(owning=Owning.CHECK, address=address, scope=inner.scope)
    for nested in block.body.blocks_of("assert"):
        result = checked.result(nested, evaluation.diagnostics)
        if result is None:
            continue
        if result.status is Status.UNKNOWN:
            why = f"What {address} asserts depends on what an apply makes; it is looked at after that."
            subject = nested.header_span
            problem = warning(codes.CHECK_KNOWN_AFTER_APPLY, why, subject=subject, address=address)
            result = replace(result, problem=problem)
        evaluation.conditions.append(result)


def _with_data(
    call: ModuleCall, own: Mapping[str, BlockNode], diagnostics: Diagnostics
) -> tuple[ModuleCall, Diagnostic | None]:
    """Returns a call that sees the data block of the check too, and the reason why it could not be read.
    Mistakes in the block are complained about.
    """
    if not own:
        return call, None
    node = next(iter(own))  # of several, which were complained about, the first
    outer, scratch = call.evaluation, Diagnostics()
    evaluation = replace(
        outer,
        diagnostics=scratch,
        resources=dict(outer.resources),
        unread={},
        unasked=set(),
        bound=[],
    )
    inner = call.with_block(evaluation, node, own[node])
    ResourceBlock(inner, node).evaluate()
    problems = list(scratch)
    if unread := next(iter(evaluation.unread.values()), None):
        return inner, unread
    if later := next((each for each in problems if each.code in _LATER), None):
        return inner, later
    diagnostics.extend(problems)
    return inner, None
