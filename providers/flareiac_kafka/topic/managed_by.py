"""The state that manages a topic, by the mark that the topic carries. Pure.

Kafka keeps nothing with a topic but settings that have a meaning. The mark is the number of
``flush.messages``: after how many messages of a partition a broker asks the disk to write. By default that is
2^63 - 1, which is never. A mark is a number from 2^62 on, never as well, and its lower bits are the
beginning of the state's lineage. Only a topic whose ``flush.messages`` is that default gets one, so that no
choice of an operator is replaced. Where a cluster keeps no such setting, topics carry no mark, and who
manages them is not known.
"""

from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from flareiac.sdk.changes import Blocker, Effect, Step, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.takeover import takes_over, ways_out
from flareiac_kafka import codes
from flareiac_kafka.broker.cluster import ConfigValue

MARK_SETTING: Final = "flush.messages"
_NEVER: Final = 2**63 - 1
_LINEAGE_BITS: Final = 48
_LINEAGE_DIGITS: Final = _LINEAGE_BITS // 4
_FIRST_MARK: Final = 2**62 + (0x0F1A << _LINEAGE_BITS)
UNGUARDED: Final = (
    f"the state that managed the topic is not kept from changing it: with {MARK_SETTING} in config, the "
    "topic carries no mark"
)
UNMARKED: Final = (
    "whether another state manages the topic is not known: it carries no mark. Two states would undo each "
    "other's changes"
)


def is_mark(value: str) -> bool:
    """Returns True if a value of ``MARK_SETTING`` is a mark."""
    return bool(manager_of({MARK_SETTING: ConfigValue(value=value, is_own=True)}))


def mark_of(lineage: str) -> str | None:
    """The value of ``MARK_SETTING`` at a topic that the state manages; None for a lineage that is no UUID."""
    known = _beginning(lineage)
    return None if known is None else str(_FIRST_MARK + int(known, 16))


def manager_of(config: Mapping[str, ConfigValue]) -> str:
    """The beginning of the lineage of the state that manages a topic, 12 hexadecimal digits; empty where it
    carries no mark.
    """
    setting = config.get(MARK_SETTING)
    number = _number(setting) if setting is not None and setting.is_own else None
    if number is None or not 0 <= number - _FIRST_MARK < 1 << _LINEAGE_BITS:
        return ""
    return f"{number - _FIRST_MARK:0{_LINEAGE_DIGITS}x}"


def can_be_marked(config: Mapping[str, ConfigValue]) -> bool:
    """Returns True if a mark replaces nothing: an earlier mark, or the default of a broker that flushes by no
    number of messages.
    """
    setting = config.get(MARK_SETTING)
    if setting is None:
        return False
    return bool(manager_of(config)) or (not setting.is_own and _number(setting) == _NEVER)


def is_own_state(manager: str, lineage: str) -> bool:
    """Returns True if a mark is that of the state with this lineage."""
    return manager == _beginning(lineage)


def another_state(manager: str, lineage: str) -> str:
    """The beginning of the lineage of another state that manages a topic; empty where none is known, or
    where the own lineage is not.
    """
    own = _beginning(lineage)
    return manager if own is not None and manager != own else ""


def managed_elsewhere(request: PlanRequest, import_id: str, manager: str) -> tuple[Blocker, ...]:
    """A blocker where another state manages the topic, and no import block takes it over."""
    other = another_state(manager, request.project.lineage)
    if not other or takes_over(request):
        return ()
    detail = (
        f"The topic {import_id} is managed by the state whose lineage begins with {other}, and this one is "
        f"{request.project.lineage}."
    )
    if request.recorded is None:
        why = "It belongs to another project, to another workspace, or to a state that was lost."
    else:
        why = "That state has taken it over."
    instead = "read it or write to it by its name, without a topic block, or give the block another name"
    ways = ways_out(request, import_id, instead)
    return (blocker(codes.TOPIC_MANAGED_ELSEWHERE, f"{detail} {why}", ways),)


def taken_over(request: PlanRequest, manager: str) -> Iterator[str]:
    """That another state has taken over a topic of this one, as a change behind the team's back."""
    if request.recorded is not None and (other := another_state(manager, request.project.lineage)):
        yield f"the state whose lineage begins with {other} has taken the topic over"


def marking(request: PlanRequest, manager: str, *, can_be_marked: bool) -> Iterator[Step]:
    """The step that makes this state the one that manages a topic which it adopts or changes."""
    own = _beginning(request.project.lineage)
    if own is None or manager == own or not can_be_marked:
        return
    if not manager:
        text = "mark the topic as managed by this state"
        why = "Another state needs takeover = true to import it."
    else:
        text = f"take the topic over from the state whose lineage begins with {manager}"
        why = "That state refuses to change it from then on."
    yield Step(text=text, effect=Effect.METADATA, why=f"{why} Kafka shows the mark as {MARK_SETTING}.")


def _beginning(lineage: str) -> str | None:
    try:
        return UUID(lineage).hex[:_LINEAGE_DIGITS]
    except ValueError:
        return None


def _number(setting: ConfigValue) -> int | None:
    try:
        return int(setting.value or "")
    except ValueError:
        return None
