"""The permitted content of the language's own blocks: everything else is a mistake. Pure."""

from flareiac.kernel import codes
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.lang.syntax import BlockNode
from flareiac.sdk.schema import Block


def check_shape(block: BlockNode, shape: Block, diagnostics: Diagnostics) -> None:
    """Complains about each attribute and each nested block that a block of this shape does not take."""
    attributes, blocks = tuple(shape.attributes), tuple(shape.blocks)
    block_type = with_article(block.type, capital=True)
    takes = (
        f"{block_type} block takes {', '.join((*attributes, *blocks))}."
        if attributes or blocks
        else f"{block_type} block is empty."
    )
    for attribute in block.body.attributes:
        if attribute.name not in attributes:
            diagnostics.error(
                codes.UNKNOWN_ATTRIBUTE,
                f'There is no attribute "{attribute.name}" here. '
                f"{did_you_mean(attribute.name, attributes).strip() or takes}",
                subject=attribute.name_span,
            )
    for nested in block.body.blocks:
        if nested.type not in blocks:
            diagnostics.error(
                codes.UNKNOWN_BLOCK,
                f'There is no block "{nested.type}" here. '
                f"{did_you_mean(nested.type, blocks).strip() or takes}",
                subject=nested.type_span,
            )
