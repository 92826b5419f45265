"""The ``moved`` blocks of a configuration: which recorded address becomes which other one. Pure.

The rules are Terraform's: a block of a module speaks of each call of that module; without keys on either end
all instances move; ``count`` that begins or ends moves instance 0 by itself; an address that is taken is left
alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, TypeAlias

from flareiac.config.own_blocks import MOVED
from flareiac.config.shape import check_shape
from flareiac.config.written_address import written_address
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, ModuleStep, parse_address, parse_module
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Related, did_you_mean, error, warning
from flareiac.kernel.graph import Cycle, topological
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Span
from flareiac.lang.references import literal_key
from flareiac.lang.syntax import AttributeNode, BlockNode

End: TypeAlias = Address | tuple[ModuleStep, ...]
"""One end of a move, relative to the module of its block: a resource, or a call of a module."""
_HOW: Final = (
    "It takes two addresses: from = table.old and to = table.new, or from = module.old and to = module.new."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveBlock:
    """One ``moved`` block. ``site``: the names of the calls that lead to its module; ``keeps_keys``: it is
    about all instances.
    """

    site: tuple[str, ...]
    source: End
    target: End
    span: Span | None

    @property
    def keeps_keys(self) -> bool:
        return _key(self.source) is None and _key(self.target) is None

    @property
    def is_of_module(self) -> bool:
        return isinstance(self.source, tuple)

    def moved(self, address: Address) -> Address | None:
        """The new address of what has this one; None where the block is about something else."""
        inside = len(self.site)
        around, rest = address.module[:inside], address.module[inside:]
        if tuple(step.name for step in around) != self.site:
            return None
        if isinstance(self.source, Address):
            assert isinstance(self.target, Address), "both ends are of one kind"
            key = address.key if self.keeps_keys else self.source.key
            if replace(address, module=rest) != replace(self.source, key=key):
                return None
            new = self.target if not self.keeps_keys else replace(self.target, key=key)
            return replace(new, module=(*around, *self.target.module))
        assert isinstance(self.target, tuple), "both ends are of one kind"
        deep = len(self.source)
        if len(rest) < deep:
            return None
        key = rest[deep - 1].key if self.keeps_keys else self.source[-1].key
        if rest[:deep] != (*self.source[:-1], replace(self.source[-1], key=key)):
            return None
        last = self.target[-1] if not self.keeps_keys else replace(self.target[-1], key=key)
        return replace(address, module=(*around, *self.target[:-1], last, *rest[deep:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The blocks of one module: by address, with the ``moved`` ones. ``site``: see ``MoveBlock``."""

    site: tuple[str, ...]
    resources: Mapping[str, BlockNode]
    moved: Sequence[BlockNode]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """The moves of a configuration in a state. ``pairs``: new addresses by old ones."""

    blocks: tuple[MoveBlock, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[Diagnostic, ...] = ()
    """A warning for each address that stays, since its new one is taken."""

    def check_declared(self, declared: Mapping[str, Span | None], diagnostics: Diagnostics) -> None:
        """Complains about what has moved away and is declared all the same. ``declared``: the instances by
        address, with the span of the block.
        """
        if not self.blocks:
            return
        index = _Index(self.blocks)
        complained: list[Span | None] = []
        for text, span in declared.items():
            address = parse_address(text)
            if address is None or span is None:
                continue
            for block in index.about(address):
                new = block.moved(address)
                if new is not None and new != address and block.span not in complained:
                    complained.append(block.span)
                    diagnostics.add(_still_declared(block, text, str(new), span))


def moves_of(
    modules: Iterable[Declared],
    known: Collection[str],
    types: Collection[str],
    diagnostics: Diagnostics,
) -> Moves:
    """The moves of all modules of a configuration. ``known``: the addresses in the state; ``types``: the
    types of resources.
    """
    declared = list(modules)
    problems, blocks = Diagnostics(), list[MoveBlock]()
    for each in declared:
        for node in each.moved:
            if (block := _block(node, each.site, types, problems)) is not None:
                blocks.append(block)
    _check_together(blocks, problems)
    # A module that is called twice has each of its problems once
    once: dict[tuple[str, Span | None], Diagnostic] = {}
    for problem in problems:
        once.setdefault((problem.code, problem.subject), problem)
    diagnostics.extend(once.values())
    if len(problems):
        return Moves(blocks=tuple(blocks))
    return _in_state(blocks, declared, known)


def _block(
    node: BlockNode, site: tuple[str, ...], types: Collection[str], diagnostics: Diagnostics
) -> MoveBlock | None:
    before = len(diagnostics)
    check_shape(node, MOVED, diagnostics)
    source, target = node.body.attribute("from"), node.body.attribute("to")
    if source is None or target is None:
        if len(diagnostics) == before:
            diagnostics.error(codes.INVALID_MOVED, _HOW, subject=node.header_span)
        return None
    old, new = (_end(attribute, types, diagnostics) for attribute in (source, target))
    if old is None or new is None:
        return None
    match old, new:
        case Address(), Address() if old.type != new.type:
            why = f"{old} is {with_article(old.type)} and {new} would be {with_article(new.type)}. "
            way_out = (
                "A resource keeps its type. Declare the new one beside the old one, or remove the block."
            )
            diagnostics.error(codes.INVALID_MOVED, why + way_out, subject=target.expr.span)
            return None
        case (Address(), Address()) | (tuple(), tuple()):
            block = MoveBlock(site=site, source=old, target=new, span=node.header_span)
        case _:
            why = "One of from and to is a module, and the other is a resource. Both have to be of one kind."
            diagnostics.error(codes.INVALID_MOVED, why, subject=node.header_span)
            return None
    if block.source == block.target:
        why = f"from and to are the same address, {_text((), block.source)}. Remove the block."
        diagnostics.error(codes.INVALID_MOVED, why, subject=target.expr.span)
        return None
    return block


def _end(attribute: AttributeNode, types: Collection[str], diagnostics: Diagnostics) -> End | None:
    text = written_address(attribute.expr, literal_key)
    end = None if text is None else parse_module(text) or parse_address(text)
    if end is None:
        why = (
            f"{attribute.name} is no address of a resource or module. An address is written out: "
            'table.orders, table.orders["eu"], module.sales, module.sales.table.orders.'
        )
        diagnostics.error(codes.INVALID_MOVED, why, subject=attribute.expr.span)
        return None
    if isinstance(end, Address) and end.type.startswith("data.") and attribute.name == "from":
        why = (
            f"{end} is a data block. It is only read, and the state holds nothing of it: rename it, and the "
            "references to it. Remove the moved block."
        )
        diagnostics.error(codes.INVALID_MOVED, why, subject=attribute.expr.span)
        return None
    if isinstance(end, Address) and end.type not in types:
        known = [name for name in types if "." not in name]
        why = f'There is no resource type "{end.type}".{did_you_mean(end.type, known)}'
        diagnostics.error(codes.INVALID_MOVED, why, subject=attribute.expr.span)
        return None
    return end


def _check_together(blocks: Sequence[MoveBlock], diagnostics: Diagnostics) -> None:
    """Complains about blocks that contradict each other."""
    sources: dict[tuple[tuple[str, ...], End, bool], MoveBlock] = {}
    targets: dict[tuple[tuple[str, ...], End, bool], MoveBlock] = {}
    before = len(diagnostics)
    for block in blocks:
        first = sources.setdefault((block.site, block.source, block.keeps_keys), block)
        other = targets.setdefault((block.site, block.target, block.keeps_keys), block)
        old, new = _text(block.site, block.source), _text(block.site, block.target)
        if first.target != block.target:
            what = (
                f"{old} has moved to {_text(block.site, first.target)} by another moved block, and to {new} "
                "by this one. An address moves to one other address. Remove one of the blocks."
            )
            diagnostics.add(_contradiction(what, block, first))
        elif other.source != block.source:
            what = (
                f"{_text(block.site, other.source)} has moved to {new} by another moved block, and {old} has "
                "moved there by this one. One address moves to another. Remove one of the blocks."
            )
            diagnostics.add(_contradiction(what, block, other))
    if len(diagnostics) == before:
        _check_circles(blocks, diagnostics)


def _contradiction(what: str, block: MoveBlock, first: MoveBlock) -> Diagnostic:
    related = (Related(span=first.span, message="the other moved block"),) if first.span else ()
    return error(codes.AMBIGUOUS_MOVE, what, subject=block.span, related=related)


def _check_circles(blocks: Sequence[MoveBlock], diagnostics: Diagnostics) -> None:
    index = _Index(blocks)
    names = {id(block): str(number) for number, block in enumerate(blocks)}
    following = {
        names[id(block)]: [
            names[id(after)] for after in index.after(block) if after is not block and _leads_to(block, after)
        ]
        for block in blocks
    }
    try:
        topological(following)
    except Cycle as cycle:
        around = [blocks[int(name)] for name in dict.fromkeys(cycle.nodes)]
        steps = ", ".join(
            f"{_text(block.site, block.source)} to {_text(block.site, block.target)}" for block in around
        )
        why = (
            f"These moved blocks lead back to where they begin: {steps}. The last of a chain has to lead to "
            "an address that no other block moves away from. Remove one of them."
        )
        diagnostics.error(codes.MOVE_CIRCLE, why, subject=around[0].span)


_Place: TypeAlias = tuple[tuple[str, ...], str, str]
"""The names of the calls around a resource, its type and its name: without any key."""


class _Index:
    """The blocks by what they move: thousands of resources may move to other modules at once."""

    def __init__(self, blocks: Iterable[MoveBlock]) -> None:
        self._all = list(blocks)
        self._of_modules = [block for block in self._all if block.is_of_module]
        self._of_resources: dict[_Place, list[MoveBlock]] = {}
        for block in self._all:
            if isinstance(block.source, Address):
                self._of_resources.setdefault(_place(block.source, block.site), []).append(block)

    def about(self, address: Address) -> Iterator[MoveBlock]:
        """The blocks that may move an absolute address: those about it before those about a module around
        it, and those about one instance before those about all.
        """
        own = self._of_resources.get(_place(address, ()), ())
        for several in (own, self._of_modules):
            yield from sorted(several, key=lambda block: block.keeps_keys)

    def after(self, block: MoveBlock) -> Iterable[MoveBlock]:
        """The blocks that may move on what a block has moved."""
        if isinstance(block.target, tuple):
            return self._all
        return [*self._of_resources.get(_place(block.target, block.site), ()), *self._of_modules]


def _place(address: Address, site: tuple[str, ...]) -> _Place:
    return ((*site, *(step.name for step in address.module)), address.type, address.name)


def _leads_to(block: MoveBlock, after: MoveBlock) -> bool:
    """Returns True if something that one block has moved may be moved by another one."""
    target, source = _pattern(block, block.target), _pattern(after, after.source)
    short, long = sorted((target, source), key=len)
    if len(short) < len(long) and short[-1][0] == "resource":
        return False
    return all(
        one[:2] == other[:2] and (one[2] == other[2] or _ANY in (one[2], other[2]))
        for one, other in zip(short, long, strict=False)
    )


_ANY: Final = object()


def _pattern(block: MoveBlock, end: End) -> list[tuple[str, str, object]]:
    """The steps of an absolute address, each with its key, which may be any."""
    steps = end if isinstance(end, tuple) else end.module
    pattern: list[tuple[str, str, object]] = [("module", name, _ANY) for name in block.site]
    pattern += [("module", step.name, step.key) for step in steps]
    if isinstance(end, Address):
        pattern.append(("resource", f"{end.type}.{end.name}", _ANY if block.keeps_keys else end.key))
    elif block.keeps_keys:
        pattern[-1] = (*pattern[-1][:2], _ANY)
    return pattern


def _in_state(blocks: Sequence[MoveBlock], declared: Iterable[Declared], known: Collection[str]) -> Moves:
    """Follows the blocks, and what a ``count`` implies, from each address in the state."""
    index, counts = _Index(blocks), _Counts(declared)
    spoken_of = {
        _place(end, block.site)
        for block in blocks
        for end in (block.source, block.target)
        if isinstance(end, Address)
    }
    wanted: dict[str, tuple[list[MoveBlock], Address]] = {}
    for text in known:
        address = parse_address(text) if blocks or counts.may_change(text) else None
        if address is None:
            continue
        steps, new = _followed(address, index)
        if new == address and _place(address, ()) not in spoken_of:
            new = counts.now(address)
        if new != address:
            wanted[text] = steps, new
    pairs, targets = {}, set[str]()
    # The last step of a chain comes first, as in Terraform: what waits behind it stays where it is
    for text, (_, new) in sorted(wanted.items(), key=lambda each: (len(each[1][0]), each[0])):
        if str(new) not in targets:
            targets.add(str(new))
            pairs[text] = str(new)
    while stuck := [old for old, new in pairs.items() if new in known and new not in pairs]:
        for old in stuck:
            del pairs[old]
    refused = tuple(
        _taken(text, str(new), steps[0])
        for text, (steps, new) in sorted(wanted.items())
        if steps and text not in pairs
    )
    return Moves(blocks=tuple(blocks), pairs=pairs, refused=refused)


def _followed(address: Address, index: _Index) -> tuple[list[MoveBlock], Address]:
    """The blocks that move an address one after the other, each once, and where the last one leads."""
    steps: list[MoveBlock] = []
    at = address
    while step := next(
        ((block, new) for block in index.about(at) if block not in steps and (new := block.moved(at))), None
    ):
        steps.append(step[0])
        at = step[1]
    return steps, at


class _Counts:
    """The blocks with ``count``, and those without: where it begins or ends, instance 0 goes on."""

    def __init__(self, declared: Iterable[Declared]) -> None:
        self._blocks = {each.site: each.resources for each in declared}
        self._any_counts = any(map(_may_count, self._all()))

    def _all(self) -> Iterator[BlockNode]:
        for resources in self._blocks.values():
            yield from resources.values()

    def may_change(self, text: str) -> bool:
        """Returns False if an address certainly stays, without looking into any block."""
        return text.endswith("[0]") or (self._any_counts and not text.endswith("]"))

    def now(self, address: Address) -> Address:
        """The address of the same instance by the block as it is now."""
        if isinstance(address.key, str) or address.key not in (None, 0):
            return address
        site = tuple(step.name for step in address.module)
        block = self._blocks.get(site, {}).get(f"{address.type}.{address.name}")
        if block is None or (address.key is None and not _may_count(block)):
            return address
        is_counted = block.body.attribute("count") is not None
        if is_counted != (address.key is None) or block.body.attribute("for_each") is not None:
            return address
        return replace(address, key=0 if is_counted else None)


def _may_count(block: BlockNode) -> bool:
    """Returns False if a block has no ``count``, by its text alone: most bodies are never decoded."""
    origin = block.origin
    return origin.source.text.find("count", origin.base + block.start, origin.base + block.end) >= 0


def _taken(old: str, new: str, block: MoveBlock) -> Diagnostic:
    why = (
        f"{old} cannot become {new}: the state holds both. {old} stays, and this plan treats it as what has "
        "no block any more. To keep it, let it move to an address that is free; to forget it, run: "
        f"flareiac state rm '{old}'."
    )
    return warning(codes.MOVE_NOT_FREE, why, subject=block.span, address=old)


def _still_declared(block: MoveBlock, old: str, new: str, span: Span | None) -> Diagnostic:
    why = (
        f"{old} has a block, and by this moved block it has become {new}. Rename its block, or remove the "
        "moved block."
    )
    related = (Related(span=span, message=f"{old} is declared here"),) if span else ()
    return error(codes.MOVED_STILL_DECLARED, why, subject=block.span, related=related)


def _key(end: End) -> object:
    return end.key if isinstance(end, Address) else end[-1].key


def _text(site: tuple[str, ...], end: End) -> str:
    around = [f"module.{name}" for name in site]
    return ".".join([*around, str(end)] if isinstance(end, Address) else [*around, *map(str, end)])
