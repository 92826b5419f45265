"""The texts of ``show``, ``state show``, ``output`` and ``status``."""

import pytest

from flareiac.kernel.data import Reference
from flareiac.kernel.types import STRING
from flareiac.model.desired import OutputValue
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.render.state_text import outputs_json, outputs_text, record_text, show_json, state_text
from flareiac.render.status_text import status_json, status_text
from flareiac.sdk.run_status import RunStatus
from flareiac.sdk.schema import Attribute, Block
from tests.render.plans import read

RECORD = ResourceRecord(
    address='table.orders["eu"]',
    type="table",
    provider="iceberg",
    attributes={
        "catalog": Reference("catalog.lake"),
        "name": "orders",
        "comment": None,
        "columns": {"id": {"type": "long", "doc": None}},
    },
    identity={"uuid": "1f2e", "schema_id": 0},
    dependencies=("namespace.sales",),
)
OUTPUTS = {"b": OutputValue(value=None, sensitive=True), "a": OutputValue(value={"x": [1, True]})}


def test_a_record_reads_as_hcl_with_the_identity_as_comments() -> None:
    assert record_text(RECORD) == (
        """\
# table.orders["eu"]
table "orders" {
    catalog = catalog.lake
    name    = "orders"
    columns = { id = { type = "long" } }

    # schema_id = 0
    # uuid = "1f2e"
}
"""
    )


def test_the_state_is_all_records_and_the_outputs() -> None:
    snapshot = Snapshot(lineage="l", resources={RECORD.address: RECORD}, outputs=OUTPUTS)
    assert (
        state_text(snapshot)
        == f"{record_text(RECORD)}\nOutputs:\n\na = {{ x = [1, true] }}\nb = (sensitive value)\n"
    )
    assert state_text(Snapshot(lineage="l")) == "The state is empty: nothing was applied yet.\n"


def test_sensitive_attributes_of_the_state_are_hidden() -> None:
    schema = Block(attributes={"name": Attribute(type=STRING, description="", sensitive=True)})
    snapshot = Snapshot(lineage="l", resources={RECORD.address: RECORD})
    assert '"orders"\n' not in state_text(snapshot, schemas={"table": schema})
    document = read(show_json(snapshot, schemas={"table": schema}))
    [resource] = document["values"]["root_module"]["resources"]
    assert (resource["values"]["name"], resource["sensitive_values"]) == ("(sensitive value)", {"name": True})


def test_the_state_as_json_has_terraforms_shape() -> None:
    made = show_json(Snapshot(lineage="l", serial=7, resources={RECORD.address: RECORD}, outputs=OUTPUTS))
    data = read(made)
    assert data == made
    assert (data["format_version"], data["terraform_version"]) == ("1.0", "1.11.4")
    [resource] = data["values"]["root_module"]["resources"]
    assert (resource["address"], resource["index"], resource["values"]["catalog"]) == (
        'table.orders["eu"]',
        "eu",
        "catalog.lake",
    )
    assert data["flareiac"] == {"format_version": "1.0", "lineage": "l", "serial": 7}


def test_outputs_are_shown_alone_or_together() -> None:
    assert outputs_text({"a": OUTPUTS["a"]}, bare=True) == "{ x = [1, true] }\n"
    assert outputs_text({}) == "There are no outputs.\n"
    assert outputs_json(OUTPUTS)["a"] == {
        "sensitive": False,
        "type": ["object", {"x": ["tuple", ["number", "bool"]]}],
        "value": {"x": [1, True]},
    }
    assert outputs_json(OUTPUTS)["b"]["value"] is None


def test_status_counts_records_that_could_not_be_read() -> None:
    rows = {"job.flights": RunStatus(phase="idle", bad_records={"raw": 1200, "other": 0})}
    said = "job.flights: records that could not be read in this run, by input\n    raw: 1,200\n"
    assert status_text(rows, now=0.0).endswith(f"\n\n{said}")
    assert status_json(rows)["jobs"][0]["bad_records"] == {"raw": 1200, "other": 0}  # type: ignore[index, call-overload]


def test_status_is_a_table_with_the_last_errors_below() -> None:
    rows = {
        "job.flights": RunStatus(
            phase="running",
            run_id="0a1b2c3d-0000-4000-8000-000000000000",
            batch=12,
            last_commit=940.0,
            lag="3 files",
            input_rows_per_second=120.04,
            processed_rows_per_second=1000,
            watermark="2013-01-02T00:00:00Z",
        ),
        "job.b": RunStatus(
            phase="failed",
            lag="behind, 2 files",
            failures=3,
            last_error="No such table\n  at line 1\n",
            health=("failed: it gave up", "no batch for 5m"),
        ),
    }
    assert status_text(rows, now=1000.0) == (
        """\
JOB          PHASE    RUN       BATCH              LAG   IN/S   OUT/S  WATERMARK             LAST COMMIT  FAILURES
job.flights  running  0a1b2c3d     12          3 files  120.0  1000.0  2013-01-02T00:00:00Z  1m00s ago           0
job.b        failed   -             -  behind, 2 files      -       -  -                     -                   3

job.b: last error
    No such table
      at line 1

job.b: unhealthy
    no batch for 5m
"""
    )
    data = read(status_json(rows))
    assert data == status_json(rows)
    assert (data["format_version"], [item["address"] for item in data["jobs"]]) == (
        "1.0",
        ["job.flights", "job.b"],
    )
    assert status_text({}, now=0.0) == "No jobs are recorded.\n"


_WATCHED = ("LAG", "WATERMARK", "LAST COMMIT", "FAILURES")


@pytest.mark.parametrize("width", [40, 60, 80, 99])
def test_a_narrow_terminal_has_a_block_for_each_job_and_cuts_nothing(width: int) -> None:
    rows = {
        "job.flights": RunStatus(
            phase="running",
            run_id="0a1b2c3d-0000-4000-8000-000000000000",
            batch=123456,
            last_commit=940.0,
            lag="behind, 312 files",
            input_rows_per_second=120.04,
            processed_rows_per_second=1000,
            watermark="2013-01-02T00:00:00.000Z",
        ),
        "job.b": RunStatus(phase="failed", failures=3, last_error="No such table: " + "very " * 40),
    }
    lines = status_text(rows, now=1000.0, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert [line for line in lines if line in rows] == list(rows)
    text = "\n".join(lines)
    assert all(text.count(title) == 2 for title in _WATCHED)
    assert "LAG behind, 312 files" in text
    assert "WATERMARK 2013-01-02T00:00:00.000Z" in text
    assert "LAST COMMIT 1m00s ago" in text


def test_a_table_that_fits_a_wide_terminal_stays_one() -> None:
    rows = {"job.a": RunStatus(phase="running")}
    assert status_text(rows, now=0.0, width=120) == status_text(rows, now=0.0)
    assert status_text({"job.a" * 30: RunStatus(phase="running")}, now=0.0, width=120).startswith(
        "job.a" * 30 + "\n  PHASE"
    )
