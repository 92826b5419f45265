"""A planner keeps the user's wishes; of a value that means what is recorded it may plan recorded parts, and
nothing else.
"""

from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes
from flareiac.planning.contract_checks import second_round, violations
from flareiac.sdk.changes import Action, Effect, Impact, Proposal, Reaction, Relation, Stage, Step
from flareiac.sdk.project import Project
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Recorded

WAS: Attributes = {"query": {"a": "SELECT 1", "old": 1}, "note": "was"}
WANTED: Attributes = {"query": {"a": "select 1", "new": 1}, "note": "is"}
ASKED = PlanRequest(
    address="job.x",
    desired=WANTED,
    recorded=Recorded(attributes=WAS, identity={}),
    observed=Missing(),
    references={},
    project=Project(root=Path("/")),
)


@pytest.mark.parametrize(
    ("planned", "keeps", "fine"),
    [
        (WANTED, (), True),
        ({**WANTED, "query": WAS["query"]}, (), False),
        ({**WANTED, "query": WAS["query"]}, ("query",), True),
        ({**WANTED, "query": {"a": "SELECT 1", "new": 1}}, ("query",), True),
        ({**WANTED, "query": {"a": "SELECT 2", "new": 1}}, ("query",), False),
        ({**WANTED, "query": {"a": "select 1", "other": 1}}, ("query",), False),
        ({**WANTED, "note": "was"}, ("query",), False),
    ],
)
def test_only_what_is_kept_by_name_may_stay_as_it_was(
    planned: Attributes, keeps: tuple[str, ...], fine: bool
) -> None:
    kind = installed().registry.types["job"]
    found = violations(ASKED, Proposal(action=Action.RECORD, planned=planned, keeps=keeps), kind, "spark")
    assert [item.code for item in found] == ([] if fine else ["FIP020"])


RUNS = Proposal(action=Action.NO_OP, planned=WANTED)
STOPS = Step(text="stops before the change and starts after it", effect=Effect.RESTART)
DISTURBS = Impact(relation=Relation.WRITES, reaction=Reaction.RESTARTS, reason="it is somewhere else now")


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (Proposal(action=Action.UPDATE, planned=WANTED, steps=(STOPS,)), ""),
        (Proposal(action=Action.UPDATE, planned=WANTED, disturbs=(DISTURBS,)), "disturbs"),
        (Proposal(action=Action.UPDATE, planned=WAS, steps=(STOPS,)), "planned"),
        (Proposal(action=Action.DELETE, planned=WANTED), "delete"),
        (
            Proposal(
                action=Action.UPDATE,
                planned=WANTED,
                steps=(Step(text="empties it", effect=Effect.LOSES_DATA),),
            ),
            "empties it",
        ),
    ],
    ids=["stops", "disturbs others", "plans something else", "goes", "loses data"],
)
def test_what_is_asked_again_because_of_others_may_only_add_stops(second: Proposal, what: str) -> None:
    found = second_round(RUNS, second, "job.x", "spark")
    assert [item.code for item in found] == (["FIP020"] if what else [])
    assert all(what in item.detail for item in found)


@pytest.mark.parametrize(
    ("stages", "fine"),
    [
        ((Stage(name="early", text="a", early=True), Stage(name="late", text="b")), True),
        ((Stage(name="late", text="b"), Stage(name="early", text="a", early=True)), False),
        ((Stage(name="twice", text="a"), Stage(name="twice", text="b")), False),
        ((Stage(name="two words", text="a"),), False),
    ],
)
def test_stages_have_names_of_their_own_and_early_ones_come_first(
    stages: tuple[Stage, ...], fine: bool
) -> None:
    kind = installed().registry.types["job"]
    made = Proposal(action=Action.CREATE, planned=WANTED, stages=stages)
    assert [item.code for item in violations(ASKED, made, kind, "spark")] == ([] if fine else ["FIP020"])
    nothing = Proposal(action=Action.NO_OP, planned=WANTED, stages=stages)
    assert violations(ASKED, nothing, kind, "spark")
