"""A topic as the dataset that it is to other programs. Pure."""

from flareiac.kernel.addresses import instance_label
from flareiac.kernel.data import Attributes
from flareiac.sdk.dataset_names import DatasetName, topic_dataset
from flareiac.sdk.lineage import Dataset
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_kafka.connection.spec import ConnectionDefinition
from flareiac_kafka.topic.spec import TopicDefinition


def dataset(attributes: Attributes, references: References, _project: Project) -> Dataset | None:
    """None where its cluster is not declared."""
    topic = TopicDefinition.of(attributes)
    connection = references.get(topic.kafka.address)
    if connection is None:
        return None
    name = topic_dataset(ConnectionDefinition.of(connection.attributes).bootstrap_servers, topic.name)
    source = DatasetName(namespace=name.namespace, name=instance_label(topic.kafka.address))
    return Dataset(name=name, source=source)
