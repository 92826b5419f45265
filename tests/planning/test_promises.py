"""A planner keeps the user's wishes; of a value that means what is recorded it may plan recorded parts, and
nothing else.
"""

from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes
from flareiac.planning.contract_checks import violations
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.project import Project
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Recorded

WAS: Attributes = {"query": {"a": "SELECT 1", "old": 1}, "note": "was"}
WANTED: Attributes = {"query": {"a": "select 1", "new": 1}, "note": "is"}


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
    request = PlanRequest(
        address="job.x",
        desired=WANTED,
        recorded=Recorded(attributes=WAS, identity={}),
        observed=Missing(),
        references={},
        project=Project(root=Path("/")),
    )
    found = violations(request, Proposal(action=Action.RECORD, planned=planned, keeps=keeps), kind, "spark")
    assert [item.code for item in found] == ([] if fine else ["FIP020"])
