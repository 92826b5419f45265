"""Adds to each step of a plan those who read what it changes: jobs of the project, and declared consumers.
Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.applied_from import OutsideReader
from flareiac.model.plan import PlannedResource, PlannedTask
from flareiac.planning.usages import by_subject
from flareiac.sdk.changes import Action, Effect, Hit, Reader, Relation, Step, Usage
from flareiac.sdk.owner import Owner

Owners: TypeAlias = Callable[[str], Owner | None]
"""The owner of an address."""
_READING: Final = (Relation.STREAMS_FROM, Relation.LOOKS_UP)
_REMOVED: Final = (Action.DELETE, Action.FORGET)
_NOTICED: Final = (Effect.LOSES_DATA, Effect.RENAMES)
"""Effects that every reader of the resource notices, whatever the step is about."""


def outside_readers(usages: Iterable[Usage], owner_of: Owners) -> tuple[OutsideReader, ...]:
    """The readers outside of the project among these usages, for the state."""
    return tuple(
        OutsideReader(
            address=usage.holder,
            subject=usage.subject,
            columns=usage.columns,
            known_as=usage.known_as,
            owner=owner_of(usage.holder),
            level=usage.level,
        )
        for usage in sorted(
            (usage for usage in usages if usage.is_outside), key=lambda each: (each.holder, each.subject)
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The readers of each subject: of declared and recorded definitions, and those outside that were declared
    at the last apply. One who is no longer declared is named all the same: what a change removes together
    with its reader hits that reader.
    """

    declared: Mapping[str, tuple[Usage, ...]]
    former: Mapping[str, tuple[OutsideReader, ...]]
    owner_of: Owners

    @classmethod
    def of(cls, usages: Iterable[Usage], former: Iterable[OutsideReader], owner_of: Owners) -> "Readers":
        """``usages``: those of declared and of recorded definitions."""
        before: dict[str, tuple[OutsideReader, ...]] = {}
        for each in former:
            before[each.subject] = (*before.get(each.subject, ()), each)
        reading = (usage for usage in dict.fromkeys(usages) if usage.relation in _READING)
        return cls(declared=by_subject(reading), former=before, owner_of=owner_of)

    def named_in(self, planned: Mapping[str, PlannedResource]) -> dict[str, PlannedResource]:
        """The same resources, with the readers of what their steps change."""
        removed = {address for address, resource in planned.items() if resource.action in _REMOVED}
        return {address: self._named(resource, removed) for address, resource in planned.items()}

    def named_in_tasks(self, tasks: Iterable[PlannedTask]) -> tuple[PlannedTask, ...]:
        """The same tasks, with the readers outside of the tables from which rows or snapshots go."""
        return tuple(
            replace(each, task=replace(each.task, readers=readers))
            if each.task.hits_readers and (readers := self._outside(each.address))
            else each
            for each in tasks
        )

    def _outside(self, subject: str) -> tuple[Reader, ...]:
        holders = {usage.holder for usage in self.declared.get(subject, ()) if usage.is_outside}
        return tuple(Reader(address=holder, owner=self.owner_of(holder)) for holder in sorted(holders))

    def _named(self, resource: PlannedResource, removed: set[str]) -> PlannedResource:
        steps = tuple(
            replace(step, readers=readers)
            if (readers := tuple(self._readers(resource, step, removed))) != step.readers
            else step
            for step in resource.proposal.steps
        )
        if steps == resource.proposal.steps:
            return resource
        return replace(resource, proposal=replace(resource.proposal, steps=steps))

    def _readers(self, resource: PlannedResource, step: Step, removed: set[str]) -> Iterator[Reader]:
        hits = step.hits or ((Hit(),) if step.effect in _NOTICED else ())
        if not hits and not step.readers:
            return
        readers: dict[str, Reader] = {}
        for hit in hits:
            for reader in self._of_hit(hit, hit.subject or resource.address):
                if reader.address not in removed and reader.address != resource.address:
                    known = readers.get(reader.address)
                    readers[reader.address] = reader if known is None else known.joined(reader)
        yield from (readers[address] for address in sorted(readers))
        declared = {usage.known_as for usage in self.declared.get(resource.address, ())}
        declared.update(each.known_as for each in self.former.get(resource.address, ()))
        yield from (reader for reader in step.readers if reader.known_as not in declared)

    def _of_hit(self, hit: Hit, subject: str) -> Iterator[Reader]:
        """First those that are declared: one that was declared before, too, is named as it is now."""
        named = set()
        for usage in self.declared.get(subject, ()):
            if (hit.part is None or usage.part == hit.part) and (reader := _of_usage(hit, usage)) is not None:
                named.add(usage.holder)
                yield replace(reader, owner=self.owner_of(usage.holder))
        for each in self.former.get(subject, ()) if hit.part is None else ():
            read = _columns_hit(hit, each.columns)
            if each.address not in named and read is not None:
                yield Reader(address=each.address, owner=each.owner, columns=read, is_former=True)


def _of_usage(hit: Hit, usage: Usage) -> Reader | None:
    """The holder of a usage as a reader; None of one that certainly reads no column of the hit."""
    read = _columns_hit(hit, usage.columns)
    if usage.is_outside:
        return None if read is None else Reader(address=usage.holder, columns=read)
    # Of a job some columns are known, which it certainly reads, or none could be determined
    is_certain = not hit.columns or bool(read)
    return Reader(address=usage.holder, columns=read or (), is_certain=is_certain)


def _columns_hit(hit: Hit, columns: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The columns of a reader that a hit is about: empty where either is about the whole, None where the hit
    is about none of them.
    """
    if not hit.columns or columns is None:
        return ()
    return tuple(column for column in columns if _is_among(column, hit.columns)) or None


def _is_among(column: str, columns: Iterable[str]) -> bool:
    """Returns True if a column, one of its fields or one that it is a field of is among these."""
    return any(
        each == column or each.startswith(f"{column}.") or column.startswith(f"{each}.") for each in columns
    )
