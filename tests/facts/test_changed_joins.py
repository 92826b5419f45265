"""The effect of a changed query on its joins of two streams. The planner's classes of change rest on these
rows.
"""

import pytest

from tests.facts.changed_state import JOINS, Row, fresh, params, play
from tests.facts.lake import Lake

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize("change", params(JOINS))
def test_changed_join(lake: Lake, change: Row) -> None:
    """A change that is accepted with other rows never happens without somebody's word for it; one that is
    refused needs a new generation.
    """
    found = play(lake, change)
    right = found if found.startswith("!") else fresh(lake, change.after)
    assert (found, None if right == found else right) == (change.outcome, change.right)
