"""Tables, catalogs and topics as other providers read them: the attributes that their types promise, typed.

A provider reads a resource of another one through these views alone. A provider that has a type of
the name ``table``, ``catalog`` or ``topic`` gives its canonical attributes these names.
"""

from collections.abc import Mapping

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References, Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionView:
    """The needs of an application before it can use a connection: settings of Spark by name, Maven
    coordinates, classes of session extensions, and settings of a client of its brokers by name. Empty where
    its type promises nothing of the kind.
    """

    spark_conf: Mapping[str, str]
    packages: frozenset[str]
    extensions: frozenset[str]
    client: Mapping[str, str]

    @classmethod
    def of(cls, connection: Resolved) -> "ConnectionView":
        """The view of a connection, or of anything else that may be used with Spark."""
        attributes = connection.attributes
        return cls(
            spark_conf=attributes.get("spark_conf") or {},
            packages=frozenset(attributes.get("packages") or ()),
            extensions=frozenset(attributes.get("spark_extensions") or ()),
            client=attributes.get("client") or {},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """``identifier``: catalog, namespaces and name, as Spark names the table; None where its catalog is not
    declared. ``uuid`` None: it is not applied. ``columns``: canonical columns by path (``address``,
    ``address.zip``), in the order of ``column_order``; empty where the schema is not managed.
    """

    identifier: tuple[str, ...] | None
    uuid: str | None
    columns: Mapping[str, Attributes]
    column_order: tuple[str, ...]

    @classmethod
    def at(cls, reference: Data, references: References) -> "TableView | None":
        """The view of a referenced table; None where it is not declared."""
        table = references.get(reference.address) if isinstance(reference, Reference) else None
        return None if table is None else cls.of(table, references)

    @classmethod
    def of(cls, table: Resolved, references: References) -> "TableView":
        """The view of a table."""
        attributes = table.attributes
        uuid = table.identity.get("uuid") or attributes.get("uuid")
        return cls(
            identifier=_identifier(attributes, references),
            uuid=uuid if isinstance(uuid, str) else None,
            columns=attributes.get("columns") or {},
            column_order=tuple(attributes.get("column_order") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicView:
    """``name`` at the brokers. ``id`` is the broker's own id of it, None until it is applied. ``connection``:
    the block of its brokers, the only one that a topic refers to.
    """

    name: str
    id: str | None
    connection: Reference | None

    @classmethod
    def at(cls, reference: Data, references: References) -> "TopicView | None":
        """The view of a referenced topic; None where it is not declared."""
        topic = references.get(reference.address) if isinstance(reference, Reference) else None
        if topic is None:
            return None
        blocks = (value for value in topic.attributes.values() if isinstance(value, Reference))
        return cls(
            name=str(topic.attributes.get("name")),
            id=topic.identity.get("id"),
            connection=next(blocks, None),
        )


def catalog_name(catalog: Resolved) -> str:
    """The name by which Spark knows a catalog."""
    return str(catalog.attributes["name"])


def _identifier(table: Attributes, references: References) -> tuple[str, ...] | None:
    reference = table.get("catalog")
    catalog = references.get(reference.address) if isinstance(reference, Reference) else None
    if catalog is None:
        return None
    return catalog_name(catalog), *str(table["namespace"]).split("."), str(table["name"])
