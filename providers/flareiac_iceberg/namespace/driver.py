"""The driver of namespaces. Touches the world."""

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Action
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ReadRequest
from flareiac.sdk.results import Applied, Missing, NotApplied, Observation, Outcome, Present, Unreadable
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import Absence, without_catalog
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.outcomes import NotEmpty
from flareiac_iceberg.catalogs.reader import namespace_properties, tables_in
from flareiac_iceberg.catalogs.spec import CatalogSpec
from flareiac_iceberg.catalogs.target import catalog_of
from flareiac_iceberg.namespace.plan import NamespaceFacts, NamespaceIdentity

_CREATED_BY = "flareiac.created-by"
_MARKS = ("exists", _CREATED_BY)
_BY_OTHERS = ("location", "owner")
"""Properties that engines and servers write by themselves."""


class NamespaceDriver:
    """Reads and changes namespaces. Safe to use from several threads."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def read(self, request: ReadRequest) -> Observation:
        """What is there, by one query."""
        frame = request.recorded.attributes if request.recorded else request.desired
        assert frame is not None, "a namespace is declared or recorded"
        try:
            catalog = _catalog(frame, request.references)
            _check_import(request, catalog, frame)
            try:
                found = namespace_properties(catalog, frame["name"])
            except NoCatalog as absent:
                return without_catalog(request, catalog, absent)
            leaving = request.desired is None and found is not None
            tables = tuple(sorted(tables_in(catalog, frame["name"]))) if leaving else ()
        except Failure as failure:
            return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))
        if found is None:
            return Missing(
                reason=f"the catalog has no namespace {frame['name']}", facts=Absence(catalog=True)
            )
        properties = {name: value for name, value in found.items() if name not in _MARKS}
        declared = {
            *_BY_OTHERS,
            *(frame["properties"] or {}),
            *((request.desired or {}).get("properties") or {}),
        }
        return Present(
            attributes=dict(frame) | {"properties": properties},
            identity=encode(NamespaceIdentity(created_by=found.get(_CREATED_BY))),
            facts=NamespaceFacts(tables=tables),
            unmanaged=tuple(
                f'property "{name}"'
                for name in properties
                if frame["properties"] is not None and name not in declared
            ),
        )

    def apply(self, request: ApplyRequest) -> Outcome:
        """Creates the namespace where it is missing and sets its properties. Raises ``Failure`` where only
        ``settle`` can tell what was done.
        """
        assert request.planned is not None, "what is created or updated is planned"
        planned, name = request.planned, request.planned["name"]
        try:
            spec = _catalog(planned, request.references)
            writer = self._connections.get(spec, make=request.action == Action.CREATE)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        # A table of this apply may have brought it along, and an update finds it here.
        writer.ensure_namespace(name, request.key)
        put = {key: planned["properties"][key] for key in request.payload["set"]}
        if put or request.payload["remove"]:
            writer.set_namespace_properties(name, put, request.payload["remove"])
        return Applied(
            attributes=planned,
            identity=encode(
                NamespaceIdentity(created_by=(namespace_properties(spec, name) or {}).get(_CREATED_BY))
            ),
        )

    def delete(self, request: ApplyRequest) -> Outcome:
        """Drops the namespace if nothing is in it. Raises ``Failure`` as ``apply`` does."""
        assert request.recorded is not None, "what is deleted is recorded"
        recorded, name = request.recorded, request.recorded.attributes["name"]
        try:
            spec = _catalog(recorded.attributes, request.references)
            writer = self._connections.get(spec)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        try:
            writer.drop_namespace(name)
        except NotEmpty:
            why = (
                f"{name} holds tables. Drop or move them first, or keep the namespace: on_destroy = "
                '"retain" forgets it.'
            )
            return NotApplied(diagnostics=(error(codes.NAMESPACE_NOT_EMPTY, why),))
        return Applied(attributes=recorded.attributes, identity=recorded.identity)

    def foresee(self, request: ApplyRequest) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest) -> Outcome | None:
        """Whether the namespace is as the operation should have left it."""
        frame = request.planned or (request.recorded.attributes if request.recorded else None)
        assert frame is not None, "an operation has planned or recorded attributes"
        try:
            found = namespace_properties(_catalog(frame, request.references), frame["name"])
        except NoCatalog:
            if request.action != Action.CREATE:
                raise
            return None  # to create the namespace would have made the catalog
        if request.planned is None:
            return (
                Applied(attributes=frame, identity=request.recorded.identity if request.recorded else {})
                if found is None
                else None
            )
        done = found is not None and all(
            found.get(name) == request.planned["properties"][name] for name in request.payload["set"]
        )
        if not done or found is None or any(name in found for name in request.payload["remove"]):
            return None
        return Applied(
            attributes=frame, identity=encode(NamespaceIdentity(created_by=found.get(_CREATED_BY)))
        )


def _catalog(attributes: Attributes, references: References) -> CatalogSpec:
    return catalog_of(attributes["catalog"], references, "namespace", attributes["name"])


def _check_import(request: ReadRequest, catalog: CatalogSpec, frame: Attributes) -> None:
    wanted = f"{catalog.label}.{frame['name']}"
    if request.import_id is not None and request.recorded is None and request.import_id != wanted:
        why = (
            f'The import id is "{request.import_id}", and {request.address} declares "{wanted}" '
            "(CATALOG.NAMESPACE, the catalog by its "
            "label). Make both name the same namespace."
        )
        raise Failure(error(codes.IMPORT_ID_DIFFERS, why))
