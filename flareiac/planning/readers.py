"""Adds to each step of a plan those who read what it changes: jobs of the project, and declared consumers.
Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from flareiac.model.plan import PlannedResource, PlannedTask
from flareiac.planning.usages import by_subject
from flareiac.sdk.changes import Action, Effect, Hit, Reader, Relation, Step, Usage
from flareiac.sdk.owner import Owner

_READING: Final = (Relation.STREAMS_FROM, Relation.LOOKS_UP)
_REMOVED: Final = (Action.DELETE, Action.FORGET)
_NOTICED: Final = (Effect.LOSES_DATA, Effect.RENAMES)
"""Effects that every reader of the resource notices, whatever the step is about."""


def with_readers(
    planned: Mapping[str, PlannedResource],
    usages: Iterable[Usage],
    owner_of: Callable[[str], Owner | None],
) -> dict[str, PlannedResource]:
    """The same resources, with the readers of what their steps change. ``usages``: those of declared and of
    recorded definitions. ``owner_of``: the owner of an address.
    """
    removed = {address for address, resource in planned.items() if resource.action in _REMOVED}
    held = by_subject(
        usage for usage in dict.fromkeys(usages) if usage.relation in _READING and usage.holder not in removed
    )
    return {address: _with_readers(resource, held, owner_of) for address, resource in planned.items()}


def with_readers_of_tasks(
    tasks: Iterable[PlannedTask], usages: Iterable[Usage], owner_of: Callable[[str], Owner | None]
) -> tuple[PlannedTask, ...]:
    """The same tasks, with the consumers of the tables from which rows or snapshots go."""
    held = by_subject(usage for usage in dict.fromkeys(usages) if usage.is_outside)
    return tuple(
        replace(each, task=replace(each.task, readers=_consumers(held.get(each.address, ()), owner_of)))
        if each.task.hits_readers and each.address in held
        else each
        for each in tasks
    )


def _consumers(usages: Iterable[Usage], owner_of: Callable[[str], Owner | None]) -> tuple[Reader, ...]:
    holders = sorted({usage.holder for usage in usages})
    return tuple(Reader(address=holder, owner=owner_of(holder)) for holder in holders)


def _with_readers(
    resource: PlannedResource, held: Mapping[str, tuple[Usage, ...]], owner_of: Callable[[str], Owner | None]
) -> PlannedResource:
    steps = tuple(
        replace(step, readers=found)
        if (found := tuple(_readers(resource, step, held, owner_of))) != step.readers
        else step
        for step in resource.proposal.steps
    )
    if steps == resource.proposal.steps:
        return resource
    return replace(resource, proposal=replace(resource.proposal, steps=steps))


def _readers(
    resource: PlannedResource,
    step: Step,
    held: Mapping[str, tuple[Usage, ...]],
    owner_of: Callable[[str], Owner | None],
) -> Iterator[Reader]:
    hits = step.hits or ((Hit(),) if step.effect in _NOTICED else ())
    readers: dict[str, Reader] = {}
    for hit in hits:
        for usage in held.get(hit.subject or resource.address, ()):
            reader = _reader(hit, usage, owner_of)
            if reader is not None and usage.holder != resource.address:
                known = readers.get(usage.holder)
                readers[usage.holder] = reader if known is None else _joined(known, reader)
    yield from (readers[address] for address in sorted(readers))
    declared = {usage.known_as for usage in held.get(resource.address, ())}
    yield from (reader for reader in step.readers if reader.known_as not in declared)


def _reader(hit: Hit, usage: Usage, owner_of: Callable[[str], Owner | None]) -> Reader | None:
    if hit.part is not None and usage.part != hit.part:
        return None
    owner = owner_of(usage.holder)
    if not hit.columns:
        return Reader(address=usage.holder, owner=owner)
    if usage.columns is None:
        # A consumer that names no columns reads all of them; of a job they could not be determined.
        return Reader(address=usage.holder, owner=owner, is_certain=usage.is_outside)
    read = tuple(column for column in usage.columns if _is_among(column, hit.columns))
    if read:
        return Reader(address=usage.holder, owner=owner, columns=read)
    if usage.is_outside:
        return None
    # A job names some of the columns that it certainly reads, not all.
    return Reader(address=usage.holder, owner=owner, is_certain=False)


def _is_among(column: str, columns: Iterable[str]) -> bool:
    """Returns True if a column, one of its fields or one that it is a field of is among these."""
    return any(
        each == column or each.startswith(f"{column}.") or column.startswith(f"{each}.") for each in columns
    )


def _joined(one: Reader, other: Reader) -> Reader:
    columns = tuple(dict.fromkeys((*one.columns, *other.columns)))
    return replace(one, columns=columns, is_certain=one.is_certain or other.is_certain)
