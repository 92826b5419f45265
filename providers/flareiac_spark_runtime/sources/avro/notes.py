"""The schemas that the queries of a checkpoint have met, by the ids of their registry: noted beside it.
Touches the disk.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac_spark_runtime.sources.avro.known import NotedSchemas, complete
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess
from flareiac_spark_runtime.storage import Place, replace_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNotes:
    """By the address of a registry: ids of two of them mean different schemas."""

    registries: Mapping[str, NotedSchemas] = field(default_factory=dict)


def notes_place(checkpoint: Place) -> Place:
    """The file beside the folder of a generation."""
    return checkpoint.with_name(f".{checkpoint.name}.schemas.json")


def noted(checkpoints: Sequence[Place], url: str) -> NotedSchemas:
    """The notes of all the checkpoints, joined. Raises ``OSError``, and ``ValueError`` for what cannot be
    understood.
    """
    schemas = NotedSchemas()
    for checkpoint in checkpoints:
        schemas = schemas.joined(_read(checkpoint).registries.get(url, NotedSchemas()))
    return schemas


def note(checkpoints: Sequence[Place], url: str, known: NotedSchemas) -> None:
    """Writes it down beside each checkpoint. Raises as ``noted`` does."""
    for checkpoint in checkpoints:
        old = _read(checkpoint)
        if old.registries.get(url) == known:
            continue
        text = json.dumps(encode(SchemaNotes(registries={**old.registries, url: known})), ensure_ascii=False)
        replace_whole(notes_place(checkpoint), text.encode(), mode=0o644)


def known_schemas(
    checkpoints: Sequence[Place], access: RegistryAccess, subjects: Iterable[str]
) -> NotedSchemas:
    """The noted schemas and those that the registry adds to them, which are noted before they are used.
    Raises as ``noted`` does, and ``RegistryProblem`` where nothing can be read without the registry.
    """
    known = complete(noted(checkpoints, access.url), access, subjects)
    note(checkpoints, access.url, known)
    return known


def want(checkpoints: Sequence[Place], url: str, number: int) -> bool:
    """Notes an id that is to be asked for; false where it is known. Raises as ``noted`` does."""
    known = noted(checkpoints, url)
    if known.knows(number):
        return False
    note(checkpoints, url, known.wanting(number))
    return True


def _read(checkpoint: Place) -> SchemaNotes:
    try:
        text = notes_place(checkpoint).read_text(encoding="utf-8")
    except FileNotFoundError:
        return SchemaNotes()
    return decode(SchemaNotes, parse_json(text), "notes")
