"""The findings for one input by all the queries that read it. Pure."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias

from flareiac.sdk.brokers import BrokerWords
from flareiac_spark.sources.findings import (
    BeyondEnd,
    Finding,
    InputReach,
    Lag,
    NearDeletion,
    OffsetsGone,
    OtherCluster,
    PartitionsAdded,
    PartitionsGone,
    TopicGone,
    TopicRecreated,
    TopicsAdded,
    Unknown,
)

_Offsets: TypeAlias = tuple[int, int]


def by_input(reach: Mapping[str, Mapping[str, InputReach]]) -> dict[str, InputReach]:
    """The findings for each input, joined from those by query and input."""
    names = dict.fromkeys(name for inputs in reach.values() for name in inputs)
    return {name: joined(inputs[name] for inputs in reach.values() if name in inputs) for name in names}


def joined(reaches: Iterable[InputReach]) -> InputReach:
    """Each finding once: that of the query for which it is worst. Topics are known where each query knows
    them.
    """
    all_reaches = list(reaches)
    findings: dict[Hashable, Finding] = {}
    for finding in (finding for reach in all_reaches for finding in reach.findings):
        about = _about(finding)
        findings[about] = _worse(findings.get(about, finding), finding)
    topics = {name: extent for reach in all_reaches for name, extent in (reach.topics or {}).items()}
    known = bool(all_reaches) and all(reach.topics is not None for reach in all_reaches)
    words = next((reach.words for reach in all_reaches if reach.topics is not None), BrokerWords())
    return InputReach(findings=tuple(findings.values()), topics=topics if known else None, words=words)


def _about(finding: Finding) -> Hashable:
    """The part that two findings have in common if they say the same of two queries."""
    match finding:
        case Lag() | TopicsAdded():
            return (type(finding),)
        case TopicRecreated() | OtherCluster() | Unknown():
            return finding
        case _:
            return type(finding), finding.topic


def _worse(one: Finding, other: Finding) -> Finding:
    """The worse of two findings that say the same of two queries."""
    match one, other:
        case Lag(), Lag():
            return max(one, other, key=lambda finding: finding.total)
        case NearDeletion(), NearDeletion():
            return min(one, other, key=lambda finding: finding.at_ms)
        case OffsetsGone(topic=topic), OffsetsGone():
            return OffsetsGone(topic=topic, partitions=_each(one.partitions, other.partitions, min))
        case BeyondEnd(topic=topic), BeyondEnd():
            return BeyondEnd(topic=topic, partitions=_each(one.partitions, other.partitions, max))
        case PartitionsGone(topic=topic), PartitionsGone():
            return PartitionsGone(topic=topic, partitions=_union(one.partitions, other.partitions))
        case PartitionsAdded(topic=topic), PartitionsAdded():
            return PartitionsAdded(topic=topic, partitions=_union(one.partitions, other.partitions))
        case TopicsAdded(), TopicsAdded():
            return TopicsAdded(topics=tuple(sorted({*one.topics, *other.topics})))
        case TopicGone(topic=topic), TopicGone():
            return TopicGone(topic=topic, read=one.read or other.read)
        case _:
            return one


def _each(
    one: Mapping[int, _Offsets],
    other: Mapping[int, _Offsets],
    worse: Callable[[_Offsets, _Offsets], _Offsets],
) -> dict[int, _Offsets]:
    merged = dict(one)
    for number, offsets in other.items():
        merged[number] = worse(merged.get(number, offsets), offsets)
    return dict(sorted(merged.items()))


def _union(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({*one, *other}))
