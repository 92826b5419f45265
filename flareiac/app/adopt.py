"""The use case of ``adopt``: writes what drifted into the files of the project, so that the next apply only
records it. Asks systems, reads the state, changes neither; the command writes the files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

from flareiac.app.drift import drift
from flareiac.app.plan import PlanRequest
from flareiac.app.workspace import Workspace
from flareiac.config.load import Configuration
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, parse_address
from flareiac.kernel.data import ABSENT, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, Severity, did_you_mean, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span
from flareiac.lang.json_text import is_json
from flareiac.lang.parse import parse_file
from flareiac.model.drift import DriftClass, DriftFinding
from flareiac.model.snapshot import Snapshot
from flareiac.render.block_text import declaration
from flareiac.render.drift import without_secrets
from flareiac.render.source_edits import CannotEdit, Edit, edited, edits_between
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.taking_over import with_value

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The new texts of files, by name. ``there`` is what the files say already, ``left`` what they cannot
    take over, and why. ``is_at_work``: another command is, so that nothing could be compared.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    there: tuple[str, ...] = ()
    left: tuple[Diagnostic, ...] = ()
    diagnostics: Diagnostics
    sources: Mapping[str, Source]
    is_at_work: bool = False


def adopt(workspace: Workspace, wanted: str, request: PlanRequest, *, timeout: float = 0.0) -> Adoption:
    """Finds the texts that take over what drifted of an address, or of an attribute of it
    (``TYPE.NAME.ATTRIBUTE``). ``timeout``: seconds to wait for another
    command. Raises ``Failure``, also where there is nothing to adopt.

    Each text was evaluated: it means what is there, and no other resource means anything else by it.
    """
    outcome = drift(workspace, request, timeout=timeout)
    if outcome.drift is None or outcome.diagnostics.has_errors:
        return Adoption(
            diagnostics=outcome.diagnostics, sources=outcome.sources, is_at_work=outcome.is_at_work
        )
    shown = without_secrets(outcome.drift, workspace.installed.registry.schemas)
    diagnostics = Diagnostics()
    configuration = workspace.load_configuration(workspace.load_state().snapshot, diagnostics)
    snapshot = configuration.snapshot
    everything = (*shown.findings, *(ignored.finding for ignored in shown.ignored))
    findings = _of(wanted, everything, snapshot)
    if diagnostics.has_errors:
        return Adoption(diagnostics=diagnostics, sources=configuration.sources)
    adopting = _Adopting(workspace, snapshot, configuration, _address(findings))
    left: list[Diagnostic] = []
    # A column that no one declares may be in what changed, such as the partitioning.
    for finding in sorted(findings, key=lambda each: each.kind is not DriftClass.UNMANAGED):
        refusal = adopting.take(finding)
        if refusal is not None:
            left.append(refusal)
    return Adoption(
        texts=adopting.texts,
        there=tuple(adopting.there),
        left=tuple(left),
        diagnostics=outcome.diagnostics,
        sources=configuration.sources,
    )


def _address(findings: Sequence[DriftFinding]) -> Address:
    parsed = parse_address(findings[0].address)
    assert parsed is not None, "what drifted is recorded under an address"
    return parsed


def _of(wanted: str, findings: Sequence[DriftFinding], snapshot: Snapshot) -> list[DriftFinding]:
    """The findings that ``wanted`` names. Raises ``Failure`` where there are none."""
    named = [each for each in findings if _names(wanted, each)]
    if named:
        return named
    address = max((each for each in snapshot.resources if _is_within(wanted, each)), key=len, default=None)
    if address is None:
        known = ", ".join(dict.fromkeys(each.address for each in findings))
        hint = f" These drifted: {known}." if known else did_you_mean(wanted, snapshot.resources)
        way_out = "Write an address, or one with an attribute behind it."
        why = f'The state has no resource for "{wanted}". {way_out}{hint}'
        raise Failure(error(codes.NOTHING_TO_ADOPT, why))
    others = [each.attribute for each in findings if each.address == address and each.attribute]
    rest = f" What drifted of it: {', '.join(others)}." if others else ""
    why = f"{wanted} is as it was recorded, so there is nothing to write.{rest}"
    raise Failure(error(codes.NOTHING_TO_ADOPT, why))


def _names(wanted: str, finding: DriftFinding) -> bool:
    if wanted == finding.address:
        return True
    whole = f"{finding.address}.{finding.attribute}"
    return wanted.startswith(f"{finding.address}.") and _is_within(whole, wanted)


def _is_within(place: str, outer: str) -> bool:
    """Returns True if a place is another one or something in it."""
    return place == outer or (place.startswith(outer) and place[len(outer)] in ".[")


class _Adopting:
    """The adoption of one resource: its block, and the texts so far."""

    def __init__(
        self, workspace: Workspace, snapshot: Snapshot, configuration: Configuration, address: Address
    ) -> None:
        self._workspace, self._snapshot, self._configuration = workspace, snapshot, configuration
        self._address = address
        resource = configuration.desired.resources.get(str(address))
        self._resource = resource
        self._attributes: Attributes = {} if resource is None else resource.attributes
        self.texts: dict[str, str] = {}
        self.there: list[str] = []

    @property
    def _type(self) -> ResourceType:
        return self._workspace.installed.registry.types[self._address.type]

    def take(self, finding: DriftFinding) -> Diagnostic | None:
        """Takes one finding over into the texts; the reason where that cannot be done."""
        if (why := self._left_alone(finding)) is not None:
            return self._refusal(finding, why)
        wanted = self._with(finding)
        if wanted == self._attributes:
            self.there.append(finding.text)
            return None
        try:
            edits = list(edits_between(self._written(self._attributes), self._written(wanted)))
            if not edits:
                return self._refusal(finding, "No attribute says it.")
            name, text = self._edited(edits)
        except CannotEdit as problem:
            return self._refusal(finding, problem.why, problem.span)
        texts = {**self.texts, name: text}
        if (why := self._differs(texts, wanted)) is not None:
            return self._refusal(finding, why)
        self.texts, self._attributes = texts, wanted
        return None

    def _refusal(self, finding: DriftFinding, why: str, span: Span | None = None) -> Diagnostic:
        subject = span or (self._resource.span if self._resource is not None else None)
        return error(codes.NOT_ADOPTED, f"{finding.text}. {why}", subject=subject, address=str(self._address))

    def _left_alone(self, finding: DriftFinding) -> str | None:
        """The reason why a finding is not to be written into a block, None where it is."""
        if (why := _not_a_value(finding)) is not None:
            return why
        if self._resource is None:
            return "No block declares the resource, so the next apply removes it. Write its block first."
        span = self._resource.span
        if span is not None and is_json(span.path):
            why = f"{span.path} is JSON, which a program writes as a rule, and adopt does not change it."
            return f"{why} Change it there, or in that program."
        if span is not None and (others := {it.path for it in self._resource.spans.values()} - {span.path}):
            also = ", ".join(sorted(others))
            return f"A part of its block stands in {also}, and adopt changes one text. Change it there."
        place = finding.path
        if any(path == place[: len(path)] for path in self._resource.lifecycle.ignore_changes):
            return "ignore_changes of its block covers that, so no plan changes it."
        if place and self._type.showing.written_path(place) is None:
            return "No attribute says it: it follows from the blocks inside, such as their order. Move those."
        return None

    def _with(self, finding: DriftFinding) -> Attributes:
        """The attributes with what is there. What is gone is None, but for the key of a map."""
        live = finding.live if finding.kind is DriftClass.CHANGED else finding.declaring
        value = None if live is ABSENT else live
        if self._type.showing.taking_over is not None:
            return self._type.showing.taking_over(self._attributes, finding.path, value)
        return with_value(self._attributes, finding.path, value)

    def _written(self, attributes: Attributes) -> WrittenBlock:
        return declaration(self._type, self._address.name, attributes).block

    def _edited(self, edits: Sequence[Edit]) -> tuple[str, str]:
        """The name and the new text of the file with the block. Raises ``CannotEdit``."""
        unread = Diagnostics()
        for name, source in self._configuration.sources.items():
            current = Source(name, self.texts.get(name, source.text))
            for block in parse_file(current, unread, cache=False).blocks:
                if block.type == self._address.type and block.labels == (self._address.name,):
                    return name, edited(current, block, edits)
        raise AssertionError(f"{self._address} is declared, and no file has its block")

    def _differs(self, texts: Mapping[str, str], wanted: Attributes) -> str | None:
        """Returns the reason why the new texts do not mean what they should, None where they do."""
        diagnostics = Diagnostics()
        after = self._workspace.load_configuration(self._snapshot, diagnostics, texts=texts).desired.resources
        before = self._configuration.desired.resources
        first = next((each for each in diagnostics if each.severity is Severity.ERROR), None)
        if first is not None:
            return f"With it the files would be wrong: {first.detail}"
        others = [
            address
            for address in {**before, **after}
            if address != str(self._address)
            and (
                address not in before
                or address not in after
                or before[address].attributes != after[address].attributes
            )
        ]
        if others:
            return f"Its block would change {', '.join(others)} as well. Write what differs by its key."
        if _without_empty(after[str(self._address)].attributes) == _without_empty(wanted):
            return None
        return "The files cannot say it the way it is there. Write it yourself."


def _without_empty(value: Data) -> Data:
    """The value without what is null or empty: systems do not tell one from the other."""
    match value:
        case dict():
            members = ((name, _without_empty(member)) for name, member in value.items())
            return {name: member for name, member in members if member not in (None, [], {})}
        case list() | tuple():
            return [_without_empty(element) for element in value]
        case _:
            return value


def _not_a_value(finding: DriftFinding) -> str | None:
    """The reason why a finding is not the value of an attribute, None where it is one."""
    if finding.sensitive:
        return "It is sensitive, and no file may hold it."
    if finding.kind is DriftClass.MISSING:
        return "apply makes it again. To give it up, replace its block by a removed block."
    if finding.kind is DriftClass.UNHEALTHY:
        return "That is not a setting: nothing in the files would mend it."
    if not finding.path:
        return "It is about the whole resource, which no attribute says."
    if finding.kind is DriftClass.UNMANAGED and finding.declaring is ABSENT:
        return "Write it into the block yourself: what it holds is not known here."
    return None
