"""The effect of a changed query on its aggregations and deduplications. The planner's classes of change rest
on these rows.
"""

import pytest

from tests.facts.changed_state import ABOVE, AGGREGATES, KEYS, STATE, WINDOWS, Row, fresh, params, play
from tests.facts.lake import Lake

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize("change", params((*AGGREGATES, *KEYS, *WINDOWS, *STATE)))
def test_changed_state(lake: Lake, change: Row) -> None:
    """A change that is accepted with other numbers never happens without somebody's word for it; one that is
    refused needs a new generation.
    """
    found = play(lake, change)
    right = found if found.startswith("!") else fresh(lake, change.after)
    assert (found, None if right == found else right) == (change.outcome, change.right)


@pytest.mark.parametrize("change", params(ABOVE))
def test_changed_above_the_state(lake: Lake, change: Row) -> None:
    """Class *restart*: rows that were written stay, those from now on follow the new query."""
    assert play(lake, change) == change.outcome
