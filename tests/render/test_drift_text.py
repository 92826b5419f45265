"""The text of ``drift``."""

import json

from flareiac.kernel.data import ABSENT, UNKNOWN
from flareiac.model.drift import DriftClass, DriftEntry, DriftReport
from flareiac.render.drift import change_json, drift_text
from flareiac.sdk.changes import Origin
from tests.render.plans import change, secret


def report() -> DriftReport:
    changes = (
        change(("properties", "x"), "7d", "7d", live="5d", origin=Origin.DRIFT),
        change(("comment",), "c", "c", live=ABSENT, origin=Origin.DRIFT),
        secret(("password",), "hunter2", "hunter2"),
    )
    return DriftReport(
        entries=(
            DriftEntry(address="table.a", kind=DriftClass.UNMANAGED, texts=('column "extra"',)),
            DriftEntry(
                address="table.a",
                kind=DriftClass.CHANGED,
                texts=("two attributes were changed",),
                changes=changes,
            ),
            DriftEntry(address="job.b", kind=DriftClass.MISSING, texts=("the driver is dead",)),
        ),
        checked=4,
    )


def test_the_worst_comes_first_and_the_last_line_counts() -> None:
    assert drift_text(report()) == (
        """\
  # job.b is missing
      the driver is dead

  # table.a has changed
      two attributes were changed
      ~ properties.x = "7d" (recorded) -> "5d" (live)
      - comment = "c" (recorded), gone
      ~ password = (sensitive value) (recorded) -> (sensitive value) (live)

  # table.a holds what is not declared
      column "extra"

Drift: 1 missing, 1 changed, 1 unmanaged; 4 resources checked.
"""
    )


def test_no_drift_says_how_much_was_looked_at() -> None:
    assert drift_text(DriftReport(checked=1)) == "No drift. 1 resource checked.\n"


def test_a_changed_attribute_as_json_leaves_out_what_is_sensitive_or_unknown() -> None:
    drifted, _gone, hidden = report().entries[1].changes
    assert change_json(drifted) == {
        "path": ["properties", "x"],
        "attribute": "properties.x",
        "recorded": "7d",
        "live": "5d",
        "desired": "7d",
        "sensitive": False,
    }
    assert "hunter" not in json.dumps(change_json(hidden))
    assert change_json(change(("x",), 1, UNKNOWN))["desired"] is None
