"""``workspace`` blocks of the settings: what may be done to a workspace that is protected. Pure."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from flareiac.config.own_blocks import WORKSPACE
from flareiac.config.shape import check_shape
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.syntax import AttributeNode, BlockNode, Literal, ObjectConstructor, literal_text

_REVIEW: Final = "approvals"
_ENVIRONMENT: Final = "env:"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRule:
    """The rule for the workspaces whose names match ``pattern``. ``approvals``: the environment variable that
    names who approved a plan; empty where none is required.
    """

    pattern: str
    protected: bool
    approvals: str = ""

    def is_about(self, workspace: str) -> bool:
        return fnmatchcase(workspace, self.pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """The settings of one workspace."""

    protected: bool = False
    approvals: str = ""


def protection_of(rules: Sequence[WorkspaceRule], workspace: str) -> Protection:
    """A workspace is protected where one of the rules about it says so."""
    about = [rule for rule in rules if rule.is_about(workspace)]
    return Protection(
        protected=any(rule.protected for rule in about),
        approvals=next((rule.approvals for rule in about if rule.approvals), ""),
    )


def read_workspace_rules(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> tuple[WorkspaceRule, ...]:
    """The rules in ``workspace`` blocks, but for those that are wrong, which are reported."""
    return tuple(rule for block in blocks if (rule := _rule(block, diagnostics)) is not None)


def _rule(block: BlockNode, diagnostics: Diagnostics) -> WorkspaceRule | None:
    before = len(diagnostics)
    check_shape(block, WORKSPACE, diagnostics)
    if len(block.labels) != 1 or not block.labels[0]:
        why = 'It takes the name of a workspace, or a glob: workspace "prod*" { protected = true }.'
        diagnostics.error(codes.INVALID_PROTECTION, why, subject=block.header_span)
    protected = block.body.attribute("protected")
    value = protected.expr.value if protected is not None and isinstance(protected.expr, Literal) else None
    if not isinstance(value, bool):
        why = "protected is true or false, written out: it is read before variables have values."
        at = block.header_span if protected is None else protected.expr.span
        diagnostics.error(codes.INVALID_PROTECTION, why, subject=at)
    review = block.body.attribute("require_reviewed_plan")
    approvals = _approvals(review, diagnostics) if review is not None else ""
    if len(diagnostics) > before:
        return None
    return WorkspaceRule(pattern=block.labels[0], protected=value is True, approvals=approvals)


def _approvals(attribute: AttributeNode, diagnostics: Diagnostics) -> str:
    """The environment variable that ``{ approvals = "env:NAME" }`` names."""
    if isinstance(attribute.expr, ObjectConstructor) and len(attribute.expr.items) == 1:
        [member] = attribute.expr.items
        key = getattr(member.key, "name", None) or literal_text(member.key)
        text = literal_text(member.value) or ""
        if key == _REVIEW and text.startswith(_ENVIRONMENT) and len(text) > len(_ENVIRONMENT):
            return text.removeprefix(_ENVIRONMENT)
    why = (
        "It names the environment variable in which CI says who approved the plan: { approvals = "
        '"env:CI_APPROVED_BY" }. The state keeps the name as a record; it proves nothing.'
    )
    diagnostics.error(codes.INVALID_PROTECTION, why, subject=attribute.expr.span)
    return ""
