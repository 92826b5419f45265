"""One block of a resource type in a call of a module: its instances, or what it meant in an earlier run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from flareiac.config.conditions import Lifecycles
from flareiac.config.expand import Instance, instances
from flareiac.config.implied_connections import ImpliedConnections
from flareiac.config.kept_blocks import LaterSpans, Meaning, is_plain
from flareiac.config.meta import depends_on, lifecycle
from flareiac.config.module_call import ModuleCall
from flareiac.config.never_known import never_known, reason
from flareiac.config.own_blocks import META
from flareiac.config.owners import owner_of
from flareiac.config.resource_instance import ResourceInstance, Written
from flareiac.config.symbols import kind_and_name
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, render_key
from flareiac.kernel.data import Attributes, is_known
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import render_path
from flareiac.lang.decode import DecodedBody, decode_body
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode
from flareiac.model.desired import DesiredResource
from flareiac.sdk.owner import Owner
from flareiac.sdk.resource_type import Kind, ResourceType

_META = frozenset({*META.attributes, *META.blocks})


@dataclass(frozen=True, slots=True)
class _Unasked:
    """No one was asked about the data block of this address."""

    address: str


_Hidden: TypeAlias = Diagnostic | _Unasked | None
"""The reason that values are unknown that the world has, None if they are not."""


class ResourceBlock:
    """A block, by its node ``TYPE.NAME`` or ``data.TYPE.NAME``. The call has evaluated all nodes that the
    block mentions.
    """

    def __init__(self, call: ModuleCall, node: str) -> None:
        self._call, self._evaluation = call, call.evaluation
        self._node, self._block = node, call.module.resources[node]
        self._kind: ResourceType = self._evaluation.types[kind_and_name(node)[0]]
        self._first: tuple[str, ...] = ()

    def look_through(self) -> None:
        """Reports what is wrong in the block beside the references for which it cannot be evaluated."""
        body = self._block.body
        if body.attribute("count") is None and body.attribute("for_each") is None:
            self._decoded(self._call.scope, self._evaluation.diagnostics)

    def evaluate(self) -> None:
        """Adds the instances to the resources of the evaluation. The block has failed afterwards where one of
        them is wrong.
        """
        call, diagnostics = self._call, self._evaluation.diagnostics
        self._refuse_lifecycle()
        self._first = call.handled_first(self._node)
        if self._is_as_kept():
            return
        problems, hidden = Diagnostics(), self._hidden_by()
        expanded = instances(self._block, call.scope, problems)
        for problem in problems:
            self._complain(problem, hidden if problem.code == codes.COUNT_NOT_KNOWN.id else None)
        if expanded is None:
            call.failed.add(self._node)
            return
        call.instances[self._node] = [instance.key for instance in expanded]
        repeated = self._block.body.attribute("count") or self._block.body.attribute("for_each")
        if not expanded and repeated is None:
            self._evaluation.disabled.add(f"{call.prefix}{self._node}")
        before = len(diagnostics)
        declared = depends_on(self._block, diagnostics)
        if len(diagnostics) > before:
            call.unkept.add(self._node)
        mentioned = dict.fromkeys([*call.needs(self._node), *declared])
        needed = [node for node in mentioned if node in call.instances]
        for instance in expanded:
            if not self._add(instance, needed, hidden):
                call.failed.add(self._node)

    def _add(self, instance: Instance, needed: Sequence[str], hidden: _Hidden) -> bool:
        """Adds one instance, with the answers of its conditions; False where it is wrong or not known."""
        diagnostics = self._evaluation.diagnostics
        address = Address(self._kind.name, self._block.labels[-1], instance.key, self._call.path)
        lifecycles, answers = self._lifecycles, self._evaluation.conditions
        refusal = lifecycles.before(str(address), instance.scope, answers, diagnostics)
        before = len(diagnostics)
        if not self._add_checked(instance, address, needed, hidden, refusal):
            if refusal is not None:
                # The precondition says what is wrong with the values that the block could not take
                del diagnostics.items[before:]
                diagnostics.add(refusal)
            return False
        if lifecycles.has_postconditions:
            scope = instance.scope.child({"self": self._call.instance_value(address)})
            refusal = lifecycles.after(str(address), scope, answers, diagnostics)
            if refusal is not None and self._kind.kind is Kind.DATA and not self._evaluation.data.partial:
                self._evaluation.unread.setdefault(str(address), refusal)
        return True

    @property
    def _lifecycles(self) -> Lifecycles:
        return Lifecycles(self._block.body.blocks_of("lifecycle"))

    def _add_checked(
        self,
        instance: Instance,
        address: Address,
        needed: Sequence[str],
        hidden: _Hidden,
        refusal: Diagnostic | None,
    ) -> bool:
        block, kind, diagnostics = self._block, self._kind, self._evaluation.diagnostics
        before, later = len(diagnostics), len(diagnostics.later)
        decoded = self._decoded(instance.scope, diagnostics)
        _refuse_sensitive(decoded, kind, address, diagnostics)
        attributes = dict(decoded.attributes)
        if diagnostics.has_errors_since(before):  # what is in error is not known either
            return False
        if not is_known(attributes):
            # An error of another instance is reported once
            if hidden is not None or self._node not in self._call.failed:
                for problem in _unknown_attributes(decoded, block, address, self._call.module.locals):
                    self._complain(problem, hidden)
            return False
        ImpliedConnections(self._call, block).fill(kind.schema, attributes)
        owner = owner_of(block, instance.scope, diagnostics)
        if diagnostics.has_errors_since(before):
            return False
        bound = len(self._evaluation.bound)
        resource = ResourceInstance(
            call=self._call,
            address=address,
            needed=needed,
            first=self._first,
            written=Written(block, decoded),
            owner=owner or self._inherited,
            refusal=refusal,
        )
        start = resource.resolve(attributes)
        quiet = (len(diagnostics), len(diagnostics.later)) == (before, later)
        if quiet and self._can_be_kept(needed):
            self._keep(str(address), start, bound, owner)
        return not diagnostics.has_errors_since(before)

    @property
    def _inherited(self) -> Owner | None:
        """The owner of a block that names none."""
        return None if self._kind.declaring.is_outside else self._call.owner

    def _keep(self, address: str, start: tuple[str, ...], bound: int, owner: Owner | None) -> None:
        """Keeps the meaning of the block, of which the instance is the only one. ``bound``: how many places
        were known before it. ``owner``: the one that it names itself.
        """
        evaluation, block = self._evaluation, self._block
        resource = evaluation.resources[address]
        meaning = Meaning(
            start=start,
            attributes=resource.attributes,
            dependencies=resource.dependencies,
            bound=tuple(evaluation.bound[bound:]),
            has_lifecycle=bool(block.body.blocks_of("lifecycle")),
            owner=owner,
        )
        evaluation.kept.add(
            block, self._kept_as(address), self._kind.canonical, meaning, self._call.surroundings
        )
        # The spans of thousands of blocks, kept until a diagnostic needs them, would be a tenth of the memory
        evaluation.resources[address] = replace(resource, spans=self._later_spans())

    def _can_be_kept(self, needed: Sequence[str]) -> bool:
        """Returns True if the block means the same in each run in which nothing changes that it names."""
        call, types = self._call, self._evaluation.types
        pure = frozenset(function.name for function in self._evaluation.registry.functions)
        return (
            self._kind.declaring.follows_from_text
            and not self._first
            and self._node not in call.unkept
            and all(call.instances[node] == [None] for node in needed)
            and is_plain(self._block, pure, lambda root: root in types)
        )

    def _is_as_kept(self) -> bool:
        """Takes over what the block meant in an earlier run, where it means the same by its text and by what
        it names.
        """
        call, evaluation, block, kind = self._call, self._evaluation, self._block, self._kind
        if not kind.declaring.follows_from_text or self._first:
            return False
        if any(call.instances.get(node) != [None] for node in call.needs(self._node)):
            return False
        address = Address(kind.name, block.labels[-1], None, call.path)
        meaning = evaluation.kept.find(block, self._kept_as(str(address)), kind.canonical, call.surroundings)
        if meaning is None:
            return False

        call.instances[self._node] = [None]
        evaluation.bound.extend(meaning.bound)
        evaluation.resources[str(address)] = DesiredResource(
            address=address,
            provider=evaluation.registry.provider_of[address.type],
            kind=kind.kind,
            attributes=self._as_recorded(str(address), meaning.attributes),
            dependencies=meaning.dependencies,
            lifecycle=lifecycle(
                block if meaning.has_lifecycle else None, kind.schema, call.scope, evaluation.diagnostics
            ),
            owner=meaning.owner or self._inherited,
            span=block.header_span,
            spans=self._later_spans(),
        )
        return True

    def _kept_as(self, address: str) -> str:
        """The key of what is kept: names that the block does not write follow from an earlier address."""
        first = self._evaluation.snapshot.named_after.get(address)
        return address if first is None else f"{address} after {first}"

    def _as_recorded(self, address: str, attributes: Attributes) -> Attributes:
        """The recorded attributes where the declared ones are the same: most are, and what is held once takes
        half the memory and is compared at once.
        """
        recorded = self._evaluation.recorded(address)
        if recorded is None or recorded.attributes != attributes:
            return attributes
        return recorded.attributes

    def _decoded(self, scope: Scope, diagnostics: Diagnostics) -> DecodedBody:
        return decode_body(self._block.body, self._kind.schema, scope, diagnostics, meta=_META)

    def _later_spans(self) -> LaterSpans:
        """Returns the spans of a plain block, which means the same in every scope."""
        return LaterSpans(lambda: self._decoded(self._call.scope, Diagnostics()).spans)

    def _complain(self, complaint: Diagnostic, hidden: _Hidden) -> None:
        """Says of an unknown value why it is unknown."""
        diagnostics = self._evaluation.diagnostics
        match hidden:
            case Diagnostic():
                diagnostics.add(hidden)
            case _Unasked(address) if not self._evaluation.data.partial:
                why = (
                    f"It comes from {address}, about which no one was asked (-refresh=none), and the state "
                    "does not hold what it was. Plan without -refresh=none."
                )
                code = codes.DATA_NOT_READ
                diagnostics.add(replace(complaint, code=code.id, summary=code.title, detail=why))
            case _Unasked():
                pass
            case None:
                diagnostics.add(complaint)

    def _hidden_by(self) -> _Hidden:
        """Returns the reason why something that the block mentions, itself or through others, was not read.
        Its values are unknown for that reason.
        """
        evaluation = self._evaluation
        seen: set[tuple[str, str]] = set()
        unasked: _Unasked | None = None
        stack = [(self._call, self._node)] if evaluation.unread or evaluation.unasked else []
        while stack:
            call, each = stack.pop()
            if (call.prefix, each) in seen:
                continue
            seen.add((call.prefix, each))
            for key in call.instances.get(each, ()):
                if (address := f"{call.prefix}{each}{render_key(key)}") in evaluation.unread:
                    return evaluation.unread[address]
                if address in evaluation.unasked:
                    unasked = unasked or _Unasked(address)
            stack.extend(call.behind(each))
        return unasked

    def _refuse_lifecycle(self) -> None:
        if self._kind.kind is Kind.DATA:
            self._lifecycles.refuse_for_data(self._evaluation.diagnostics)


def _refuse_sensitive(
    decoded: DecodedBody, kind: ResourceType, address: Address, diagnostics: Diagnostics
) -> None:
    for path in decoded.sensitive_paths:
        schema = kind.schema.attributes.get(str(path[0])) if path else None
        if schema is None or not schema.sensitive:
            diagnostics.error(
                codes.SENSITIVE_ATTRIBUTE,
                f"{render_path(path)} of {address} is sensitive. What resources are made of is kept in "
                "state and plan files, where no secret may be. Name the secret by reference instead.",
                subject=decoded.spans.get(path),
                address=str(address),
                attribute=path,
            )


def _unknown_attributes(
    decoded: DecodedBody, block: BlockNode, address: Address, local_values: Mapping[str, AttributeNode]
) -> Iterator[Diagnostic]:
    for name, value in decoded.attributes.items():
        if is_known(value):
            continue
        function = never_known(block.body.attribute(name) or block, local_values)
        detail = (
            f"{name} of {address} comes from something that does not exist yet, and a resource can only "
            "be planned from known values. Create the other one first (apply -target), or write the "
            "value out."
        )
        if function is not None:
            detail = f"{name} of {address} comes from {reason(function)}"
        yield error(
            codes.KNOWN_AFTER_APPLY,
            detail,
            subject=decoded.spans.get((name,), block.header_span),
            address=str(address),
            attribute=(name,),
        )
