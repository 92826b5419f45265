"""Topics of another cluster than recorded: what a plan says where the names are the same."""

from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes, Reference
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.project import Project
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Observation, Present, Recorded
from flareiac_kafka import codes
from flareiac_kafka.topic.plan import TopicPlanner
from flareiac_kafka.topic.spec import Absence, TopicDefinition, TopicFacts, TopicIdentity

TOPIC: Attributes = encode(
    TopicDefinition(
        kafka=Reference("kafka.main"), name="orders", partitions=2, config={}, on_destroy="delete"
    )
)
HERE = TopicIdentity(id="topic-1", cluster_id="cluster-1")


def proposal(observed: Observation, *, declared: bool = True, import_id: str | None = None) -> Proposal:
    """The plan of a topic that is recorded in one cluster."""
    return TopicPlanner().plan(
        PlanRequest(
            address="topic.orders",
            desired=TOPIC if declared else None,
            recorded=Recorded(attributes=TOPIC, identity=encode(HERE)),
            observed=observed,
            references={},
            project=Project(root=Path("/project")),
            importing=import_id is not None,
            import_id=import_id,
        )
    )


def present(identity: TopicIdentity) -> Present:
    return Present(attributes=TOPIC, identity=encode(identity), facts=TopicFacts())


@pytest.mark.parametrize(
    "observed",
    [
        Missing(facts=Absence(cluster_id="cluster-2")),
        present(TopicIdentity(id="topic-9", cluster_id="cluster-2")),
    ],
    ids=["missing there", "another one there"],
)
def test_a_topic_of_another_cluster_is_neither_made_nor_taken(observed: Observation) -> None:
    found = proposal(observed)
    assert [item.code for item in found.blockers] == [codes.OTHER_CLUSTER.id]
    assert "cluster-2" in found.blockers[0].why
    adopting = proposal(observed, import_id="main/orders@topic-9")
    assert [item.code for item in adopting.blockers] == [codes.OTHER_CLUSTER.id]


def test_the_topic_of_another_cluster_is_not_deleted() -> None:
    there = present(TopicIdentity(id="topic-9", cluster_id="cluster-2"))
    assert [item.code for item in proposal(there, declared=False).blockers] == [codes.OTHER_CLUSTER.id]


def test_a_topic_that_is_not_in_another_cluster_is_not_forgotten_in_its_own() -> None:
    found = proposal(Missing(facts=Absence(cluster_id="cluster-2")), declared=False)
    assert [item.code for item in found.blockers] == [codes.OTHER_CLUSTER.id]


def test_a_cluster_without_ids_of_topics_is_taken_by_its_names() -> None:
    found = proposal(present(TopicIdentity(id=None, cluster_id="cluster-1")))
    assert found.action in (Action.NO_OP, Action.RECORD)
    assert not found.blockers
