"""The findings about the records that an input has yet to read, in words. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flareiac.sdk.brokers import BrokerWords
from flareiac_spark.sources.findings import (
    BeyondEnd,
    Finding,
    InputReach,
    Lag,
    Lost,
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
from flareiac_spark_runtime.utc import utc_text

_SHOWN: Final = 3
_UNITS: Final = ((24 * 3_600_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def headline(finding: Lost, words: BrokerWords) -> str:
    """The part of a sentence that names what is wrong. It holds no offset, so that it stays while they
    move.
    """
    match finding:
        case OffsetsGone(topic=topic):
            return f"the brokers have deleted the next records to read of {words.topic} {topic}"
        case BeyondEnd(topic=topic):
            return f"{words.topic} {topic} ends before the offsets that were read of it"
        case PartitionsGone(topic=topic):
            return f"{words.topic} {topic} lacks {words.partition}s that were read"
        case TopicRecreated(topic=topic):
            return f"{words.topic} {topic} was deleted and created again"
        case TopicGone(topic=topic):
            return f"{words.topic} {topic} does not exist"
        case OtherCluster():
            return f"the brokers belong to another {f'{words.system} {words.cluster}'.strip()}"


def details(finding: Lost, words: BrokerWords) -> str:
    """The values, and what they mean, as sentences."""
    match finding:
        case OffsetsGone(partitions=partitions):
            lost = sum(first - at for at, first in partitions.values())
            places = _partitions(
                {
                    number: f"goes on at offset {at}, and the first one that is left is {first}"
                    for number, (at, first) in partitions.items()
                },
                words,
            )
            return f"{places}. {_offsets(lost)} can no longer be read."
        case BeyondEnd(partitions=partitions):
            places = _partitions(
                {
                    number: f"was read up to offset {at}, and ends at {end}"
                    for number, (at, end) in partitions.items()
                },
                words,
            )
            return f"{places}. It is another {words.topic} of the same name, or it has lost records."
        case PartitionsGone(partitions=partitions):
            return f"{_numbers(partitions, words)} not there: it is another {words.topic} of the same name."
        case TopicRecreated(noted=noted, current=there):
            return (
                f"The query read the {words.topic} with the id {noted}; the one of this name now has {there}."
            )
        case TopicGone(read=read):
            return "The query has read it before." if read else ""
        case OtherCluster(noted=noted, current=there):
            return (
                f"The checkpoint holds offsets of the {words.cluster} {noted}, and the brokers are of "
                f"{there}. They mean other records there."
            )


def complaint(finding: Finding, words: BrokerWords) -> str | None:
    """The complaint about a job with this finding; None for a finding that is no fault."""
    match finding:
        case Unknown(why=why):
            return f"unknown whether the records that it has yet to read are still there: {why}"
        case NearDeletion():
            return near_deletion(finding, words)
        case TopicGone(topic=topic, read=False):
            return f"{words.topic} {topic} does not exist"
        case Lag() | PartitionsAdded() | TopicsAdded():
            return None
        case _:
            head, text = headline(finding, words), details(finding, words)
            return f"{head}. {text}" if text else head


def near_deletion(finding: NearDeletion, words: BrokerWords) -> str:
    """The time at which retention reaches the next record to read, in words."""
    where = (
        f"the next record to read of {words.topic} {finding.topic}, {words.partition} {finding.partition},"
    )
    if finding.left_ms <= 0:
        return f"{where} is older than the {words.topic}'s retention: the brokers can delete it at any moment"
    when = f"from about {time_text(finding.at_ms)} on, in {span_text(finding.left_ms)}"
    return f"{where} is deleted by the {words.topic}'s retention {when}"


def news(reach: InputReach) -> list[str]:
    """The partitions and topics that an input reads from now on and has not read so far."""
    texts, words = [], reach.words
    for finding in reach.findings:
        match finding:
            case PartitionsAdded(topic=topic, partitions=partitions):
                texts.append(
                    f"new in {words.topic} {topic}: {_named(partitions, words)}, read from the beginning"
                )
            case TopicsAdded(topics=topics):
                several = "s" * (len(topics) > 1)
                texts.append(f"new {words.topic}{several} {_listed(topics)}, read from the beginning")
            case _:
                pass
    return texts


def lag_text(offsets: int) -> str:
    """The lag of a query, in words."""
    return "1 record" if offsets == 1 else f"{offsets:,} records"


def time_text(at_ms: int) -> str:
    """A moment, as in other plans."""
    return utc_text(at_ms, timespec="seconds")


def span_text(span_ms: int) -> str:
    """A span in its greatest unit of which there are at least two, without a fraction: ``3 h``, ``90 s``."""
    for size, unit in _UNITS:
        if span_ms >= 2 * size or (span_ms >= size and unit == "s"):
            return f"{span_ms // size} {unit}"
    return "less than 1 s"


def _partitions(texts: Mapping[int, str], words: BrokerWords) -> str:
    shown = [f"{words.partition} {number} {text}" for number, text in sorted(texts.items())[:_SHOWN]]
    more = len(texts) - _SHOWN
    listing = "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
    return f"{listing[:1].upper()}{listing[1:]}"


def _numbers(numbers: Sequence[int], words: BrokerWords) -> str:
    text = _named(numbers, words)
    return f"{text[:1].upper()}{text[1:]} {'is' if len(numbers) == 1 else 'are'}"


def _named(numbers: Sequence[int], words: BrokerWords) -> str:
    return f"{words.partition}{'s' * (len(numbers) > 1)} {_listed(str(number) for number in numbers)}"


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - _SHOWN
    return ", ".join(listed[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _offsets(count: int) -> str:
    return "1 offset" if count == 1 else f"{count:,} offsets"
