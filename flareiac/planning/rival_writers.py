"""Finds writers of one subject that undo each other's work. Pure: usages in, diagnostics out."""

from collections.abc import Iterable
from itertools import combinations

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, error, warning
from flareiac.model.desired import Desired
from flareiac.sdk.changes import Relation, Sharing, Usage


def rivals(usages: Iterable[Usage], desired: Desired) -> list[Diagnostic]:
    """An error for each pair in which one replaces all rows, a warning for each in which one changes rows of
    the other.
    """
    by_place: dict[tuple[str, str | None], list[Usage]] = {}
    for usage in usages:
        if usage.relation is Relation.WRITES:
            by_place.setdefault((usage.subject, usage.part), []).append(usage)
    pairs = [pair for held in by_place.values() for pair in combinations(held, 2)]
    return [diagnostic for one, other in pairs if (diagnostic := _judged(one, other, desired)) is not None]


def _judged(one: Usage, other: Usage, desired: Desired) -> Diagnostic | None:
    # The one that does more to the other's rows is the one that is explained.
    active, passive = sorted((one, other), key=lambda usage: list(Sharing).index(usage.sharing), reverse=True)
    if active.sharing is Sharing.ADDS:
        return None
    place = f"{active.subject} (branch {active.part})" if active.part else active.subject
    holder = desired.resources.get(active.holder)
    subject = holder.span if holder else None
    if active.sharing is Sharing.REPLACES:
        return error(
            codes.RIVAL_WRITERS_REPLACE,
            f'{_named(active)} writes {place} with mode = "{active.mode}": each time it leaves only its '
            "own rows, and those of "
            f"{_named(passive)} are gone. Give them tables or branches of their own, or change the mode.",
            subject=subject,
            address=active.holder,
        )
    return warning(
        codes.RIVAL_WRITERS_CHANGE,
        f'{_named(active)} writes {place} with mode = "{active.mode}", and {_named(passive)} writes it with '
        f'mode = "{passive.mode}": where both write the same keys or partitions, the last one wins.',
        subject=subject,
        address=active.holder,
    )


def _named(usage: Usage) -> str:
    return f"{usage.holder} ({usage.reason})"
