"""Changes of a topic's settings in words: which of them let Kafka delete records. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.sdk.changes import Effect, Step
from flareiac_kafka.broker.cluster import ConfigChange

_UNLIMITED: Final = -1
_LIMITS: Final = {
    "retention.ms": "older than {0}",
    "retention.bytes": "above {0} bytes a partition, the oldest first,",
    "local.retention.ms": "",
}
_POLICY: Final = "cleanup.policy"
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"))


def config_change(
    wanted: Mapping[str, str], before: Mapping[str, str], own: Mapping[str, str]
) -> ConfigChange:
    """The settings to set and to reset. ``before``: those that were declared when it was recorded; ``own``:
    those that are set at the topic now.
    """
    return ConfigChange(
        set={name: value for name, value in wanted.items() if own.get(name) != value},
        reset=tuple(name for name in before if name not in wanted and name in own),
    )


def config_steps(change: ConfigChange, effective: Mapping[str, str]) -> Iterator[Step]:
    """One step for each setting. ``effective``: as they work now, defaults included."""
    for name, value in change.set.items():
        loss = _loss(name, value, effective)
        yield Step(
            text=f'set {name} to "{value}"',
            effect=Effect.METADATA if loss is None else Effect.LOSES_DATA,
            why=loss or "",
        )
    for name in change.reset:
        limits = name in _LIMITS or name == _POLICY
        yield Step(
            text=f"set {name} back to the default of the cluster",
            effect=Effect.LOSES_DATA if limits else Effect.METADATA,
            why="It may keep less: Kafka then deletes records." if limits else "",
        )


def _loss(name: str, value: str, effective: Mapping[str, str]) -> str | None:
    """The records that Kafka deletes with this value and kept with the one before, as a sentence; None where
    it keeps as much.
    """
    if name == _POLICY:
        return _policy_loss(value, effective.get(name))
    if not _LIMITS.get(name) or "delete" not in _parts(effective.get(_POLICY, "delete")):
        return None
    new, old = _limit(value), _limit(effective.get(name))
    if new is None or new == _UNLIMITED or (old is not None and old != _UNLIMITED and old <= new):
        return None
    shown = _duration(new) if name == "retention.ms" else f"{new:,}"
    was = "" if old is None else f" (until now: {_shown(name, old)})"
    return f"Kafka deletes records {_LIMITS[name].format(shown)} soon after{was}. They cannot be had back."


def _policy_loss(value: str, before: str | None) -> str | None:
    wanted, was = _parts(value), _parts(before or "")
    if "compact" in wanted and "compact" not in was:
        return (
            "Compaction keeps the newest record of each key only, and brokers refuse records without a key. "
            "What it deletes cannot be had back."
        )
    if "delete" in wanted and "delete" not in was:
        return "Kafka deletes records that are older or more than retention.ms and retention.bytes allow."
    return None


def _parts(policy: str) -> frozenset[str]:
    return frozenset(part.strip() for part in policy.split(","))


def _limit(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _shown(name: str, value: int) -> str:
    if value == _UNLIMITED:
        return "no limit"
    return _duration(value) if name == "retention.ms" else f"{value:,} bytes"


def _duration(value: int) -> str:
    for length, unit in _UNITS:
        if value % length == 0 and value >= length:
            return f"{value // length}{unit}"
    return f"{value}ms"
