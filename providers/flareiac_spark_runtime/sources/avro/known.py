"""The schemas of writers that a query has met, by the ids that records carry. Touches the registry.

What an id means never changes: a query that starts again needs no registry for the ids that are noted. An id
that the registry did not know stays unknown for a checkpoint: a record that was put aside must not come back
when its batch is read again.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.registry import (
    NotFound,
    RegisteredSchema,
    Registry,
    RegistryAccess,
    RegistryProblem,
    registry_schemas,
)
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.types import NotAvro, parse

NEWEST: Final = 20
"""Versions of a subject that a first start asks for; others are asked for when a record has one."""
_NEW_ID: Final = "A record has the schema {number} of registry {url}, which this query has not met before."
_NEW_ID_IN: Final = re.compile(
    r"A record has the schema (\d+) of registry (.+?), which this query has not met before"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedSchemas:
    """The known schemas of one registry. ``schemas``: text in one spelling by id; ``missing``: the reason
    that an id has no Avro schema, by id; ``wanted``: ids that were met and are still to be asked for.
    """

    schemas: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    wanted: tuple[int, ...] = ()

    def knows(self, number: int) -> bool:
        """Returns True if records with this id can be judged."""
        return str(number) in self.schemas or str(number) in self.missing

    def joined(self, other: "NotedSchemas") -> "NotedSchemas":
        """The knowledge of both; an id that was missing for one of them stays so."""
        missing = {**other.missing, **self.missing}
        schemas = {**other.schemas, **self.schemas}
        joined = NotedSchemas(
            schemas={number: text for number, text in schemas.items() if number not in missing},
            missing=missing,
        )
        wanted = {number for number in (*self.wanted, *other.wanted) if not joined.knows(number)}
        return replace(joined, wanted=tuple(sorted(wanted)))

    def wanting(self, number: int) -> "NotedSchemas":
        """With an id to ask for."""
        return self.joined(NotedSchemas(wanted=(number,)))


def new_id_text(url: str) -> tuple[str, str]:
    """The two halves of what a query fails with for an id that it does not know, around that id."""
    before, _, after = _NEW_ID.partition("{number}")
    return before, after.format(url=url)


def new_id_in(message: str) -> tuple[str, int] | None:
    """The registry and the id for which a query has failed; None where it failed for another reason."""
    match = _NEW_ID_IN.search(message)
    return (match.group(2), int(match.group(1))) if match else None


def complete(noted: NotedSchemas, access: RegistryAccess, subjects: Iterable[str]) -> NotedSchemas:
    """With the ids that are wanted, and with the newest versions of the subjects, as far as the registry can
    be asked. Raises ``RegistryProblem`` where nothing is known without it, or an id is wanted.
    """
    try:
        return _asked(noted, Registry(access), subjects)
    except RegistryProblem:
        if noted.wanted or not noted.schemas:
            raise
        return noted


def _asked(noted: NotedSchemas, registry: Registry, subjects: Iterable[str]) -> NotedSchemas:
    for number in noted.wanted:
        try:
            noted = noted.joined(_noted(number, registry.by_id(number)))
        except NotFound as answer:
            why = f"the registry does not know it ({answer})"
            noted = noted.joined(NotedSchemas(missing={str(number): why}))
    for subject in subjects:
        for version in registry_schemas(registry, subject, newest=NEWEST):
            if not noted.knows(version.id):
                noted = noted.joined(_noted(version.id, version.schema))
    return noted


def _noted(number: int, schema: RegisteredSchema) -> NotedSchemas:
    if schema.kind != "AVRO":
        return NotedSchemas(missing={str(number): f"it is a schema of kind {schema.kind}, not of Avro"})
    try:
        return NotedSchemas(schemas={str(number): spelled(parse(schema.text, schema.references))})
    except NotAvro as error:
        return NotedSchemas(missing={str(number): f"it cannot be read: {error}"})
