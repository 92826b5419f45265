"""The class of change that the reference names for an attribute is the one that a plan comes to."""

from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.sdk.changes import Proposal
from flareiac.sdk.on_change import ChangeClass
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from flareiac_kafka.topic.spec import TopicFacts
from tests.spark.declared import loaded

TOPIC = """
kafka "main" { bootstrap_servers = "here:9092" }
kafka "other" { bootstrap_servers = "there:9092" }
topic "t" {
  kafka              = kafka.main
  name               = "t"
  partitions         = 3
  replication_factor = 1
  config             = { "compression.type" = "gzip" }
  on_destroy         = "retain"
}
"""
EDITS = {
    "kafka": ("kafka.main\n  name", "kafka.other\n  name"),
    "name": ('"t"\n', '"u"\n'),
    "partitions": ("= 3", "= 4"),
    "replication_factor": ("= 1", "= 2"),
    "config": ('"gzip"', '"lz4"'),
    "on_destroy": ('"retain"', '"delete"'),
}


def class_of(plan: Proposal) -> ChangeClass:
    if plan.blockers:
        return ChangeClass.REFUSED
    if [change.note for change in plan.changes] == [ChangeClass.RECORDED]:
        return ChangeClass.RECORDED
    (step,) = plan.steps
    return ChangeClass(step.effect)


def test_each_attribute_has_a_case() -> None:
    assert EDITS.keys() == installed().registry.types["topic"].schema.attributes.keys()


@pytest.mark.parametrize("name", EDITS)
def test_the_plan_comes_to_the_class_of_the_reference(name: str, tmp_path: Path) -> None:
    type_ = installed().registry.types["topic"]
    assert type_.planning.planner is not None
    old, new = loaded(TOPIC, tmp_path / "old"), loaded(TOPIC.replace(*EDITS[name]), tmp_path / "new")
    assert not new.diagnostics
    recorded = Recorded(attributes=old.attributes("topic.t"), identity={"id": "i", "cluster_id": "c"})
    facts = TopicFacts(effective={"compression.type": "gzip"})
    request = PlanRequest(
        address="topic.t",
        desired=new.attributes("topic.t"),
        recorded=recorded,
        observed=Present(attributes=recorded.attributes, identity=recorded.identity, facts=facts),
        references=new.references(),
        project=new.project,
    )
    on_change = type_.schema.attributes[name].on_change
    assert on_change is not None
    assert class_of(type_.planning.planner().plan(request)) == on_change.does
