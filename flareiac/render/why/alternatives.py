"""The outcomes that a change would have had otherwise: derived from the blockers of the plan, from the
comparison of three values, from the classes of attributes in the schema and from the measured rules. Pure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path, render_path
from flareiac.kernel.records import SPARSE
from flareiac.model.plan import PlannedResource, PlannedTask
from flareiac.render.resource_text import written_path
from flareiac.render.sections import section_of
from flareiac.sdk.changes import Action, Origin
from flareiac.sdk.documents import Topic
from flareiac.sdk.on_change import ChangeClass
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Block

ALONE: Final = "a change of one of these alone"
"""``how`` of a class that the schema gives attributes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """``outcome``: the other class. ``how`` it comes about; ``names``: the attributes or rules that it is
    about. ``source``: the code, the page or the comparison that says so.
    """

    outcome: str
    how: str
    names: tuple[str, ...] = field(default=(), metadata=SPARSE)
    source: str = field(default="", metadata=SPARSE)


def alternatives(
    resource: PlannedResource,
    tasks: Sequence[PlannedTask],
    kind: ResourceType | None,
    topics: Mapping[str, Topic],
) -> Iterator[Alternative]:
    """The neighbouring classes, the nearest first."""
    for blocker in resource.proposal.blockers:
        for way in blocker.ways_out:
            yield Alternative(outcome="not blocked", how=way, source=blocker.code)
    if resource.proposal.provable:
        how = f"plan -prove, where it proves that the {resource.proposal.unproven} means the same as before"
        yield Alternative(outcome="not blocked", how=how, source="plan -prove")
    yield from _nothing(resource, written_path(kind))
    for task in tasks:
        if task.task.due:
            how = f"change the limits in {task.task.name}, or plan with -maintenance=exclude"
            yield Alternative(outcome="not due", how=how, source=f"{resource.type}.{task.task.name}")
    yield from _other_rules(resource, topics)
    if kind is not None and resource.action in (Action.UPDATE, Action.NO_OP, Action.RECORD):
        yield from _other_attributes(kind)


def _nothing(resource: PlannedResource, written: Callable[[Path], Path | None]) -> Iterator[Alternative]:
    """The edit that makes the three values equal, so that nothing is planned."""
    source = "comparison of declared, recorded and live"
    match resource.action:
        case Action.CREATE:
            yield Alternative(outcome="no change", how="remove its block", source=source)
            if resource.recorded is None:
                how = "write an import block, where the object is there under another name"
                yield Alternative(outcome="import", how=how, source=source)
        case Action.DELETE | Action.FORGET if resource.desired is None:
            yield Alternative(outcome="no change", how="write its block again", source=source)
        case Action.REPLACE if resource.triggered_by:
            how = f"take {resource.triggered_by} out of its replace_triggered_by"
            yield Alternative(outcome="no replacement", how=how, source=source)
        case Action.REPLACE if resource.replace:
            yield Alternative(outcome="no replacement", how="plan without -replace", source="-replace")
        case _:
            yield from _equal_values(resource, written, source)


def _equal_values(
    resource: PlannedResource, written: Callable[[Path], Path | None], source: str
) -> Iterator[Alternative]:
    if section_of(resource) is None:
        return
    config, drifted = (
        tuple(
            dict.fromkeys(
                render_path(place)
                for change in resource.proposal.changes
                if change.origin in origins and (place := written(change.path))
            )
        )
        for origins in ((Origin.CONFIG,), (Origin.DRIFT, Origin.BOTH))
    )
    if config:
        how = "undo the edits since the last apply"
        yield Alternative(outcome="no change", how=how, names=config, source=source)
    if drifted:
        how = "declare the live value, and only the state is brought up to date"
        yield Alternative(outcome="only recorded", how=how, names=drifted, source=source)


def rules_quoted(resource: PlannedResource) -> tuple[str, ...]:
    """The names of the rules behind the steps and blockers of a resource, each once."""
    of_steps = (name for step in resource.proposal.steps for name in step.rules)
    of_blockers = (name for blocker in resource.proposal.blockers for name in blocker.rules)
    return tuple(dict.fromkeys((*of_steps, *of_blockers)))


def _other_rules(resource: PlannedResource, topics: Mapping[str, Topic]) -> Iterator[Alternative]:
    """Rules about the same part of a definition, with another consequence."""
    quoted = [topics[name] for name in rules_quoted(resource) if name in topics]
    own = {topic.consequence for topic in quoted}
    for subject in dict.fromkeys(topic.subject for topic in quoted):
        others: dict[str, dict[str, str]] = {}
        for topic in topics.values():
            if topic.kind == "rule" and topic.subject == subject and topic.consequence not in own:
                others.setdefault(topic.consequence, {}).setdefault(topic.title, topic.name)
        for consequence, changes in others.items():
            yield Alternative(
                outcome=consequence,
                how=f"{subject}: {', '.join(changes)}",
                names=tuple(changes.values()),
                source="rules",
            )


def _other_attributes(kind: ResourceType) -> Iterator[Alternative]:
    """The attributes of the block by the class of their change."""
    by_class: dict[ChangeClass, list[str]] = {}
    for name, over_state, does in _classes("", kind.schema):
        by_class.setdefault(does, []).append(name)
        if over_state is not None:
            by_class.setdefault(over_state, []).append(f"{name} (over state)")
    for does in ChangeClass:
        if does in by_class:
            yield Alternative(
                outcome=does.value,
                how=ALONE,
                names=tuple(by_class[does]),
                source=kind.name,
            )


def _classes(path: str, block: Block) -> Iterator[tuple[str, ChangeClass | None, ChangeClass]]:
    for name, attribute in block.attributes.items():
        if attribute.on_change is not None:
            yield f"{path}{name}", attribute.on_change.over_state, attribute.on_change.does
    for name, nested in block.blocks.items():
        yield from _classes(f"{path}{name}.", nested.block)
