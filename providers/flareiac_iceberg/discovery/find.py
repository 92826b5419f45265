"""Finds tables in catalogs by a pattern, and proves of each that its block would plan empty. Reads only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from flareiac.kernel.addresses import instance_label, parse_address
from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, did_you_mean, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.capabilities import Prefetching
from flareiac.sdk.changes import Action
from flareiac.sdk.driver import Driver
from flareiac.sdk.importing import Importable, ImportRequest, LeftOut
from flareiac.sdk.project import Project
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import PlanRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.results import Present, Recorded, Unreadable
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.list_namespaces import namespaces_in
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.discovery.block import chosen, label_of, written
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.spec import DISTRIBUTION_MODES, TableDefinition
from flareiac_iceberg.format.transforms import FUNCTIONS
from flareiac_iceberg.table.canonical import canonical
from flareiac_iceberg.table.managed_by import another_state
from flareiac_iceberg.table.observed import observed_table
from flareiac_iceberg.table.plan import TablePlanner
from flareiac_iceberg.table.schema import SCHEMA

_TRANSFORMS: Final = frozenset(function.name for function in FUNCTIONS)
_NUL: Final = "\x00"
_IDENTITY: Final = ("catalog", "namespace", "name")
"""The attributes without which no block means the table."""
_ON_COLUMNS: Final = ("identifier", "partition_by", "sort_by")
"""The attributes that name columns: without columns they are not managed either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One table of a catalog. ``catalog`` is the declared connection."""

    catalog: Resolved
    namespace: str
    name: str
    is_view: bool

    @property
    def id(self) -> str:
        return f"{self.catalog.address.rpartition('.')[2]}.{self.namespace}.{self.name}"

    @property
    def address(self) -> str:
        """Under which the driver is asked; no one else sees it."""
        return f"import:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search for tables, with the parts of an open session that it uses."""

    project: Project
    connections: Connections
    driver: Driver

    def importable(self, request: ImportRequest) -> Sequence[Importable | LeftOut]:
        """The tables that the pattern names, by id. Raises ``Failure``."""
        catalog, pattern = _asked(request)
        places = sorted(
            self._places(catalog, pattern, exact=request.exact),
            key=lambda place: (place.namespace, place.name),
        )
        if not places:
            raise Failure(_nothing(request.pattern, catalog))
        known = {
            (attributes["catalog"], attributes["namespace"], attributes["name"]): address
            for address, attributes in request.declared.items()
            if _is_table(attributes)
        }
        rest = [
            place
            for place in places
            if (Reference(catalog.address), place.namespace, place.name) not in known
        ]
        questions = {place.id: self._question(place, request.references) for place in rest}
        if isinstance(self.driver, Prefetching):
            self.driver.prefetch(
                [question for question in questions.values() if isinstance(question, ReadRequest)]
            )
        return [
            self._answer(place, questions[place.id], request.references)
            if place.id in questions
            else _declared(place, known)
            for place in places
        ]

    def _places(self, catalog: Resolved, pattern: str, *, exact: bool) -> Iterator[Place]:
        spec = spec_of(catalog.address, catalog.attributes)
        wanted_namespace, _, wanted_name = pattern.rpartition(".")
        if exact:
            spaces = [wanted_namespace]
        else:
            spaces = [
                namespace
                for namespace in namespaces_in(self.connections, spec)
                if _fits(namespace, wanted_namespace or "*")
            ]
        for namespace in spaces:
            try:
                entries = tables_in(spec, namespace)
            except NoCatalog:
                return
            for name in [wanted_name] if exact else [entry for entry in entries if _fits(entry, wanted_name)]:
                pointer = entries.get(name)  # a server is asked for this one only
                if pointer is not None:
                    yield Place(catalog=catalog, namespace=namespace, name=name, is_view=pointer.is_view)

    def _question(self, place: Place, references: References) -> ReadRequest | LeftOut:
        """The request to the driver about a place, or the reason to leave it out."""
        if place.is_view:
            return LeftOut(id=place.id, why="it is a view; FlareIaC manages tables")
        body = {"catalog": Reference(place.catalog.address), "namespace": place.namespace, "name": place.name}
        frame, failure = _canonical(body, place, references, self.project)
        if failure:
            return LeftOut(id=place.id, why=failure[0].line)
        return ReadRequest(
            address=place.address, desired=frame, recorded=None, references=references, cheap=False
        )

    def _answer(
        self, place: Place, question: ReadRequest | LeftOut, references: References
    ) -> Importable | LeftOut:
        try:
            return self._one(place, question, references)
        except Exception as bug:  # noqa: BLE001 - an unforeseen table must not end the import of all the others
            return LeftOut(
                id=place.id,
                why=f"looking at it failed unexpectedly, please report it: {type(bug).__name__}: {bug}",
            )

    def _one(
        self, place: Place, question: ReadRequest | LeftOut, references: References
    ) -> Importable | LeftOut:
        if isinstance(question, LeftOut):
            return question
        observed = self.driver.read(question)
        if isinstance(observed, Unreadable):
            return LeftOut(id=place.id, why=observed.diagnostic.line)
        if not isinstance(observed, Present):
            return LeftOut(id=place.id, why="it was dropped while the catalog was read")
        body, notes = _sayable(observed, place, references, self.project)
        if body is None:
            return LeftOut(id=place.id, why=" ".join(notes))
        notes = [*notes, *_manager(observed, self.project.lineage)]
        label = label_of(place.name)
        catalog = None if place.catalog.implied else Reference(place.catalog.address)
        block = written(body, label, catalog=catalog, notes=notes)
        return Importable(
            id=place.id,
            block=block,
            named="name",
            real_name=place.name,
            named_after="namespace",
            qualifier=label_of(place.namespace),
        )


def _manager(observed: Present, own: str) -> Iterator[str]:
    """A note where another state manages the table."""
    manager = observed_table(observed).facts.manager
    other = another_state(manager, own, recorded=False) if manager is not None else ""
    if other:
        yield (
            f"The state {other} manages this table. Its import block needs takeover = true, where nothing is "
            "applied from that state any more."
        )


def _is_table(attributes: Attributes) -> bool:
    return {"catalog", "namespace", "name"} <= attributes.keys() and isinstance(
        attributes["catalog"], Reference
    )


def _declared(place: Place, known: Mapping[tuple[Reference, str, str], str]) -> LeftOut:
    address = known[(Reference(place.catalog.address), place.namespace, place.name)]
    return LeftOut(id=place.id, why=f"it is declared as {address}", declared=True)


def _root_last(reference: Resolved) -> bool:
    """A key of order: a label means the catalog of the root module where a module has that label too."""
    parsed = parse_address(reference.address)
    return parsed is not None and not parsed.module


def _asked(request: ImportRequest) -> tuple[Resolved, str]:
    """The catalog that a pattern begins with (or the only one there is), and the rest of the pattern. Raises
    ``Failure``.
    """
    catalogs = {
        instance_label(reference.address): reference
        for reference in sorted(request.references.values(), key=_root_last)
        if reference.type == "catalog"
    }
    label, _, rest = request.pattern.partition(".")
    if label in catalogs and ("." in rest if request.exact else rest):
        return catalogs[label], rest
    if len(catalogs) == 1 and not request.exact and "." in request.pattern:
        return next(iter(catalogs.values())), request.pattern
    known = label if label in catalogs else next(iter(catalogs), "lake")
    form = f"{known}.sales.{'orders' if request.exact else '*'}"
    raise Failure(
        error(
            codes.IMPORT_PATTERN_UNCLEAR,
            f'The pattern is "{request.pattern}". Write CATALOG.NAMESPACE.NAME, such as {form}. '
            f"Declared catalogs: {', '.join(sorted(catalogs)) or 'none'}."
            f"{'' if label in catalogs else did_you_mean(label, catalogs)}",
        )
    )


def _fits(text: str, pattern: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _nothing(pattern: str, catalog: Resolved) -> Diagnostic:
    return error(
        codes.NOTHING_TO_IMPORT,
        f'{catalog.address} was read and has no table "{pattern}". * stands for anything within the '
        "namespace or the name: CATALOG.NAMESPACE.*, or CATALOG.*.* for all.",
    )


def _canonical(
    body: Attributes, place: Place, references: References, project: Project
) -> tuple[Attributes, list[Diagnostic]]:
    """The canonical attributes of the block, and its errors."""
    diagnostics = Diagnostics()
    decoded = dict.fromkeys([*SCHEMA.attributes, *SCHEMA.blocks]) | body
    attributes = canonical(
        Decoded(address=place.address, name=place.name, attributes=decoded), references, project, diagnostics
    )
    return attributes, [diagnostic for diagnostic in diagnostics if diagnostic.severity.value == "error"]


def _sayable(
    observed: Present, place: Place, references: References, project: Project
) -> tuple[Attributes | None, list[str]]:
    """The decoded body of the block that plans empty, with notes on what it had to leave out; None where
    there is no such block.
    """
    definition = TableDefinition.of(observed.attributes)
    body = chosen(definition, str(place.catalog.attributes["warehouse"]))
    notes = [
        f"The column {path} is left out and not managed: a name with a dot, or none at all, cannot be "
        "written."
        for path in identity_of(observed.identity).unsayable
    ]
    notes.extend(_terms_left_out(body, definition, observed))
    notes.extend(_nul_left_out(body))
    while True:
        desired, failure = _canonical(body, place, references, project)
        if not failure:
            break
        name, *rest = map(str, failure[0].attribute or ("",))
        if name not in body or name in _IDENTITY:
            return None, [failure[0].line]
        if name == "column" and rest[1:] and rest[1] in ("comment", "tags", "default"):
            body[name][rest[0]].pop(rest[1])
            notes.append(f"{rest[1]} of column {rest[0]} is left out and not managed. {failure[0].line}")
            continue
        for each in (name, *(_ON_COLUMNS if name == "column" else ())):
            body.pop(each, None)
        what = "The columns, and what is made of them, are" if name == "column" else f"{name} is"
        notes.append(f"{what} left out and not managed. {failure[0].line}")
    worse = _would_change(observed, desired, place, references, project)
    return (None, [worse]) if worse else (body, notes)


def _nul_left_out(body: Attributes) -> Iterator[str]:
    """Takes what holds U+0000 out of a body, as no text of a configuration may hold it; a note on each."""
    why = "it holds the character U+0000, which no text of a configuration may hold"
    for name, value in list(body.items()):
        if name == "column" and any(_NUL in path for path in value):
            for each in ("column", *_ON_COLUMNS):
                body.pop(each, None)
            yield f"The columns, and what is made of them, are left out and not managed: of a name, {why}."
        elif name == "column":
            for path, column in value.items():
                for part in [part for part, written_value in column.items() if _holds_nul(written_value)]:
                    column.pop(part)
                    yield f"{part} of column {path} is left out and not managed: {why}."
        elif name in body and name not in _IDENTITY and _holds_nul(value):
            body.pop(name)
            yield f"{name} is left out and not managed: {why}."


def _holds_nul(value: Data) -> bool:
    match value:
        case str():
            return _NUL in value
        case dict():
            return any(_NUL in name or _holds_nul(member) for name, member in value.items())
        case list() | tuple():
            return any(map(_holds_nul, value))
        case _:
            return False


def _terms_left_out(body: Attributes, definition: TableDefinition, observed: Present) -> Iterator[str]:
    """Takes what a block cannot say of layout and order out of its body; a note on each."""
    for name in ("partition_by", "sort_by"):
        strange = sorted({term["transform"] for term in body.get(name, ())} - _TRANSFORMS)
        if strange:
            body.pop(name)
            yield f"{name} is left out and not managed: its transform {', '.join(strange)} cannot be written."
    if definition.distribution and "distribution" not in body:
        yield (
            f'distribution is left out and not managed: the table has the mode "{definition.distribution}", '
            f"which is none of {', '.join(DISTRIBUTION_MODES)}."
        )
    for name in _ON_COLUMNS:
        lost = [path for path in _columns_of(body.get(name, ())) if path not in (definition.columns or ())]
        if lost:
            body.pop(name)
            yield f"{name} is left out and not managed: {_why_not(lost, observed)}"


def _why_not(lost: Sequence[str], observed: Present) -> str:
    """The sentence about columns that are known by their ids alone: dropped ones, or those without a path."""
    ids = ", ".join(path.removeprefix("#") for path in lost)
    if identity_of(observed.identity).unsayable:
        return f"it names a column (id {ids}) that was dropped, or whose name cannot be written."
    return f"it names a column that was dropped (id {ids})."


def _columns_of(terms: Sequence[Data]) -> Iterator[str]:
    """The columns that ``identifier``, ``partition_by`` or ``sort_by`` name."""
    return (str(term["column"]) if isinstance(term, dict) else str(term) for term in terms)


def _would_change(
    observed: Present, desired: Attributes, place: Place, references: References, project: Project
) -> str:
    """The changes that the block would make to the table, when it is adopted and ever after: empty, or the
    block is wrong.
    """
    # Which state manages it is a question for the plan.
    facts = replace(observed_table(observed).facts, manager=None)
    adopting = PlanRequest(
        address=place.address,
        desired=desired,
        recorded=None,
        observed=replace(observed, facts=facts),
        references=references,
        project=project,
        importing=True,
        import_id=place.id,
    )
    kept = Recorded(attributes=desired, identity=observed.identity)
    after = replace(adopting, recorded=kept, importing=False)
    unchanged = replace(after, observed=replace(observed, attributes=desired))
    for request, wanted in ((adopting, Action.ADOPT), (after, Action.NO_OP), (unchanged, Action.NO_OP)):
        proposal = TablePlanner().plan(request)
        texts = [
            *(f"{blocker.summary}: {blocker.why.rstrip('.')}" for blocker in proposal.blockers),
            *(step.text for step in proposal.steps),
        ]
        if proposal.action is not wanted or texts:
            return f"Its block would change it: {'; '.join(texts) or proposal.action.value}."
    return ""
