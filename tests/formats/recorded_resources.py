"""The parts of states, journals and saved plans that are about resources: the records of each type, and the
schemas of their attributes and identities.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, Final

from flareiac.app.discovery import installed
from flareiac_iceberg.catalogs.block import CatalogDefinition
from flareiac_iceberg.format.identity import TableIdentity
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.maintenance.declarations import DECLARATIONS
from flareiac_iceberg.namespace.spec import NamespaceDefinition, NamespaceIdentity
from flareiac_kafka.connection.spec import ConnectionDefinition
from flareiac_kafka.topic.spec import TopicDefinition, TopicIdentity
from flareiac_spark.checkpoint_files.layout import CheckpointLayout
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.job_identity import JobIdentity
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.sources.source import UnknownSource
from flareiac_spark.sources.source import kinds as find_kinds
from flareiac_spark.stream.stream_definition import StreamDefinition
from tests.formats.record_schemas import DIALECT, Schema, schemas_of

NOT_RECORDED: Final[Mapping[str, str]] = {
    "consumer": "it is outside, and nothing of it is recorded",
    "secret": "a state names where a secret is, and holds nothing of it",
    "data.state": "values are taken from it, and it is read again each time",
    "data.table": "it is read again each time",
}
"""Types without a schema, and why."""


@dataclass(frozen=True, kw_only=True)
class RecordedType:
    """The records of one resource type. ``identity`` None: nothing is recorded beside the attributes.

    ``beside``: the kinds of attributes that are written beside those of the record, in place of its field
    ``instead``. ``sources_in``: the records whose field ``source`` is of any kind: the record does not list
    them, since each is in a package of its own.
    """

    name: str
    attributes: type
    identity: type | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    instead: str = ""
    sources_in: tuple[str, ...] = ()

    @property
    def version(self) -> int:
        """The version in which the installed type is recorded."""
        return installed().registry.types[self.name].recording.schema_version

    def schema(self) -> Schema:
        """The schema of what this release records."""
        parts = {"attributes": self.attributes, "identity": self.identity}
        kinds: dict[str, Any] = {name: kind for name, kind in parts.items() if kind is not None}
        schemas, definitions = schemas_of({**kinds, **self.beside, **_sources(self.sources_in)})
        own = definitions[self.attributes.__name__]
        own["properties"].pop(self.instead, None)
        own["properties"] |= {name: {**schemas[name], "default": None} for name in self.beside}
        own["required"] = [name for name in own["required"] if name != self.instead]
        for record in self.sources_in:
            definitions[record]["properties"]["source"] = schemas["source"]
        return {
            "$schema": DIALECT,
            "title": f"Recorded attributes of the type {self.name}",
            "version": self.version,
            "type": "object",
            "properties": {name: schemas[name] for name in kinds},
            "required": [*kinds],
            "$defs": definitions,
        }


def _sources(records: tuple[str, ...]) -> dict[str, Any]:
    known = (UnknownSource, *(kind for _name, kind in find_kinds()))
    return {"source": reduce(or_, known)} if records else {}


RECORDED_TYPES: Final = (
    RecordedType(name="catalog", attributes=CatalogDefinition),
    RecordedType(name="checkpoint", attributes=CheckpointDefinition, identity=CheckpointLayout),
    RecordedType(name="engine", attributes=EngineDefinition),
    RecordedType(name="job", attributes=JobDefinition, identity=JobIdentity, sources_in=("StreamInput",)),
    RecordedType(name="kafka", attributes=ConnectionDefinition),
    RecordedType(name="namespace", attributes=NamespaceDefinition, identity=NamespaceIdentity),
    RecordedType(name="stream", attributes=StreamDefinition, sources_in=("StreamDefinition",)),
    RecordedType(
        name="table",
        attributes=TableDefinition,
        identity=TableIdentity,
        beside={
            "column_order": tuple[str, ...] | None,
            **{declaration.name: declaration.settings | None for declaration in DECLARATIONS},
        },
        instead="maintenance",
    ),
    RecordedType(name="topic", attributes=TopicDefinition, identity=TopicIdentity),
)
"""In the order of their names. Connections and streams are recorded with what refers to them."""
