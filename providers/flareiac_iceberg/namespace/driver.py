"""The driver of namespaces. Touches the world."""

import contextlib
from collections.abc import Mapping, Sequence

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.records import decode, encode
from flareiac.sdk.actions import Adopt, Change, Create, Delete, Settleable, Update
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import (
    Applied,
    Missing,
    NotApplied,
    Observation,
    Outcome,
    Present,
    Unmanaged,
    Unreadable,
)
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import Absence, without_catalog
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.outcomes import NotEmpty
from flareiac_iceberg.catalogs.reader import namespace_properties, tables_in
from flareiac_iceberg.catalogs.resolve import catalog_of
from flareiac_iceberg.namespace.spec import (
    NamespaceDefinition,
    NamespaceFacts,
    NamespaceIdentity,
    PropertyChange,
)

_CREATED_BY = "flareiac.created-by"
_MARKS = ("exists", _CREATED_BY)
_BY_OTHERS = ("location", "owner")
"""Properties that engines and servers write by themselves."""


class NamespaceDriver:
    """Reads and changes namespaces. Safe to use from several threads."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """Asks each database for one namespace: one that does not answer is waited for once, not by each
        read.
        """
        failures: dict[CatalogSpec, Failure | None] = {}
        observations: dict[str, Observation] = {}
        for request in requests:
            frame = NamespaceDefinition.of(_attributes(request))
            with contextlib.suppress(Failure):  # the read of it reports that
                catalog = _catalog(frame, request.references)
                if not catalog.is_database:
                    continue
                if catalog not in failures:
                    failures[catalog] = _failure(catalog, frame.name)
                if (failure := failures[catalog]) is not None:
                    observations[request.address] = _unreadable(request, failure)
        return observations

    def read(self, request: ReadRequest) -> Observation:
        """The observed namespace, by one query."""
        attributes = _attributes(request)
        frame = NamespaceDefinition.of(attributes)
        try:
            catalog = _catalog(frame, request.references)
            _check_import(request, frame)
            try:
                observed = namespace_properties(catalog, frame.name)
            except NoCatalog as absent:
                return without_catalog(request, catalog, absent)
            leaving = request.desired is None and observed is not None
            tables = tuple(sorted(tables_in(catalog, frame.name))) if leaving else ()
        except Failure as failure:
            return _unreadable(request, failure)
        if observed is None:
            return Missing(reason=f"the catalog has no namespace {frame.name}", facts=Absence(catalog=True))
        properties = {name: value for name, value in observed.items() if name not in _MARKS}
        return Present(
            attributes=dict(attributes) | {"properties": properties},
            identity=encode(NamespaceIdentity(created_by=observed.get(_CREATED_BY))),
            facts=NamespaceFacts(tables=tables),
            unmanaged=_unmanaged(frame, request.desired, properties),
        )

    def apply(self, request: ChangeRequest) -> Outcome:
        """Creates the namespace where it is missing and sets its properties. Raises ``Failure`` where only
        ``settle`` can tell what was done.
        """
        planned = NamespaceDefinition.of(request.action.planned)
        change = decode(PropertyChange, request.action.payload)
        try:
            spec = _catalog(planned, request.references)
            writer = self._connections.get(spec, make=isinstance(request.action, Create))
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        # A table of this apply may have brought it along, and an update finds it here.
        writer.ensure_namespace(planned.name, request.key)
        put = {name: (planned.properties or {})[name] for name in change.set}
        if put or change.remove:
            writer.set_namespace_properties(planned.name, put, change.remove)
        return _applied(request.action, namespace_properties(spec, planned.name) or {})

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Drops the namespace if nothing is in it. Raises ``Failure`` as ``apply`` does."""
        recorded = request.action.recorded
        definition = NamespaceDefinition.of(recorded.attributes)
        try:
            writer = self._connections.get(_catalog(definition, request.references))
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        try:
            writer.drop_namespace(definition.name)
        except NotEmpty:
            why = (
                f"{definition.name} holds tables. Drop or move them first, or keep the namespace: "
                'on_destroy = "retain" forgets it.'
            )
            return NotApplied(diagnostics=(error(codes.NAMESPACE_NOT_EMPTY, why),))
        return Applied(attributes=recorded.attributes, identity=recorded.identity)

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """The outcome if the namespace is as the operation should have left it, else None."""
        match request.action:
            case Create() as change:
                with contextlib.suppress(NoCatalog):  # to create the namespace would have made the catalog
                    return _changed(change, _found(change.planned, request.references))
                return None
            case Adopt() | Update() as change:
                return _changed(change, _found(change.planned, request.references))
            case Delete(recorded=recorded):
                gone = _found(recorded.attributes, request.references) is None
                return Applied(attributes=recorded.attributes, identity=recorded.identity) if gone else None
            case _:
                return None


def _changed(action: Change, observed: Mapping[str, str] | None) -> Outcome | None:
    """None where it is not as the change should have left it."""
    change = decode(PropertyChange, action.payload)
    if observed is None or any(name in observed for name in change.remove):
        return None
    properties = NamespaceDefinition.of(action.planned).properties or {}
    done = all(observed.get(name) == properties[name] for name in change.set)
    return _applied(action, observed) if done else None


def _applied(action: Change, observed: Mapping[str, str]) -> Applied:
    identity = NamespaceIdentity(created_by=observed.get(_CREATED_BY))
    return Applied(attributes=action.planned, identity=encode(identity))


def _unmanaged(
    frame: NamespaceDefinition, desired: Attributes | None, there: Mapping[str, str]
) -> tuple[Unmanaged, ...]:
    """The properties that no one declares, where any are declared at all."""
    if frame.properties is None:
        return ()
    wanted = (NamespaceDefinition.of(desired).properties if desired is not None else None) or {}
    declared = {*_BY_OTHERS, *frame.properties, *wanted}
    return tuple(
        Unmanaged(text=f'property "{name}"', path=("properties", name), value=there[name])
        for name in there
        if name not in declared
    )


def _found(attributes: Attributes, references: References) -> Mapping[str, str] | None:
    definition = NamespaceDefinition.of(attributes)
    return namespace_properties(_catalog(definition, references), definition.name)


def _attributes(request: ReadRequest) -> Attributes:
    attributes = request.recorded.attributes if request.recorded else request.desired
    assert attributes is not None, "a namespace is declared or recorded"
    return attributes


def _failure(catalog: CatalogSpec, namespace: str) -> Failure | None:
    """The reason that a database cannot be read, None where it can, or does not exist."""
    try:
        namespace_properties(catalog, namespace)
    except NoCatalog:
        return None
    except Failure as failure:
        return failure
    return None


def _unreadable(request: ReadRequest, failure: Failure) -> Unreadable:
    return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))


def _catalog(definition: NamespaceDefinition, references: References) -> CatalogSpec:
    return catalog_of(definition.catalog, references, "namespace", definition.name)


def _check_import(request: ReadRequest, frame: NamespaceDefinition) -> None:
    wanted = frame.import_id
    if request.import_id is not None and request.recorded is None and request.import_id != wanted:
        why = (
            f'The import id is "{request.import_id}", and {request.address} declares "{wanted}" '
            "(CATALOG.NAMESPACE, the catalog by its label). Make both name the same namespace."
        )
        raise Failure(error(codes.IMPORT_ID_DIFFERS, why))
