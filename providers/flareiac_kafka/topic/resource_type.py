"""The type ``topic``."""

from typing import Final

from flareiac.kernel.types import STRING
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.type_roles import Planner, Planning, Recording, Relations, Showing
from flareiac_kafka.topic.canonical import canonical, usages
from flareiac_kafka.topic.dataset import dataset
from flareiac_kafka.topic.schema import SCHEMA


def _planner() -> Planner:
    from flareiac_kafka.topic.plan import TopicPlanner

    return TopicPlanner()


def _examine(recorded: Recorded) -> None:
    from flareiac_kafka.topic.spec import examine

    examine(recorded)


TOPIC: Final = ResourceType(
    name="topic",
    kind=Kind.MANAGED,
    schema=SCHEMA,
    description="A topic of a Kafka cluster: partitions, copies and settings.",
    canonical=canonical,
    computed={"id": STRING, "cluster_id": STRING},
    planning=Planning(planner=_planner, is_replaceable=True),
    recording=Recording(examine=_examine),
    relations=Relations(usages=usages, dataset=dataset),
    showing=Showing(import_ids="KAFKA/TOPIC, such as main/orders"),
)
