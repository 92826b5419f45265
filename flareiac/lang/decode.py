"""Decodes a body as a schema says: plain data, the span of everything written, and where sensitive values
went.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from flareiac.kernel import codes
from flareiac.kernel.addresses import NAME_RULE, is_name
from flareiac.kernel.articles import with_article
from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference, is_known
from flareiac.kernel.diagnostics import Diagnostics, Related, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.numbers import exact_number, nearest_number
from flareiac.kernel.paths import Path
from flareiac.kernel.sources import Span
from flareiac.kernel.types import ANY, ListType, MapType, ObjectType, Type
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.dynamic import expand_dynamic
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode, Body, Node
from flareiac.lang.type_hints import hint
from flareiac.lang.unknown_keys import unknown_keys
from flareiac.lang.values import Value, contains_sensitive, sensitive_paths, to_data
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedBody:
    """``attributes``: every attribute of the schema by name (None when absent or null) and every nested block
    by its name.

    ``spans``: where each attribute's value and each block's header stands; ``sensitive_paths``: what must
    never be shown.
    """

    attributes: Attributes
    spans: Mapping[Path, Span]
    sensitive_paths: tuple[Path, ...]


class SpanIndex(Mapping[Path, Span]):
    """Spans by path, computed when asked for: most are never."""

    def __init__(self) -> None:
        self._places: dict[Path, tuple[Node, int, int]] = {}

    def put(self, path: Path, node: Node, start: int, end: int) -> None:
        self._places[path] = (node, start, end)

    def __getitem__(self, path: Path) -> Span:
        node, start, end = self._places[path]
        return node.origin.span(start, end)

    def __iter__(self) -> Iterator[Path]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def decode_body(
    body: Body, schema: Block, scope: Scope, diagnostics: Diagnostics, *, meta: frozenset[str] = frozenset()
) -> DecodedBody:
    """The plain data of a body. ``meta`` names attributes and blocks that the caller reads itself. Never
    raises for user text.
    """
    decoder = _Decoder(diagnostics)
    attributes = decoder.body(body, schema, scope, (), meta)
    return DecodedBody(attributes=attributes, spans=decoder.spans, sensitive_paths=tuple(decoder.sensitive))


_ScopedBlock: TypeAlias = tuple[BlockNode, Scope]
"""A block, and the scope of what is in it."""


class _Decoder:
    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.spans = SpanIndex()
        self.sensitive: list[Path] = []

    def body(
        self, body: Body, schema: Block, scope: Scope, path: Path, meta: frozenset[str] = frozenset()
    ) -> Attributes:
        out: Attributes = {}
        written = {attribute.name: attribute for attribute in body.attributes if attribute.name not in meta}
        for name, attribute in schema.attributes.items():
            node = written.pop(name, None)
            out[name] = None if node is None else self.attribute(node, attribute, scope, (*path, name))
            if node is None and attribute.required:
                meaning = f" {attribute.description.rstrip('.')}." if attribute.description else ""
                self.missing(codes.MISSING_ATTRIBUTE, body, f'"{name}" is required.{meaning}', (*path, name))
        for unknown in written.values():
            self.unknown_attribute(unknown, schema, path, meta)
        blocks = self.blocks_by_type(body, schema, scope, meta, path)
        for name, nested in schema.blocks.items():
            out[name] = self.nested(name, nested, blocks.get(name, []), body, path)
        self.groups(body, schema, out, path)
        return out

    # Attributes

    def attribute(self, node: AttributeNode, schema: Attribute, scope: Scope, path: Path) -> Data:
        self.spans.put(path, node, node.expr.start, node.expr.end)
        before = len(self.diagnostics)
        value = evaluate(node.expr, scope, self.diagnostics)
        if len(self.diagnostics) > before and value.is_unknown:
            return UNKNOWN
        unknown = tuple(unknown_keys(node, value, schema, path))
        if unknown:
            self.diagnostics.extend(unknown)
            return UNKNOWN
        try:
            value = convert(value, schema.type)
        except ConversionError as error:
            meant = hint(str(path[-1]), value, schema, error.path)
            self.complain(codes.WRONG_TYPE, f"{path[-1]}: {error}.{meant}", node, path)
            return UNKNOWN
        return self.checked(node, schema, value, path)

    def checked(self, node: AttributeNode, schema: Attribute, value: Value, path: Path) -> Data:
        hidden = schema.sensitive or contains_sensitive(value)
        if schema.sensitive and value.raw is not None:
            self.sensitive.append(path)
        elif hidden:
            self.sensitive.extend(sensitive_paths(value, path))
        data = to_data(value, exact_number if schema.exact else nearest_number)
        if data is None and schema.required:
            detail = f'"{path[-1]}" is required and must not be null.'
            self.complain(codes.MISSING_ATTRIBUTE, detail, node, path)
        # Validators judge values that are written out; the type of a reference says which resources it may
        # name.
        if _has_nul(data):
            detail = f"{path[-1]}: the character U+0000 cannot be part of a text here."
            self.complain(codes.INVALID_VALUE, detail, node, path)
        if (place := _null_element(data, schema.type)) is not None:
            detail = f"{path[-1]}{place} is null. Leave it out: [for x in ... : x if x != null]."
            self.complain(codes.INVALID_VALUE, detail, node, path)
            return UNKNOWN
        if data is None or not is_known(data) or isinstance(data, Reference):
            return data
        for validator in schema.validators:
            wrong = validator(data)
            if wrong is not None:
                text = "The value is sensitive, so that the reason is not shown." if hidden else wrong
                self.complain(codes.INVALID_VALUE, f"{path[-1]}: {text}", node, path)
        return data

    def complain(self, code: Code, detail: str, node: AttributeNode, path: Path) -> None:
        self.diagnostics.error(code, detail, subject=node.expr.span, context=node.span, attribute=path)

    def unknown_attribute(self, node: AttributeNode, schema: Block, path: Path, meta: frozenset[str]) -> None:
        if node.name in schema.blocks:
            detail = f'"{node.name}" is a block: write {node.name} {{ ... }} without an equals sign.'
        elif node.name in schema.instead:
            detail = f'There is no attribute "{node.name}". {schema.instead[node.name]}'
        else:
            detail = _nothing("attribute", node.name, schema.attributes, meta)
            if schema.blocks:
                detail += f" Blocks here: {', '.join(schema.blocks)}."
        place = (*path, node.name)
        self.diagnostics.error(codes.UNKNOWN_ATTRIBUTE, detail, subject=node.name_span, attribute=place)

    def missing(self, code: Code, body: Body, detail: str, path: Path) -> None:
        self.diagnostics.error(
            code, detail, subject=body.origin.span(body.start, body.start + 1), attribute=path
        )

    # Blocks

    def blocks_by_type(
        self, body: Body, schema: Block, scope: Scope, meta: frozenset[str], path: Path
    ) -> dict[str, list[_ScopedBlock]]:
        out: dict[str, list[_ScopedBlock]] = {}
        for node in body.blocks:
            written: list[_ScopedBlock] = [(node, scope)] if node.type not in meta else []
            if written and node.type == "dynamic" and "dynamic" not in schema.blocks:
                written = expand_dynamic(node, scope, self.diagnostics)
            for scoped_block in written:
                if self.known_block(scoped_block[0], schema, path, meta):
                    out.setdefault(scoped_block[0].type, []).append(scoped_block)
        return out

    def known_block(self, node: BlockNode, schema: Block, path: Path, meta: frozenset[str]) -> bool:
        if node.type in schema.blocks:
            return True
        detail = _nothing("block", node.type, schema.blocks, meta)
        if node.type in schema.instead:
            detail = f'There is no block "{node.type}". {schema.instead[node.type]}'
        if node.type in schema.attributes:
            detail = f'"{node.type}" is an attribute: write {node.type} = ... with an equals sign.'
        place = (*path, node.type)
        self.diagnostics.error(codes.UNKNOWN_BLOCK, detail, subject=node.type_span, attribute=place)
        return False

    def nested(
        self, name: str, nested: NestedBlock, scoped_blocks: list[_ScopedBlock], body: Body, path: Path
    ) -> Data:
        if nested.required and not scoped_blocks:
            wanted = with_article(f'"{name}"', capital=True)
            self.missing(
                codes.MISSING_BLOCK,
                body,
                f"{wanted} block is required. {nested.block.description}",
                (*path, name),
            )
        match nested.nesting:
            case Nesting.SINGLE:
                return self.single(name, nested, scoped_blocks, path)
            case Nesting.LIST:
                return [
                    self.one(node, nested, scope, (*path, name, index), labels=0)
                    for index, (node, scope) in enumerate(scoped_blocks)
                ]
            case Nesting.MAP:
                return self.by_label(name, nested, scoped_blocks, path)

    def one(
        self, node: BlockNode, nested: NestedBlock, scope: Scope, path: Path, *, labels: int
    ) -> Attributes:
        if len(node.label_nodes) != labels:
            wants = "one label" if labels else "no label"
            example = f'{node.type} "name" {{ ... }}' if labels else f"{node.type} {{ ... }}"
            self.diagnostics.error(
                codes.WRONG_LABELS,
                f"{with_article(node.type, capital=True)} block has {wants}: {example}.",
                subject=node.header_span,
            )
        self.spans.put(path, node, node.start, node.header_end)
        return self.body(node.body, nested.block, scope, path)

    def single(self, name: str, nested: NestedBlock, scoped_blocks: list[_ScopedBlock], path: Path) -> Data:
        if not scoped_blocks:
            return None
        (first, scope), *others = scoped_blocks
        for node, _ in others:
            detail = f'There are several "{name}" blocks. Put everything into one block.'
            self.second(codes.ONE_BLOCK_ALLOWED, detail, first, node.header_span)
        return self.one(first, nested, scope, (*path, name), labels=0)

    def second(self, code: Code, detail: str, first: BlockNode, place: Span) -> None:
        related = (Related(span=first.header_span, message="The first one."),)
        self.diagnostics.error(code, detail, subject=place, related=related)

    def by_label(self, name: str, nested: NestedBlock, scoped_blocks: list[_ScopedBlock], path: Path) -> Data:
        out: dict[str, Attributes] = {}
        places: dict[str, BlockNode] = {}
        for node, scope in scoped_blocks:
            label = node.labels[0] if node.label_nodes else ""
            span = node.label_nodes[0].span if node.label_nodes else node.type_span
            if places.setdefault(label, node) is not node:
                there = f'There is already {with_article(name)} "{label}".'
                detail = f"{there} Each {name} block here needs a label of its own."
                self.second(codes.DUPLICATE_LABEL, detail, places[label], span)
                continue
            if not nested.any_label and node.label_nodes and not is_name(label):
                detail = f'"{label}" cannot be the name of {with_article(name)} block. {NAME_RULE}'
                self.diagnostics.error(codes.INVALID_BLOCK_NAME, detail, subject=span)
            out[label] = self.one(node, nested, scope, (*path, name, label), labels=1)
        return out

    def groups(self, body: Body, schema: Block, out: Attributes, path: Path) -> None:
        for group in schema.exactly_one_of:
            given = [name for name in group if out.get(name) not in (None, [], {})]
            names = ", ".join(f'"{name}"' for name in group)
            if not given:
                self.missing(codes.CHOICE_OF_SETTINGS, body, f"Write exactly one of {names}.", path)
            elif len(given) > 1:
                both = " and ".join(f'"{name}"' for name in given)
                self.diagnostics.error(
                    codes.CHOICE_OF_SETTINGS,
                    f"{both} exclude each other. Write exactly one of {names}.",
                    subject=_written(body, given[1]),
                    attribute=path,
                )


def _null_element(data: Data, kind: Type, place: str = "") -> str | None:
    """The place of the first null in a list whose elements have a type; None where there is none."""
    parts: Iterable[tuple[str, Data, Type]] = ()
    match kind:
        case ListType(element=element) if isinstance(data, list):
            if element != ANY and None in data:
                return f"{place}[{data.index(None)}]"
            parts = ((f"{place}[{at}]", member, element) for at, member in enumerate(data))
        case MapType(element=element) if isinstance(data, dict):
            parts = ((f"{place}.{name}", member, element) for name, member in data.items())
        case ObjectType(attributes=attributes) if isinstance(data, dict):
            parts = ((f"{place}.{name}", data.get(name), attribute) for name, attribute in attributes.items())
        case _:
            pass
    null_places = (_null_element(part, inner, where) for where, part, inner in parts)
    return next((null_place for null_place in null_places if null_place is not None), None)


def _has_nul(data: Data) -> bool:
    """Returns True where a text in the data holds U+0000. File systems, catalogs and Kafka refuse it, each
    with an error of its own.
    """
    match data:
        case str():
            return "\x00" in data
        case dict():
            return any("\x00" in name or _has_nul(member) for name, member in data.items())
        case list() | tuple():
            return any(map(_has_nul, data))
        case _:
            return False


def _nothing(what: str, name: str, here: Collection[str], meta: frozenset[str]) -> str:
    """There is no attribute or block of this name: what may be meant, or what there is."""
    hint = did_you_mean(name, [*here, *sorted(meta)]).strip()
    listed = f"{what.title()}s here: {', '.join(here) or 'none'}."
    return f'There is no {what} "{name}". {hint or listed}'


def _written(body: Body, name: str) -> Span:
    """The span at which an attribute or block of a body begins."""
    if attribute := body.attribute(name):
        return attribute.name_span
    return next((block.type_span for block in body.blocks_of(name)), body.span)
