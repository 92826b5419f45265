"""Merges override files into the other files of a module: ``override.flare.hcl`` and
``*_override.flare.hcl``, in the order of their names. Pure.

The rules are Terraform's: an attribute replaces the one of that name; nested blocks replace all of their
type, but for ``lifecycle``, of which the attributes are merged; what overrides nothing is a mistake.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from flareiac.config.files import is_override
from flareiac.kernel import codes
from flareiac.kernel.data import digest
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.lang.syntax import AttributeNode, BlockNode, Body

_NEVER: Final = ("moved", "import", "removed")
_MERGED: Final = ("lifecycle",)


def with_overrides(bodies: Iterable[Body], diagnostics: Diagnostics) -> list[Body]:
    """The bodies of the files of a module, those of override files merged into the others."""
    primary, overriding = list[Body](), list[Body]()
    for body in bodies:
        (overriding if is_override(body.origin.source.path) else primary).append(body)
    if not overriding:
        return primary
    merging = _Merging(primary, diagnostics)
    for body in overriding:
        for block in body.blocks:
            merging.take(block)
    # What stands outside of a block is a mistake in every file
    loose = [_body(body, body.attributes, ()) for body in overriding if body.attributes]
    return [*merging.bodies(), *loose]


class _Merging:
    def __init__(self, primary: Sequence[Body], diagnostics: Diagnostics) -> None:
        self._bodies, self._diagnostics = primary, diagnostics
        self._blocks = [list(body.blocks) for body in primary]
        self._added: list[BlockNode] = []

    def bodies(self) -> Iterator[Body]:
        """The merged bodies."""
        for body, blocks in zip(self._bodies, self._blocks, strict=True):
            yield _body(body, body.attributes, tuple(blocks))
        if self._added:
            yield _body(self._added[0].body, (), tuple(self._added))

    def take(self, block: BlockNode) -> None:
        """Merges one block of an override file."""
        if block.type in _NEVER:
            why = f"{block.type} blocks stand in other files: an override file changes what these declare."
            self._diagnostics.error(codes.NOT_IN_OVERRIDES, why, subject=block.header_span)
        elif block.type == "locals":
            for attribute in block.body.attributes:
                self._take_local(attribute)
        elif block.type == "flareiac":
            self._take_settings(block)
        else:
            self._take_named(block)

    def _take_named(self, block: BlockNode) -> None:
        for blocks in self._blocks:
            for place, base in enumerate(blocks):
                if (base.type, base.labels) == (block.type, block.labels):
                    blocks[place] = merged(base, block)
                    return
        known = [_name(each) for blocks in self._blocks for each in blocks if each.type == block.type]
        self._complain(_name(block), known, block)

    def _take_local(self, attribute: AttributeNode) -> None:
        known: list[str] = []
        for blocks in self._blocks:
            for place, base in enumerate(blocks):
                if base.type != "locals":
                    continue
                if base.body.attribute(attribute.name) is not None:
                    blocks[place] = _with_body(base, (attribute,), (), attribute.origin.digest)
                    return
                known += [each.name for each in base.body.attributes]
        self._complain(attribute.name, known, attribute)

    def _take_settings(self, block: BlockNode) -> None:
        """Settings may stand in several blocks; where there is none, the override is the first."""
        types = {nested.type for nested in block.body.blocks}
        written = {attribute.name for attribute in block.body.attributes}
        for blocks in self._blocks:
            for place, base in enumerate(blocks):
                if base.type == "flareiac":
                    kept = (each for each in base.body.attributes if each.name not in written)
                    nested = (each for each in base.body.blocks if each.type not in types)
                    blocks[place] = replace(base, body=_body(base.body, tuple(kept), tuple(nested)))
        self._added.append(block)

    def _complain(self, name: str, known: Sequence[str], node: BlockNode | AttributeNode) -> None:
        span = node.header_span if isinstance(node, BlockNode) else node.name_span
        why = (
            f"No other file of this folder declares {name}, so that there is nothing to override."
            f"{did_you_mean(name, known)} Declare it in a file whose name does not end in _override."
        )
        self._diagnostics.error(codes.OVERRIDES_NOTHING, why, subject=span)


def merged(base: BlockNode, over: BlockNode) -> BlockNode:
    """A block with the attributes and nested blocks of another one in place of its own."""
    blocks: list[BlockNode] = []
    for nested in over.body.blocks:
        there = base.body.blocks_of(nested.type) if nested.type in _MERGED else ()
        blocks.append(merged(there[0], nested) if there else nested)
    return _with_body(base, over.body.attributes, blocks, over.origin.digest)


def _with_body(
    base: BlockNode, attributes: Sequence[AttributeNode], blocks: Sequence[BlockNode], text: str
) -> BlockNode:
    """``text``: the digest of the text that overrides; what is kept of a block is found by both."""
    over = {attribute.name: attribute for attribute in attributes}
    types = {block.type for block in blocks}
    kept = [over.pop(each.name, each) for each in base.body.attributes]
    nested = (*(each for each in base.body.blocks if each.type not in types), *blocks)
    body = _body(base.body, (*kept, *over.values()), nested)
    both = digest([base.origin.digest, text]) if base.origin.digest and text else ""
    return replace(base, origin=replace(base.origin, digest=both), body=body)


def _body(like: Body, attributes: tuple[AttributeNode, ...], blocks: tuple[BlockNode, ...]) -> Body:
    return Body(like.origin, like.start, like.end, attributes=attributes, blocks=blocks)


def _name(block: BlockNode) -> str:
    return ".".join([block.type, *block.labels])
