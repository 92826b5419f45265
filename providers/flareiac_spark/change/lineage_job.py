"""A job as other programs see it: the datasets that it reads and writes, and its queries. Pure."""

from collections.abc import Iterator
from typing import assert_never

from flareiac.kernel.data import Attributes
from flareiac.sdk.dataset_names import DatasetName, files_dataset, topic_dataset
from flareiac.sdk.lineage import Dataset, Field, LineageJob, Origin
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark.definition.input_definition import FilesInput, Input, StreamInput, TableInput
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.output_definition import KafkaOutput, Output, TableOutput
from flareiac_spark.places import absolute_place
from flareiac_spark.stream.stream_definition import StreamDefinition
from flareiac_spark_runtime.sources.kafka_client import SERVERS


def lineage_job(attributes: Attributes, references: References, project: Project) -> LineageJob:
    """Tables and topics that blocks declare are named by their addresses."""
    job = JobDefinition.of(attributes)
    wanted = job.application.openlineage if job.application is not None else None
    outputs = (part for _name, output in sorted(job.outputs.items()) for part in _written(output))
    return LineageJob(
        origins=tuple(_origin(each, references, project) for _name, each in sorted(job.inputs.items())),
        outputs=tuple(dict.fromkeys(outputs)),
        is_streaming=job.mode == "stream",
        queries=tuple(job.queries.items()),
        namespace=wanted.namespace if wanted is not None else "",
    )


def _origin(each: Input, references: References, project: Project) -> Origin:
    match each:
        case StreamInput(stream=stream, source=source):
            declared = references.get(stream.address)
            columns = () if declared is None else StreamDefinition.of(declared.attributes).columns
            fields = tuple(Field(name=column.name, type=column.type) for column in columns)
            parts = source.lineage_parts(references, project)
            return Origin(address=stream.address, parts=tuple(map(_part, parts)), fields=fields)
        case TableInput(table=table):
            return Origin(address=table.address, parts=(table.address,))
        case FilesInput(path=path, columns=columns):
            fields = tuple(Field(name=name, type=text) for name, text in columns.items())
            name = files_dataset(str(absolute_place(path, project)))
            return Origin(address=path, parts=(_part(name),), fields=fields)
        case _:
            assert_never(each)


def _written(output: Output) -> Iterator[str | Dataset]:
    match output:
        case TableOutput(table=table):
            yield table.address
        case KafkaOutput(resource=None, topic=topic, client=client):
            yield _part(topic_dataset(client.get(SERVERS, ""), topic))
        case KafkaOutput(resource=resource):
            assert resource is not None
            yield resource.address
        case _:
            assert_never(output)


def _part(part: str | DatasetName) -> str | Dataset:
    """A dataset that no block declares has no name but its own."""
    if isinstance(part, str):
        return part
    source = DatasetName(namespace=part.namespace, name=part.namespace.rpartition("://")[2])
    return Dataset(name=part, source=source)
