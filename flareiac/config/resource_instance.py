"""One instance of a resource in a call of a module: its canonical attributes, and what it depends on. Asks
systems where it is a ``data`` block, by the port of the evaluation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from flareiac.config.meta import lifecycle
from flareiac.config.module_call import ModuleCall
from flareiac.config.replace_triggers import replace_triggers
from flareiac.kernel.addresses import Address, block_address, parse_address, render_key
from flareiac.kernel.data import Attributes, Data, references
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.sources import Source, Span
from flareiac.lang.decode import DecodedBody
from flareiac.lang.inner_span import inner_span
from flareiac.lang.syntax import BlockNode
from flareiac.model.desired import DesiredResource, Lifecycle
from flareiac.model.references import reached_by_declaration
from flareiac.model.relocation import bound_places
from flareiac.sdk.owner import Owner
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.results import Present


@dataclass(frozen=True, slots=True)
class Written:
    """The block of an instance, and its body as it was decoded for this instance."""

    block: BlockNode
    decoded: DecodedBody


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInstance:
    """An instance, before its attributes are known. ``needed``: the blocks that its block mentions;
    ``first``: the addresses that come before it though its block mentions none of them itself. ``written``
    is None for an embedded connection.
    """

    call: ModuleCall
    address: Address
    needed: Sequence[str] = ()
    first: Sequence[str] = ()
    written: Written | None = None
    owner: Owner | None = None
    refusal: Diagnostic | None = None
    """The complaint of a precondition that does not hold: a data block is not read then."""

    def resolve(self, attributes: Attributes) -> tuple[str, ...]:
        """Adds the instance to the resources of the evaluation. Returns the addresses that it names."""
        evaluation, text = self.call.evaluation, str(self.address)
        kind, resources = evaluation.types[self.address.type], evaluation.resources
        problems = Diagnostics()
        named = references(attributes)
        start = [*named, *self._whole_blocks(named)]
        visible = {each: resources[each].resolved() for each in reached_by_declaration(start, resources)}
        evaluation.bound.extend(bound_places(text, attributes, str(evaluation.project.root)))
        named_after = evaluation.snapshot.named_after.get(text, "")
        label = (parse_address(named_after) or self.address).name
        decoded = Decoded(address=text, name=label, attributes=attributes, named_after=named_after)
        canonical = kind.canonical(decoded, visible, evaluation.project, problems)
        there: Present | None = None
        if kind.kind is Kind.DATA and not problems.has_errors:
            there = self._data(canonical, visible)
            canonical = canonical | there.attributes if there is not None else canonical
        self._report(problems, attributes)
        meant = references(canonical)
        direct = dict.fromkeys([*meant, *named, *self._whole_blocks(meant), *self._others(meant)])
        direct.pop(text, None)
        block = self.written.block if self.written else None
        resources[text] = DesiredResource(
            address=self.address,
            provider=evaluation.registry.provider_of[self.address.type],
            kind=kind.kind,
            attributes=canonical,
            dependencies=tuple(direct),
            lifecycle=self._lifecycle(block, kind),
            owner=self.owner,
            span=self._header,
            spans=self._spans,
            history=there.history if there is not None else None,
            members=there.members if there is not None else {},
        )
        return tuple(dict.fromkeys(start))

    def _lifecycle(self, block: BlockNode | None, kind: ResourceType) -> Lifecycle:
        known = lifecycle(block, kind.schema, self.call.scope, self.call.evaluation.diagnostics)
        if block is None:
            return known
        return replace(known, triggers=replace_triggers(block, self.address.key, self.call))

    @property
    def _header(self) -> Span | None:
        return self.written.block.header_span if self.written else None

    @property
    def _spans(self) -> Mapping[Path, Span]:
        return self.written.decoded.spans if self.written else {}

    def _data(self, asked: Attributes, visible: Mapping[str, Resolved]) -> Present | None:
        """Reads a data block; None where no system is asked, or none can tell."""
        evaluation, text = self.call.evaluation, str(self.address)
        if self.refusal is not None and not evaluation.data.partial:
            evaluation.unread[text] = self.refusal
            return None
        question = Question(
            provider=evaluation.registry.provider_of[self.address.type],
            type=self.address.type,
            request=ReadRequest(
                address=text, desired=asked, recorded=None, references=visible, cheap=False, history=True
            ),
        )
        answer = evaluation.data.read(question)
        if isinstance(answer, Diagnostic):
            evaluation.unread[text] = answer.at(subject=self._header, address=text)
            return None
        if answer is None:
            evaluation.unasked.add(text)
        return answer

    def _report(self, problems: Diagnostics, attributes: Attributes) -> None:
        """Passes on the problems that a type found, each with its place in the block."""
        text, spans, written = str(self.address), self._spans, self.written
        for problem in (*problems, *problems.later):
            place = _nearest(spans, problem.attribute) or self._header
            inner = _inner(written.block.origin.source, problem, spans, attributes) if written else None
            self.call.evaluation.diagnostics.add(problem.at(subject=inner or place, address=text))

    def _whole_blocks(self, named: Iterable[str]) -> list[str]:
        """All instances of the blocks that are mentioned, but of those of which definite instances
        (``named``) are referred to.
        """
        definite = set(map(block_address, named))
        prefix = self.call.prefix
        return [
            f"{prefix}{block}{render_key(key)}"
            for block in self.needed
            if f"{prefix}{block}" not in definite
            for key in self.call.instances[block]
        ]

    def _others(self, named: Iterable[str]) -> list[str]:
        """The addresses that come first, but for the other instances of blocks of which definite ones are
        referred to.
        """
        definite = set(map(block_address, named)) if self.first else set()
        return [address for address in self.first if block_address(address) not in definite]


def _nearest(spans: Mapping[Path, Span], path: Path) -> Span | None:
    """The span of the longest written part of an attribute path."""
    while path:
        if path in spans:
            return spans[path]
        path = path[:-1]
    return None


def _inner(
    source: Source, problem: Diagnostic, spans: Mapping[Path, Span], attributes: Attributes
) -> Span | None:
    """The place of a part of an attribute's text."""
    outer = spans.get(problem.attribute)
    value: Data = attributes
    if problem.within is None or outer is None or outer.path != source.path:
        return None
    for step in problem.attribute:
        value = value[step] if isinstance(value, dict) else None
    return inner_span(source, outer, value, *problem.within) if isinstance(value, str) else None
