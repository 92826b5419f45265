"""The meta-argument ``owner`` of a block, and that of the project. Pure."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.data import Data, is_known
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode
from flareiac.lang.values import contains_sensitive, to_data
from flareiac.sdk.owner import Owner

OWNER: Final = "owner"
LONGEST: Final = 200
"""Characters of a name or a contact: both stand in a line of a plan and in a cell of a report."""
_PARTS: Final = ("name", "contact")
_TAKES: Final = (
    'Write owner = "data platform", or an object with name and contact: '
    'owner = { name = "data platform", contact = "#data-platform" }.'
)


def owner_of(block: BlockNode, scope: Scope, diagnostics: Diagnostics) -> Owner | None:
    """The owner that a block names itself; None where it names none, or none that makes sense."""
    attribute = block.body.attribute(OWNER)
    if attribute is None:
        return None
    before = len(diagnostics)
    value = evaluate(attribute.expr, scope, diagnostics)
    if len(diagnostics) > before:
        return None
    if contains_sensitive(value):
        why = "The owner is sensitive. Plans, reports and the state show it: name somebody who may be known."
        diagnostics.error(codes.SENSITIVE_ATTRIBUTE, why, subject=attribute.expr.span)
        return None
    return _owner(to_data(value), attribute, diagnostics)


def owner_of_project(blocks: Sequence[BlockNode], scope: Scope, diagnostics: Diagnostics) -> Owner | None:
    """The owner in the ``flareiac`` blocks, which holds for every block that names none."""
    naming = [block for block in blocks if block.body.attribute(OWNER) is not None]
    for block in naming[1:]:
        attribute = block.body.attribute(OWNER)
        assert attribute is not None
        why = "A project has one owner, and another flareiac block names it. Remove one of the two."
        diagnostics.error(codes.INVALID_OWNER, why, subject=attribute.name_span)
    return owner_of(naming[0], scope, diagnostics) if naming else None


def _owner(data: Data, attribute: AttributeNode, diagnostics: Diagnostics) -> Owner | None:
    if data is None:
        return None
    owner, why = None, ""
    match data:
        case _ if not is_known(data):
            why = (
                "Its value is not known when it is read: that of the project before locals and blocks, that "
                "of a block before anything is created. Write it out, or take it from a variable."
            )
        case str():
            owner, why = _checked(data, None)
        case dict():
            strange = next((name for name in data if name not in _PARTS), None)
            if strange is None:
                owner, why = _checked(data.get("name"), data.get("contact"))
            else:
                why = f'An owner has no "{strange}".{did_you_mean(strange, _PARTS)} {_TAKES}'
        case _:
            why = f"That is neither a text nor an object. {_TAKES}"
    if why:
        diagnostics.error(codes.INVALID_OWNER, why, subject=attribute.expr.span)
    return owner


def _checked(name: Data, contact: Data) -> tuple[Owner | None, str]:
    """The owner, or else what is wrong with its parts."""
    if not isinstance(name, str) or not name.strip() or not isinstance(contact, str | None):
        return None, f"The name of an owner is a text that is not empty, and its contact is a text. {_TAKES}"
    if len(name) > LONGEST or len(contact or "") > LONGEST:
        return None, f"A name and a contact have at most {LONGEST} characters each."
    return Owner(name=name, contact=contact or ""), ""
