"""The text of ``drift``."""

import json

from flareiac.kernel.data import ABSENT, UNKNOWN
from flareiac.kernel.types import STRING
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport, fingerprint_of
from flareiac.render.drift import drift_text, finding_json, without_secrets
from flareiac.sdk.results import Trace, Writer
from flareiac.sdk.schema import Attribute, Block


def report() -> DriftReport:
    by = Writer(program="spark", version="4.1.0", user="ada", application="app-1")
    return DriftReport(
        findings=(
            DriftFinding(
                address="table.a",
                kind=DriftClass.UNMANAGED,
                text='column "extra"',
                path=("column", "extra"),
                fingerprint="01",
            ),
            DriftFinding(
                address="table.a",
                kind=DriftClass.CHANGED,
                text="x was changed",
                path=("properties", "x"),
                old="7d",
                live="5d",
                fingerprint="02",
                trace=Trace(since=1_000_000_000, by=by),
            ),
            DriftFinding(
                address="table.a",
                kind=DriftClass.CHANGED,
                text="the comment was removed",
                path=("comment",),
                old="c",
                live=ABSENT,
                fingerprint="03",
            ),
            DriftFinding(
                address="table.a",
                kind=DriftClass.CHANGED,
                text="password was changed to hunter2",
                path=("password",),
                old="hunter1",
                live="hunter2",
                sensitive=True,
                fingerprint="04",
            ),
            DriftFinding(
                address="job.b", kind=DriftClass.MISSING, text="the driver is dead", fingerprint="05"
            ),
        ),
        addresses=("job.b", "table.a", "table.c", "table.d"),
    )


def test_the_worst_comes_first_and_the_last_line_counts_resources() -> None:
    assert drift_text(without_secrets(report(), {})) == (
        """\
  # job.b is missing
      the driver is dead
        fingerprint 05

  # table.a has changed
      x was changed
      ~ properties.x = "7d" (recorded) -> "5d" (live)
        since 2001-09-09T01:46:40Z by spark 4.1.0, application app-1, user ada; fingerprint 02
      the comment was removed
      - comment = "c" (recorded), gone
        fingerprint 03
      password was changed outside of FlareIaC (its value is sensitive)
      ~ password = (sensitive value) (recorded) -> (sensitive value) (live)
        fingerprint 04

  # table.a holds what is not declared
      column "extra"
        fingerprint 01

Drift: 1 missing, 1 changed, 1 unmanaged; 4 resources checked.
"""
    )


def test_no_drift_says_how_much_was_looked_at() -> None:
    assert drift_text(DriftReport(addresses=("table.a",))) == "No drift. 1 resource checked.\n"


def test_a_finding_as_json_leaves_out_what_is_sensitive_or_unknown() -> None:
    _, changed, _, hidden, _ = without_secrets(report(), {}).findings
    assert finding_json(changed) == {
        "class": "changed",
        "attribute": "properties.x",
        "path": ["properties", "x"],
        "old": "7d",
        "live": "5d",
        "sensitive": False,
        "text": "x was changed",
        "since": "2001-09-09T01:46:40Z",
        "by": {"engine": "spark", "version": "4.1.0", "user": "ada", "application": "app-1"},
        "fingerprint": "02",
    }
    assert "hunter" not in json.dumps(finding_json(hidden))
    unknown = DriftFinding(
        address="a.b", kind=DriftClass.CHANGED, text="", path=("x",), live=UNKNOWN, fingerprint="1"
    )
    assert finding_json(unknown)["live"] is None


def test_what_a_schema_calls_sensitive_is_in_no_form_of_the_report() -> None:
    comment = Attribute(type=STRING, description="c", sensitive=True)
    schemas = {"table": Block(description="t", attributes={"comment": comment})}
    shown = without_secrets(report(), schemas)
    assert '"c" (recorded)' not in drift_text(shown)
    assert "the comment was removed" not in drift_text(shown)


def test_a_fingerprint_follows_the_live_value_and_no_passing_number() -> None:
    def changed(live: str) -> str:
        return fingerprint_of("l", "table.a", DriftClass.CHANGED, ("x",), ("1", live), "")

    def unhealthy(text: str) -> str:
        return fingerprint_of("l", "job.a", DriftClass.UNHEALTHY, (), (), text)

    assert changed("2") == changed("2") != changed("3")
    assert len(changed("2")) == 16
    late, later = "lag is 12.5 min, at most 10 min", "lag is 1,340 min, at most 10 min"
    assert unhealthy(late) == unhealthy(later) != unhealthy("batch took 12.5 min, at most 10 min")
    assert unhealthy("it failed at 2027-01-15T08:00:00Z") == unhealthy("it failed at 2027-01-15T09:10:00Z")
    assert unhealthy("output o1 lags") != unhealthy("output o2 lags")
