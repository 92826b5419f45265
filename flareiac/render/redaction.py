"""Finds the values that must not be shown: those that a schema calls sensitive, and those that a planner
marked.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.paths import Path
from flareiac.model.plan import PlannedResource
from flareiac.sdk.schema import Block, Pattern, sensitive_paths

Schemas: TypeAlias = Mapping[str, Block]
"""The schema of each block type, by name."""


class Redacted:
    """The placeholder for a sensitive value."""

    def __repr__(self) -> str:
        return "(sensitive value)"


REDACTED: Final = Redacted()


def sensitive_in(resource: PlannedResource, schemas: Schemas) -> tuple[Pattern, ...]:
    """The places that must not be shown of one planned resource: those that its type calls sensitive, now or
    when the plan was made, and those that its planner marked.
    """
    marked: list[Pattern] = [change.path for change in resource.proposal.changes if change.sensitive]
    return (*sensitive_paths(schemas.get(resource.type)), *resource.sensitive, *marked)


def hides(patterns: Sequence[Pattern], path: Path) -> bool:
    """Returns True if a path is a sensitive place, or lies in one."""
    return any(len(pattern) <= len(path) and _matches(pattern, path) for pattern in patterns)


def hide(value: Data, patterns: Iterable[Pattern]) -> Data:
    """The value with ``REDACTED`` wherever something sensitive stood (null stays null: it tells nothing)."""
    inner = list(patterns)
    if value is None or not inner:
        return value
    if any(not pattern for pattern in inner):
        return REDACTED
    match value:
        case dict():
            return {key: hide(member, _below(inner, key)) for key, member in value.items()}
        case list() | tuple():
            return [hide(element, _below(inner, index)) for index, element in enumerate(value)]
        case _:
            return value


def hide_attributes(value: Attributes | None, patterns: Sequence[Pattern]) -> Attributes | None:
    """``hide`` for a whole body."""
    return (
        None if value is None else {key: hide(member, _below(patterns, key)) for key, member in value.items()}
    )


def _below(patterns: Iterable[Pattern], step: str | int) -> list[Pattern]:
    return [pattern[1:] for pattern in patterns if pattern and pattern[0] in (None, step)]


def _matches(pattern: Pattern, path: Path) -> bool:
    return all(want in (None, have) for want, have in zip(pattern, path, strict=False))
