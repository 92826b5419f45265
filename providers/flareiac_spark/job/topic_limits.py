"""The sizes that topics take at once to which jobs write, where an output sets how much its producer sends.
Touches brokers.
"""

from collections.abc import Iterator, Mapping, Sequence

from flareiac.kernel.data import is_known
from flareiac.kernel.records import Mismatch
from flareiac.sdk.brokers import TopicSelection
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest, ReadRequest
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput
from flareiac_spark.definition.outputs import topic_settings
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job.brokers import Answers, Asked, Brokers
from flareiac_spark.sources.reachable import BrokerPosition
from flareiac_spark.sources.source import TopicRead
from flareiac_spark_runtime.sources.kafka_client import LARGEST_BATCH, SENT_AT_ONCE, exceeding


def asked_of(request: ReadRequest) -> Iterator[tuple[str, Asked]]:
    """The questions for the outputs of a declared job, by output."""
    if request.desired is None:
        return
    try:
        outputs = JobDefinition.of(request.desired).outputs
    except Mismatch:
        return  # reading that job reports it
    for name, output in outputs.items():
        if isinstance(output, KafkaOutput) and _is_asked(output, request.references):
            connection = request.references.get(output.connection.address) if output.connection else None
            if connection is not None:
                read = TopicRead(connection=connection, selection=TopicSelection(names=(output.topic,)))
                yield name, Asked(read=read, position=BrokerPosition())


def limits_of(
    requests: Sequence[ReadRequest], brokers: Brokers, answers: Answers
) -> dict[str, dict[str, int]]:
    """Bytes that a topic takes at once, by job and output; nothing where that is not known."""
    limits_by_job: dict[str, dict[str, int]] = {}
    for request in requests:
        for name, asked in asked_of(request):
            topics = brokers.topics(asked, answers)
            limits = [topic.largest_batch for topic in topics.values() if topic.largest_batch is not None]
            if limits:
                limits_by_job.setdefault(request.address, {})[name] = limits[0]
    return limits_by_job


def blockers(case: JobCase) -> Iterator[Blocker]:
    """The reasons that a job would be refused at its start: its producer sends more at once than the topic
    takes.
    """
    for name, limit in case.facts.topic_limits.items():
        output = case.desired.outputs.get(name)
        if isinstance(output, KafkaOutput):
            for setting, given in exceeding({**output.client, **output.options}, limit):
                yield _exceeds(case.request, name, output, f"{setting} = {given}", limit)


def _exceeds(request: PlanRequest, name: str, output: KafkaOutput, setting: str, limit: int) -> Blocker:
    own = setting.partition(" ")[0] in output.options
    where = f'options of output "{name}" of {request.address}' if own else f"options of {output.connection}"
    return blocker(
        codes.PRODUCER_EXCEEDS_TOPIC,
        why=(
            f"{setting} in {where} is more than {output.place} takes ({LARGEST_BATCH} = {limit}).\nRecords "
            "would be lost without an error, so that the job would not start."
        ),
        ways_out=(
            f"lower it to {limit} or less, in {where}",
            f"raise {LARGEST_BATCH} of {output.place}, and plan again",
        ),
    )


def _is_asked(output: KafkaOutput, references: References) -> bool:
    """Not where its block declares how much the topic takes: that is checked as it is declared."""
    settings: Mapping[str, object] = {**output.client, **output.options}
    if not is_known([output.topic]) or not set(SENT_AT_ONCE) & set(settings):
        return False
    return (topic_settings(output.resource, references) or {}).get(LARGEST_BATCH) is None
